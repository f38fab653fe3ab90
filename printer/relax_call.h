// Calls of Relax: operators with their attributes, packed functions, functions.
#ifndef TVMS_PRINTER_RELAX_CALL_H
#define TVMS_PRINTER_RELAX_CALL_H

#include "printer/state.h"

void tvms_print_relax_call(tvms_printer *p, const tvms_node *node);
bool tvms_print_is_relax_call(const tvms_node *node);

#endif
