// Stages that can be done in front of a contraction.
#ifndef TVMS_PASSES_TIR_CPU_EARLY_STAGES_H
#define TVMS_PASSES_TIR_CPU_EARLY_STAGES_H

#include "ir/node.h"

// The statements with those element-wise stages in front of a sum that stand between it and a stage which needs
// its result, and do not need it themselves; `stmts` itself if there are none. The list lives in the unit's arena.
tvms_list tvms_cpu_early_stages(tvms_unit *unit, tvms_list stmts);

#endif
