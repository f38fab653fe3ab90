// Values of TIR: operators with as few parentheses as Python needs, constants, variables.
#ifndef TVMS_PRINTER_EXPR_H
#define TVMS_PRINTER_EXPR_H

#include "printer/state.h"

// The items with a comma and a blank between them.
void tvms_print_list(tvms_printer *p, tvms_list list);

// Text after '=' of a definition of a variable: T.int32(), T.handle("float32", "global").
void tvms_print_var_creation(tvms_printer *p, const tvms_node *var);

// A variable where it is used. One that nothing has defined is defined by a line in the
// scope that encloses its uses (plan.c).
void tvms_print_var(tvms_printer *p, const tvms_node *var);

// The type of a variable as an annotation: T.int32, T.handle("float32", "global").
void tvms_print_type_of_var(tvms_printer *p, const tvms_node *var);

// Level of an operator that is written with sugar; LEVEL_ATOM for everything else.
print_level tvms_print_level_of(tvms_printer *p, const tvms_node *node);

// `a + b` (or another operator) folded: nodes of p->scratch.
tvms_node *tvms_print_fold(tvms_printer *p, tvms_node_kind kind, tvms_node *a,
                           tvms_node *b);

#endif
