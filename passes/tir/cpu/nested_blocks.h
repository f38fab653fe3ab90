// Blocks around nothing but loops and one other block go, and what is inside has their axes.
//
// Before: block(vi = i): for j, k: block(vj = j, vk = k): C[vi, vj] += ...
// After:  for j, k: block(vi = i, vj = j, vk = k): C[vi, vj] += ...
#ifndef TVMS_PASSES_TIR_CPU_NESTED_BLOCKS_H
#define TVMS_PASSES_TIR_CPU_NESTED_BLOCKS_H

#include "ir/node.h"

// The statement without such blocks; itself if there are none, or if loops are marked: it is a schedule then.
tvms_node *tvms_cpu_join_nested_blocks(tvms_unit *unit, tvms_node *stmt);

#endif
