// How a paged cache was made: sizes, functions, and tensors that belong to it.
#ifndef TVMS_INTERP_ATTENTION_H
#define TVMS_INTERP_ATTENTION_H

#include "interp/paged_plan.h"

// Arguments of vm.builtin.paged_attention_kv_cache_create; all are kept in TVMS_PAGED_FUNCTIONS.
enum {
  TVMS_MADE_SIZES,  // shape: sequences, tokens, tokens of a batch, page size, whether windows slide[, window of layers]
  TVMS_MADE_LAYERS,  // shape: the first layer, and the one behind the last
  TVMS_MADE_QUERY_HEADS,
  TVMS_MADE_KEY_HEADS,
  TVMS_MADE_KEY_SIZE,
  TVMS_MADE_VALUE_SIZE,
  TVMS_MADE_KINDS,  // shape: by layer
  TVMS_MADE_TRANSFERS,
  TVMS_MADE_ROTARY_MODE,
  TVMS_MADE_ROTARY_SCALE,
  TVMS_MADE_ROTARY_THETA,
  TVMS_MADE_ROTARY_FACTORS,  // a tensor, or a number: none
  TVMS_MADE_TYPE,            // a tensor of the element type
  TVMS_MADE_APPEND,
  TVMS_MADE_APPEND_LATENT,
  TVMS_MADE_PREFILL_RAGGED,  // from here on tuples: ("tirx", function), or nothing
  TVMS_MADE_PREFILL,
  TVMS_MADE_DECODE,
  TVMS_MADE_PREFILL_SLIDING,
  TVMS_MADE_DECODE_SLIDING,
  TVMS_MADE_PREFILL_TREE_PAGED,
  TVMS_MADE_PREFILL_TREE,
  TVMS_MADE_PREFILL_LATENT,
  TVMS_MADE_MERGE,  // a tuple of functions
  TVMS_MADE_SPLIT,  // queries, keys and values apart, with rotary positions
  TVMS_MADE_COPY_PAGE,
  TVMS_MADE_DEBUG,  // keys and values out of pages
  TVMS_MADE_COMPACT,
  TVMS_MADE_ARGUMENTS,
};

// Where rotary positions are applied.
enum { TVMS_ROTARY_NONE, TVMS_ROTARY_APART, TVMS_ROTARY_INLINE };

// Tensors of a cache, in TVMS_PAGED_TENSORS: room for a batch, then the pages of each layer.
enum {
  TVMS_ROOM_QUERIES,
  TVMS_ROOM_KEYS,
  TVMS_ROOM_VALUES,
  TVMS_ROOM_OUTPUT,    // of one round
  TVMS_ROOM_SUMS,      // logarithms of sums of a round
  TVMS_ROOM_ALL_SUMS,  // of all rounds
  TVMS_ROOM_PAGES,
};

// An argument of the cache's creation.
static inline tvms_value tvms_interp_attention_made(const tvms_paged *p, uint32_t i) {
  return p->state->items[TVMS_PAGED_FUNCTIONS].tuple->items[i];
}

static inline int64_t tvms_interp_attention_size(const tvms_paged *p, uint32_t i) {
  return tvms_interp_attention_made(p, i).i;
}

// Most tokens of a batch.
static inline int64_t tvms_interp_attention_most(const tvms_paged *p) {
  return tvms_interp_attention_made(p, TVMS_MADE_SIZES).tensor->shape[2];
}

// Layers that the cache has.
static inline uint32_t tvms_interp_attention_layers(const tvms_paged *p) {
  return p->state->items[TVMS_PAGED_TENSORS].tuple->len - TVMS_ROOM_PAGES;
}

// Pages of a layer of the cache, counted from 0, borrowed.
static inline tvms_value tvms_interp_attention_pages(const tvms_paged *p,
                                                     uint32_t layer) {
  return p->state->items[TVMS_PAGED_TENSORS].tuple->items[TVMS_ROOM_PAGES + layer];
}

// Calls a function that the cache was made with; `callee` as it was given.
static inline void tvms_interp_attention_call(const tvms_paged *p, tvms_value callee,
                                              const tvms_value *args, uint32_t count) {
  tvms_value_drop(tvms_interp_invoke(p->b->frame, callee, args, count, p->b->span));
}

#endif
