// Names of pointers and strides in a release that another one's program is written for.
#ifndef TVMS_PRINTER_HINTS_H
#define TVMS_PRINTER_HINTS_H

#include "printer/state.h"

// The pointer that stands for the pointer of a view where views share theirs, up to 0.25.
// Any other pointer is its own root.
const tvms_node *tvms_print_root(const tvms_printer *p, const tvms_node *data);

// Fills p->hints for a function that another release names differently.
void tvms_print_hint_names(tvms_printer *p, const tvms_node *function);

#endif
