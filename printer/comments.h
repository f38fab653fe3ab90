// Comments of the source beside the statements that they belong to, for programs that are
// written anew. Everything is written once: what belongs to no line that is printed stands
// above the next one of its function, or at the end.
#ifndef TVMS_PRINTER_COMMENTS_H
#define TVMS_PRINTER_COMMENTS_H

#include "printer/state.h"

// Writes those that stand above the line that begins.
void tvms_print_above(tvms_printer *p);

// Writes those that are left inside a function.
void tvms_print_rest_comments(tvms_printer *p, const tvms_node *function);

// Writes, at column 0, what is left up to `anchor`.
void tvms_print_left_comments(tvms_printer *p, uint32_t anchor);

#endif
