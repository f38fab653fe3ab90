// Statements that open a scope: what stands after `with`, or alone in their flat form.
#ifndef TVMS_PRINTER_SCOPE_H
#define TVMS_PRINTER_SCOPE_H

#include "printer/state.h"

print_opening tvms_print_opening(tvms_printer *p, tvms_node *const *stmts,
                                 uint32_t count, bool flat);

// True if a buffer lies over all of what `allocate` (ALLOCATE) allocates, or if the
// statement `next` declares such a buffer.
bool tvms_print_is_all_of(const tvms_node *allocate, const tvms_node *declared);
bool tvms_print_declares_all(const tvms_node *allocate, const tvms_node *next);

#endif
