// Well-formedness of functions of TIR: what TVM refuses after reading.
#ifndef TVMS_STRUCTINFO_WELL_FORMED_TIR_H
#define TVMS_STRUCTINFO_WELL_FORMED_TIR_H

#include "ir/module.h"

// Checks one PRIM_FUNC and reports every finding. `s_tir`: the rules of schedulable
// functions (all functions before 0.25): variables and buffers are defined once and before
// their uses, and loop variables enter blocks through their axes only. Without it: the
// function has no blocks. Returns true if nothing was found.
// (Rules: src/tirx/analysis/verify_well_formed.cc and verify_tirx_well_formed.cc of TVM.)
bool tvms_well_formed_check_prim_func(tvms_unit *unit, tvms_node *function, bool s_tir);

// Checks the functions of TIR in a module, as TVM does after reading it; nothing if the
// program asked for that (check_well_formed=False).
bool tvms_well_formed_check_tir(tvms_module *module);

// A variable as messages name it: one without a name as what makes it, T.int32(). Valid while the context's scratch
// memory is.
const char *tvms_well_formed_name(tvms_context *context, const tvms_node *var);

#endif
