// Calls of TIR: operators under T, functions of the module, pointer types as values.
#ifndef TVMS_PRINTER_CALL_H
#define TVMS_PRINTER_CALL_H

#include "printer/state.h"

// Level of an operator that is written with sugar; LEVEL_ATOM for everything else.
void tvms_print_call(tvms_printer *p, const tvms_node *node, print_level level);
print_level tvms_print_call_level(tvms_printer *p, const tvms_node *node);

// A call that is written with an operator of Python.
bool tvms_print_is_bit_operator(tvms_printer *p, const tvms_node *node);

// The buffer of `A.data` where that is a call (T.buffer_data, since 0.26), or NULL.
const tvms_node *TVMS_NULLABLE tvms_print_buffer_of_data(const tvms_printer *p,
                                                         const tvms_node *node);
void tvms_print_global_var(tvms_printer *p, const tvms_node *node);

#endif
