// A batch of a paged cache: which sequences get how many tokens, and the arrays of that which kernels read.
//
// Attention looks at blocks in two rounds ("depths"): the first blocks of all sequences, then what is behind them.
// TVM: src/runtime/vm/paged_kv_cache.cc, BeginForward.
#ifndef TVMS_INTERP_PAGED_PLAN_H
#define TVMS_INTERP_PAGED_PLAN_H

#include "interp/paged.h"

enum { TVMS_PAGED_DEPTHS = 2 };

// Numbers of a batch.
typedef struct {
  int64_t tokens;
  uint32_t depths;
  bool
      appends_first;  // keys and values are in the pages before attention looks at them
  bool decodes[TVMS_PAGED_DEPTHS];  // one token per sequence: kernels for decoding
  bool empty[TVMS_PAGED_DEPTHS];    // there are no pages
} tvms_paged_batch;

// Arrays of a batch, of int32, and its numbers: items of the tuple that is TVMS_PAGED_PLAN.
enum {
  TVMS_PLAN_BATCH,             // bytes: a tvms_paged_batch
  TVMS_PLAN_TOKENS,            // by sequence: where its tokens begin in the batch
  TVMS_PLAN_KEY_BEGINS,        // by sequence: position of its first new token
  TVMS_PLAN_QUERY_POSITIONS,   // by token: position in its sequence
  TVMS_PLAN_APPEND_POSITIONS,  // by token: its place in the pages, or -1
  TVMS_PLAN_DEPTHS,            // from here on TVMS_DEPTH_ITEMS per depth
};

enum {
  TVMS_DEPTH_QUERIES,      // by chunk: where its tokens begin in the batch
  TVMS_DEPTH_PAGE_BEGINS,  // by chunk: where its pages begin in the list
  TVMS_DEPTH_PAGES,        // pages
  TVMS_DEPTH_LENGTHS,  // by chunk: tokens of its last page; in caches that slide also where windows begin, and sinks
  TVMS_DEPTH_KEY_BEGINS,  // by chunk: position of its first token
  TVMS_DEPTH_ITEMS,
};

// Begins a batch: sequences get room for so many tokens each. `most` is how many there may be.
void tvms_interp_paged_begin(tvms_paged *p, const tvms_tensor *ids,
                             const tvms_tensor *lengths, int64_t most);

#endif
