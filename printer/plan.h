// Where a variable that nothing defines is defined: in the innermost scope that holds all
// of its uses, which is TVM's rule.
#ifndef TVMS_PRINTER_PLAN_H
#define TVMS_PRINTER_PLAN_H

#include "printer/state.h"

// The frame in which TVM would define `object`, or UINT32_MAX.
uint32_t tvms_print_lowest_frame(tvms_printer *p, const tvms_node *object);

// True if `stmt` encloses all uses of `object`.
bool tvms_print_encloses(tvms_printer *p, const tvms_node *stmt,
                         const tvms_node *object);

// The buffer that is just what a classic allocation allocates, the first one if there are
// several; NULL: none, or a statement declares it.
const tvms_node *TVMS_NULLABLE tvms_print_buffer_over_all(tvms_printer *p,
                                                          const tvms_node *allocate);

// Forgets what plan.c has found out about the function: another one begins.
void tvms_print_forget_scopes(tvms_printer *p);

// The variables in an expression, each occurrence once; false from `see` ends the walk.
bool tvms_print_each_var(tvms_printer *p, const tvms_node *node,
                         bool (*see)(void *self, const tvms_node *var), void *self);

// Does any variable stand in the expression?
bool tvms_print_has_var(tvms_printer *p, const tvms_node *node);

// Does a variable that is written as TypeVar stand in the expression?
bool tvms_print_mentions_type_var(tvms_printer *p, const tvms_node *node);

#endif
