// Literals, lines and late text.
#ifndef TVMS_PRINTER_TEXT_H
#define TVMS_PRINTER_TEXT_H

#include "printer/state.h"

// "T." and a name; the prefix is used from now on.
void tvms_print_t(tvms_printer *p, const char *name);

// "R." and a name; the prefix is used from now on.
void tvms_print_r(tvms_printer *p, const char *name);

// "I." and a name; the prefix is used from now on.
void tvms_print_i(tvms_printer *p, const char *name);

// A number as TVM writes it: 1.0, up to 17 digits, "nan" and "inf" as texts.
void tvms_print_float(tvms_printer *p, double value);

// A string literal with the escapes of TVM.
void tvms_print_quoted(tvms_printer *p, const char *text, size_t len);

// float32x4.
void tvms_print_dtype(tvms_printer *p, tvms_dtype dtype);

// "float32x4".
void tvms_print_quoted_dtype(tvms_printer *p, tvms_dtype dtype);

// Turns everything written since `from` into a string literal.
void tvms_print_quote_since(tvms_printer *p, size_t from);

// Puts the text that was written since `from` at `to` (to <= from).
void tvms_print_move(tvms_printer *p, size_t to, size_t from);

// Begins a line of a statement: writes an empty line that is due, notes the place for
// what is added in front, indents.
void tvms_print_begin(tvms_printer *p);

// Begins a line that is added to frame number `frame`, in front of its current
// statement: what is written up to tvms_print_end_line is its text. Such lines nest.
// `line` is storage of the caller.
void tvms_print_begin_line(tvms_printer *p, print_added *line, uint32_t frame);

// Ends that line, and output goes where it went before.
void tvms_print_end_line(tvms_printer *p, print_added *line);

// Adds raw text at an offset of the main text.
void tvms_print_add_at(tvms_printer *p, size_t at, const char *text, size_t len);

// Gives late texts from number `first` on that wait for a body their place: here.
void tvms_print_settle(tvms_printer *p, uint32_t first);

// Reports that the dialect cannot say something.
void tvms_print_cannot(tvms_printer *p, const tvms_node *TVMS_NULLABLE node,
                       const char *what);

// Reports that `node` lies too deep to be written; the text has failed.
void tvms_print_too_deep(tvms_printer *p, const tvms_node *node);

#endif
