// Statements that open a scope: what stands after `with`, or alone in their flat form.
#ifndef TVMS_PRINTER_SCOPE_H
#define TVMS_PRINTER_SCOPE_H

#include "printer/state.h"

// Writes what stands behind `with`, or to the right of '=' if `flat`, for the statement
// that begins a list of `count`; later ones that are part of it are taken too.
print_opening tvms_print_opening(tvms_printer *p, tvms_node *const *stmts,
                                 uint32_t count, bool flat);

// Does a buffer lie over all of what `allocate` (ALLOCATE) allocates?
bool tvms_print_is_all_of(const tvms_node *allocate, const tvms_node *declared);

// Is `next` the declaration of such a buffer?
bool tvms_print_declares_all(const tvms_node *allocate, const tvms_node *next);

#endif
