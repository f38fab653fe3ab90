// Literals, lines and late text.
#ifndef TVMS_PRINTER_TEXT_H
#define TVMS_PRINTER_TEXT_H

#include "printer/state.h"

// "T." + name and so on; marks the prefix as used.
void tvms_print_t(tvms_printer *p, const char *name);
void tvms_print_r(tvms_printer *p, const char *name);
void tvms_print_i(tvms_printer *p, const char *name);
void tvms_print_float(tvms_printer *p, double value);
void tvms_print_quoted(tvms_printer *p, const char *text, size_t len);
void tvms_print_dtype(tvms_printer *p, tvms_dtype dtype);

void tvms_print_quoted_dtype(tvms_printer *p, tvms_dtype dtype);

// Turns everything written since `from` into a string literal.
void tvms_print_quote_since(tvms_printer *p, size_t from);

// Puts the text that was written since `from` at `to` (to <= from).
void tvms_print_move(tvms_printer *p, size_t to, size_t from);

// Lines. begin flushes a due empty line, notes the place for definitions, indents.
void tvms_print_begin(tvms_printer *p);

void tvms_print_begin_line(tvms_printer *p, print_added *line, uint32_t frame);
void tvms_print_end_line(tvms_printer *p, print_added *line);

// Adds raw text at an offset of the main text.
void tvms_print_add_at(tvms_printer *p, size_t at, const char *text, size_t len);

// Gives late texts from number `first` on that wait for a body their place: here.
void tvms_print_settle(tvms_printer *p, uint32_t first);

// Reports that the dialect cannot say something.
void tvms_print_cannot(tvms_printer *p, const tvms_node *TVMS_NULLABLE node,
                       const char *what);

void tvms_print_too_deep(tvms_printer *p, const tvms_node *node);

#endif
