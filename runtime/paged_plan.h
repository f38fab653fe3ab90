// A batch of a paged cache: which sequences get how many tokens, and the arrays of that which kernels read.
#ifndef TVMS_RUNTIME_PAGED_PLAN_H
#define TVMS_RUNTIME_PAGED_PLAN_H

#include "runtime/paged.h"

// Begins a batch: sequences get room for so many tokens each. Leaves the call if one is not there, or there is no room.
// TVM: src/runtime/vm/paged_kv_cache.cc, BeginForward.
void tvms_paged_begin(tvms_paged *p, tvms_paged_shape ids, tvms_paged_shape lengths);

#endif
