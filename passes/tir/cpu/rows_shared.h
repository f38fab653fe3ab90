// Long sums of several rows that share what a line loads.
#ifndef TVMS_PASSES_TIR_CPU_ROWS_SHARED_H
#define TVMS_PASSES_TIR_CPU_ROWS_SHARED_H

#include "passes/tir/cpu/rows_plan.h"

// Where a pass has long sums, and an axis around its line along which what the line loads stays the
// same, that axis comes next to the line, for all members of the pass, and several of its steps are
// done together: each vector that is loaded serves all of them.
//
//   for i, j: C[i, j] = sum over k of A[i, k] * B[k, j]     with an unknown number of j
//
// `pass` has been planned; its vectors and its tile may change.
void tvms_line_plan_shared(tvms_unit *unit, tvms_line_group *g, uint32_t pass,
                           const tvms_target *target, tvms_line_pass_plan *plan);

#endif
