// Loops around several statements become loops around each of them.
//
// Before: for i, j: s[0] = 0; for k: s[0] += A[i, k] * B[k, j]; C[i, j] = s[0]
// After:  for i, j: t[i, j] = 0      for i, j, k: t[i, j] += A[i, k] * B[k, j]      for i, j: C[i, j] = t[i, j]
#ifndef TVMS_PASSES_TIR_CPU_DISTRIBUTE_H
#define TVMS_PASSES_TIR_CPU_DISTRIBUTE_H

#include "ir/node_map.h"

// What surrounds the statements of a body, and what becomes of its buffers.
typedef struct {
  tvms_unit *unit;
  bool reorders;         // sums of floats may be rounded otherwise
  tvms_list allocated;   // by the block around; gets those that are made
  tvms_node_vec *added;  // gets the buffers that are made
  tvms_node_map *gone;   // gets those that nothing uses any more
} tvms_distribution;

// The statements with each nest of plain loops around several stores or simple blocks in so many nests, if that changes
// no result and all of them can be scheduled then; `stmts` itself if there is none. Where an element is overwritten in each
// step of the loops, as a sum is in a buffer of one element, the buffer gets those loops as dimensions.
// Every element is computed by the same operations in the same order. Buffers with different memory are taken to be apart.
tvms_list tvms_cpu_distribute_loops(tvms_distribution *d, tvms_list stmts);

#endif
