// Which Relax functions of a module may write over what they are given: functions with a call in place,
// of a packed function that is not said to be pure, of a PrimFunc or of a function that is a value, and those
// that call one of these.
//
// All functions are looked at together and once in a pass, so modules whose functions call each other in chains take time in
// proportion to their size.
#ifndef TVMS_PASSES_RELAX_ANALYSIS_WRITERS_H
#define TVMS_PASSES_RELAX_ANALYSIS_WRITERS_H

#include "passes/manager.h"

// Is it a call_tir_inplace or a call_inplace_packed?
bool tvms_relax_is_inplace(const tvms_node *call);

// May a CALL write, itself or in functions that it calls? What the pass has changed or added since it first
// asked counts as it was then, and as what writes.
bool tvms_relax_writes(tvms_pass_run *run, const tvms_node *call);

#endif
