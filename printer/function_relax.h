// Functions of Relax: signature, symbolic variables, bindings, dataflow, branches.
#ifndef TVMS_PRINTER_FUNCTION_RELAX_H
#define TVMS_PRINTER_FUNCTION_RELAX_H

#include "printer/state.h"

void tvms_print_binding(tvms_printer *p, const tvms_node *binding);

void tvms_print_relax_function(tvms_printer *p, const tvms_node *function,
                               tvms_sym name, size_t head, bool top);

#endif
