// PrimFuncs: decorator, signature, attributes, buffers of parameters, root block, body.
#ifndef TVMS_PRINTER_FUNCTION_TIR_H
#define TVMS_PRINTER_FUNCTION_TIR_H

#include "printer/state.h"

// A PrimFunc with its decorator. `head`: offset at which the lines of its TypeVars
// belong.
void tvms_print_prim_func(tvms_printer *p, const tvms_node *function, tvms_sym name,
                          size_t head);

// T.func_attr or R.func_attr without what the name of the function says.
void tvms_print_func_attrs(tvms_printer *p, const tvms_node *TVMS_NULLABLE attrs,
                           const char *name, bool relax, bool show_symbol);

#endif
