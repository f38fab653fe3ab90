// Where shared buffers of a kernel lie in one allocation.
#ifndef TVMS_PASSES_TIR_MEMORY_MERGE_PLAN_H
#define TVMS_PASSES_TIR_MEMORY_MERGE_PLAN_H

#include "passes/tir/analysis/linear_access.h"

typedef struct {
  tvms_node **offsets;  // in bytes, by number of allocation; NULL: not planned
  tvms_node *size;      // of all, in bytes
} tvms_merge_plan;

// Lays out the allocations whose flag in `merged` is set: those that do not live at the same time
// share bytes, each begins at a multiple of its alignment. The result lives in the unit. TVM:
// SharedMemoryRewriter::PlanMemory and ComputeOffsets.
tvms_merge_plan tvms_merge_plan_make(tvms_unit *unit, const tvms_linear_access *access,
                                     const bool *merged);

#endif
