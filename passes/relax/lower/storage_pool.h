// Storage that can be used again: what is free at a point of a function, and which piece of it a
// tensor gets.
#ifndef TVMS_PASSES_RELAX_LOWER_STORAGE_POOL_H
#define TVMS_PASSES_RELAX_LOWER_STORAGE_POOL_H

#include "arith/analyzer.h"

// A piece of storage, or at first the wish of one tensor for it.
typedef struct tvms_relax_token tvms_relax_token;
struct tvms_relax_token {
  uint32_t uses;  // calls that still need it
  tvms_node *bytes;
  tvms_dtype dtype;  // of the tensor that it was made for
  tvms_bytes scope;
  const tvms_node *block;             // in which its tensor is allocated
  tvms_span span;                     // of that
  bool discarded;                     // the tensor is not planned
  bool allocated;                     // it is storage
  tvms_node *TVMS_NULLABLE variable;  // of the storage, in the function that is made
};

typedef struct {
  tvms_unit *unit;
  tvms_analyzer *analyzer;
  tvms_memory *memory;
  bool shares_unknown;  // symbolic sizes need not be the same
  // By scope and dtype in order of arrival, each by size; symbolic sizes come first.
  TVMS_VEC(tvms_relax_token *) free;
} tvms_relax_pool;

// The number of bytes, or -1 where it is symbolic.
int64_t tvms_relax_token_bytes(const tvms_relax_token *token);

// A free piece that suits a wish, with its uses: one of its size or up to 16 times as large, the
// smallest that will do; else the largest of those down to a 16th, which grows. A symbolic size
// must be proved to be the same; where unknown ones are shared, they are compared as if each symbol were 64, and the piece has
// the larger of both. NULL: there is none, or nothing uses the tensor.
tvms_relax_token *TVMS_NULLABLE tvms_relax_pool_take(tvms_relax_pool *pool,
                                                     const tvms_relax_token *wish);

// Gives a piece back that nothing uses any more.
void tvms_relax_pool_release(tvms_relax_pool *pool, tvms_relax_token *token);

// Forgets what was allocated in `block`, which is out of sight.
void tvms_relax_pool_drop_block(tvms_relax_pool *pool, const tvms_node *block);

#endif
