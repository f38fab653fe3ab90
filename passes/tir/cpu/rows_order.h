// In which order rows and the elements of their lines are gone through.
#ifndef TVMS_PASSES_TIR_CPU_ROWS_ORDER_H
#define TVMS_PASSES_TIR_CPU_ROWS_ORDER_H

#include "passes/tir/cpu/rows_plan.h"

// Says in `plan`, which is complete otherwise, which passes go from the end of their line to its begin,
// and how many rows take turns: all of them are through a pass before the first one begins the next.
void tvms_line_plan_order(const tvms_chain *chain, const tvms_line_group *group,
                          const tvms_target *target, tvms_line_plan *plan);

#endif
