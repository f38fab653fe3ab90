// A batch of a paged cache: which sequences get how many tokens, and the arrays of that which kernels read.
#ifndef TVMS_RUNTIME_PAGED_PLAN_H
#define TVMS_RUNTIME_PAGED_PLAN_H

#include "runtime/paged.h"

// Begins a batch: sequences get room for so many tokens each, which are nodes of trees if there are `parents`
// (paged_tree.h). Leaves the call if one is not there, or there is no room.
// TVM: src/runtime/vm/paged_kv_cache.cc, BeginForward. Attention by ranges is TVM's for trees that are no chains; here
// also for chains of several tokens that are in the pages first, where TVM lets each see those behind it.
void tvms_paged_begin(tvms_paged *p, tvms_paged_shape ids, tvms_paged_shape lengths,
                      const tvms_paged_shape *TVMS_NULLABLE parents);

#endif
