// Which neighbouring axes make one line.
#ifndef TVMS_PASSES_TIR_CPU_ROWS_FUSED_H
#define TVMS_PASSES_TIR_CPU_ROWS_FUSED_H

#include "passes/tir/cpu/rows_plan.h"

// As many of the axes of a pass, from the last one on, as every access of its members can take for one: at least 1.
uint32_t tvms_line_fused_axes(tvms_unit *unit, const tvms_line_group *g,
                              const tvms_line_plan *p, uint32_t pass);

// Does an expression load at a place that is loaded itself?
bool tvms_line_gathers(tvms_unit *unit, tvms_node *expr);

#endif
