// Calls of TIR: operators under T, functions of the module, pointer types as values.
#ifndef TVMS_PRINTER_CALL_H
#define TVMS_PRINTER_CALL_H

#include "printer/state.h"

// A call: an operator of Python, the spelling under T, T.Call, a function of the
// module. Calls of Relax go to tvms_print_relax_call.
void tvms_print_call(tvms_printer *p, const tvms_node *node, print_level level);

// How binding the text of a call is: LEVEL_ATOM unless it is written with an operator.
print_level tvms_print_call_level(tvms_printer *p, const tvms_node *node);

// Is it a call of &, |, ^ or ~ that has no name in the release?
bool tvms_print_is_bit_operator(tvms_printer *p, const tvms_node *node);

// The buffer of `A.data` where that is a call (T.buffer_data, since 0.26), or NULL.
const tvms_node *TVMS_NULLABLE tvms_print_buffer_of_data(const tvms_printer *p,
                                                         const tvms_node *node);

// A function of the module: cls.f in Relax, Module.f in TIR, f where no module is
// written.
void tvms_print_global_var(tvms_printer *p, const tvms_node *node);

#endif
