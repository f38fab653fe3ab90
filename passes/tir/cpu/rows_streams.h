// Rows that no cache holds, several of them at a time.
#ifndef TVMS_PASSES_TIR_CPU_ROWS_STREAMS_H
#define TVMS_PASSES_TIR_CPU_ROWS_STREAMS_H

#include "passes/tir/cpu/rows_plan.h"

// Where a group only folds rows that come from memory, says in `plan`, which is complete otherwise, how
// many of them are folded together, and how much of each at a time. Results are apart from what is
// loaded, and sums may be taken in any order.
void tvms_line_plan_streams(tvms_unit *unit, const tvms_line_group *group,
                            const tvms_target *target, tvms_line_plan *plan);

#endif
