// Calls of Relax: operators with their attributes, packed functions, functions.
#ifndef TVMS_PRINTER_RELAX_CALL_H
#define TVMS_PRINTER_RELAX_CALL_H

#include "printer/state.h"

// A call that Relax makes: an operator with its attributes, a packed function, a
// function or a value.
void tvms_print_relax_call(tvms_printer *p, const tvms_node *node);

// Is the CALL one of Relax? It is not if it calls an operator of TIR or, with a type of
// TIR, a function of the module.
bool tvms_print_is_relax_call(const tvms_node *node);

#endif
