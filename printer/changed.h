// Calls of instructions whose arguments changed with 0.27 (ir/device/changed.def): matched
// against the pattern of the one release and written by that of the other.
#ifndef TVMS_PRINTER_CHANGED_H
#define TVMS_PRINTER_CHANGED_H

#include "printer/state.h"

// Writes a call of an instruction that the release that is written has with other
// arguments. False: it is none of them, nothing was written.
bool tvms_print_changed(tvms_printer *p, const tvms_node *node, tvms_tir_opcode opcode);

#endif
