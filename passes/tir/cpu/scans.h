// Parallel loops whose steps go through memory side by side, in lanes.
#ifndef TVMS_PASSES_TIR_CPU_SCANS_H
#define TVMS_PASSES_TIR_CPU_SCANS_H

#include "ir/node.h"
#include "ir/target.h"

// `body` with such loops done a vector of steps at a time; `body` itself if it has none.
tvms_node *tvms_cpu_scans_in_lanes(tvms_unit *unit, const tvms_target *target,
                                   tvms_node *body);

#endif
