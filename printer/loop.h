// Loops: range and its relatives, nests of loops as T.grid.
#ifndef TVMS_PRINTER_LOOP_H
#define TVMS_PRINTER_LOOP_H

#include "printer/state.h"

// A line that binds the data of a DECL_BUFFER, where its source is not a pointer that up to
// 0.25 could stand after `data=`.
void tvms_print_for(tvms_printer *p, const tvms_node *stmt);

#endif
