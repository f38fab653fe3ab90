// Loops: range and its relatives, nests of loops as T.grid.
#ifndef TVMS_PRINTER_LOOP_H
#define TVMS_PRINTER_LOOP_H

#include "printer/state.h"

// A loop; loops that only hold another one, and could be said so, as T.grid.
void tvms_print_for(tvms_printer *p, const tvms_node *stmt);

#endif
