// Functions of Relax: signature, symbolic variables, bindings, dataflow, branches.
#ifndef TVMS_PRINTER_FUNCTION_RELAX_H
#define TVMS_PRINTER_FUNCTION_RELAX_H

#include "printer/state.h"

// A binding of Relax, or a match_cast, with its line.
void tvms_print_binding(tvms_printer *p, const tvms_node *binding);

// A function of Relax with its decorator. `head`: offset at which the lines of its
// TypeVars belong. `top`: a member of the module; others are local functions.
void tvms_print_relax_function(tvms_printer *p, const tvms_node *function,
                               tvms_sym name, size_t head, bool top);

#endif
