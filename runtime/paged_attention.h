// Attention with a paged cache whose batch is in progress. Tensors are arguments of the call, by number; what does not
// fit leaves the call. TVM: src/runtime/vm/paged_kv_cache.cc.
#ifndef TVMS_RUNTIME_PAGED_ATTENTION_H
#define TVMS_RUNTIME_PAGED_ATTENTION_H

#include "runtime/paged.h"

// Queries, keys and values (argument 3 of the call) are split, looked at and appended; output: argument 4.
void tvms_paged_attend_fused(tvms_paged *p, int64_t layer, double scale);

// Queries, keys and values (3 to 5) of the batch itself; output and logarithms of sums: 6 and 7.
void tvms_paged_attend_self(tvms_paged *p, int64_t layer, double scale);

// Queries (3) and the pages; output and logarithms of sums: 4 and 5.
void tvms_paged_attend_cross(tvms_paged *p, int64_t layer, double scale);

// Queries (3) and what a layer has in its pages, with its keys and values (4 and 5) of the batch where these are not
// there yet; nothing is appended. Output: 6.
void tvms_paged_attend_shared(tvms_paged *p, int64_t layer, double scale);

// Puts what a layer of latent attention keeps of the batch (argument 2) into its pages.
void tvms_paged_append_latent(tvms_paged *p, int64_t layer);

// Merges output and logarithms of sums (3 and 4) into others (1 and 2), by the second function for that.
void tvms_paged_merge(tvms_paged *p);

// Puts keys and values of the tokens of a sequence in [begin, end) into arguments 4 and 5.
void tvms_paged_debug(tvms_paged *p, int64_t id, int64_t begin, int64_t end);

// The same of layers of latent attention, into argument 4.
void tvms_paged_debug_latent(tvms_paged *p, int64_t id, int64_t begin, int64_t end);

#endif
