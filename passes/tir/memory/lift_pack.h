// Placing the tensors of a workspace anew, for the least memory.
#ifndef TVMS_PASSES_TIR_MEMORY_LIFT_PACK_H
#define TVMS_PASSES_TIR_MEMORY_LIFT_PACK_H

#include "ir/node_map.h"
#include "support/vec.h"

// Memory that a call needs beside its arguments.
typedef struct {
  tvms_node *call;
  int64_t bytes, begin;  // -1: where it lies is not decided
} tvms_lift_need;

typedef TVMS_VEC(tvms_lift_need) tvms_lift_needs;

// A function whose last parameter is a workspace with its tensors at other places, if it and what calls need
// beside them take less memory then; else the function itself. If more than one thread has a share of each tensor, they may
// take as much as before. It is left alone where anything of the workspace is not known (lift_gaps.h).
tvms_node *tvms_lift_pack(tvms_unit *unit, tvms_node *function, tvms_lift_needs *needs,
                          uint32_t shares);

#endif
