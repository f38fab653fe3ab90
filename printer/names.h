// Unique names, as TVM gives them: the hint, or the hint with the first free number.
#ifndef TVMS_PRINTER_NAMES_H
#define TVMS_PRINTER_NAMES_H

#include "printer/state.h"

// Gives a variable or buffer a unique name that dies with frame number `frame`; an object
// that has a name keeps it. Returns the name.
tvms_sym tvms_print_define(tvms_printer *p, const tvms_node *object, uint32_t frame);

// Says that `var` is written as a part of `owner` as long as the frame lives.
void tvms_print_define_part(tvms_printer *p, const tvms_node *var, uint32_t frame,
                            print_naming how, const tvms_node *owner, uint32_t index);

// Takes a name for good: nothing is called so.
void tvms_print_reserve(tvms_printer *p, const char *name);

// What is known about a symbol; the pointer dies when another one is asked for.
print_symbol *tvms_print_symbol(tvms_printer *p, tvms_sym sym);

// Opens a frame, the last of p->frames, and returns its number. Its lines are indented
// as now, and what is added to it goes here. `node`: TVM's object of the frame, for
// plan.c; NULL: none.
uint32_t tvms_print_push(tvms_printer *p, print_frame_kind kind,
                         const tvms_node *TVMS_NULLABLE node);

// Closes the last frame: the names that it gave are free again.
void tvms_print_pop(tvms_printer *p);

// The name that an object is to have if it is free.
tvms_sym tvms_print_hint(tvms_printer *p, const tvms_node *object);

#endif
