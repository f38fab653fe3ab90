// Sums that load their result's buffer elsewhere, as steps that are made of the step before do.
//
// Before: H[t + 1, j] = H[t + 1, j] + H[t, k] * U[k, j]
// After:  own[j] = own[j] + H[t, k] * U[k, j]; H[t + 1, j] = own[j]
#ifndef TVMS_PASSES_TIR_CPU_OWN_SUMS_H
#define TVMS_PASSES_TIR_CPU_OWN_SUMS_H

#include "passes/tir/cpu/stage.h"

// Does a reduction load what it stores to, and only what none of its steps stores?
bool tvms_cpu_loads_elsewhere(tvms_unit *unit, const tvms_stage *stage);

// Gives such a reduction, which begins with something, a buffer of its own. False: it is something else.
bool tvms_cpu_own_sum(tvms_unit *unit, const tvms_stage *stage, tvms_replacement *made);

#endif
