// What a paged cache of attention knows of its sequences: which tokens stand in which pages.
//
// A sequence is a chain of blocks, the last one of its own; blocks before it may be shared with sequences that were
// forked from it. A block is a list of pages, all full but the last:
//
//   page size 4; sequence 0 has 6 tokens, sequence 1 was forked from it at token 5 and has 7
//
//   block 1 (pages 0)  <-  block 0 (pages 1: tokens 4, 5)           sequence 0
//                      <-  block 2 (pages 2: tokens 4, 5, 6)        sequence 1
//
// The cache is a state of the heap, and all that it knows lies in tensors of bytes, so that it goes when its last user does.
// Nothing here touches keys and values: what has to be copied is given back, and pages are only numbers.
// TVM: src/runtime/vm/paged_kv_cache.cc, attn_utils.h.
#ifndef TVMS_INTERP_PAGED_H
#define TVMS_INTERP_PAGED_H

#include "interp/builtin.h"

enum { TVMS_PAGED_NONE = -1 };

// Pages of a block are a list through `next`.
typedef struct {
  int32_t first_page;
  int32_t last_page;
  int32_t pages;
  int32_t length;  // tokens
  int32_t start;   // position in the sequence of its first token
  int32_t sink;    // tokens at its begin that stay although the window slides
  int32_t offset;  // token where the window begins; 0 if it does not slide
  int32_t parent;  // the block before it; of one that is free, the next free one
  int32_t users;   // sequences that end in it, and blocks behind it
} tvms_paged_block;

typedef struct {
  int64_t id;
  int32_t block;   // the last one
  int32_t length;  // tokens of all its blocks
  int32_t window;  // its size; TVMS_PAGED_NONE: it does not slide
  int32_t sink;    // of the last block
} tvms_paged_sequence;

// What is fixed, and counts.
typedef struct {
  int64_t page_size;
  int64_t total_pages;
  bool slides;
  int32_t free_pages;
  int32_t free_block;  // the first of a list
  uint32_t blocks;     // that there ever were
  uint32_t sequences;
} tvms_paged_head;

// Items of the state; the first is its kind.
enum {
  TVMS_PAGED_HEAD = 1,
  TVMS_PAGED_BLOCKS,
  TVMS_PAGED_SEQUENCES,
  TVMS_PAGED_NEXT,
  TVMS_PAGED_FREE,
  TVMS_PAGED_TENSORS,    // pages per layer, then what is computed in between
  TVMS_PAGED_FUNCTIONS,  // what the cache was made with
  TVMS_PAGED_PLAN,       // of the batch in progress (interp/paged_plan.h)
  TVMS_PAGED_ITEMS,
};

// A cache as one call sees it; pointers hold until it grows.
typedef struct {
  const tvms_builtin *b;
  tvms_items *state;
  tvms_paged_head *head;
  tvms_paged_block *blocks;
  tvms_paged_sequence *sequences;
  int32_t *next;  // by page: the one behind it in its block
  int32_t *free;  // a stack of pages
} tvms_paged;

// Tokens of a page that stand in another one, too.
typedef struct {
  int32_t from;
  int32_t to;
  int32_t length;  // 0: nothing to copy
} tvms_paged_copy;

// Leaves the call with a text as of printf.
TVMS_NORETURN TVMS_PRINTF(2, 3) void tvms_interp_paged_refuse(const tvms_builtin *b,
                                                              const char *format, ...);

// A new cache without sequences, with empty items where the owner puts its own.
void tvms_interp_paged_make(tvms_paged *p, const tvms_builtin *b, int64_t page_size,
                            int64_t total_pages, bool slides);

// The cache that is the first argument; a fault if it is not one.
void tvms_interp_paged_open(tvms_paged *p, const tvms_builtin *b);

// All sequences go.
void tvms_interp_paged_clear(tvms_paged *p);

// A new sequence without tokens; a fault if there is one of this id.
void tvms_interp_paged_add(tvms_paged *p, int64_t id);

// A sequence goes, and its blocks and pages that no other one uses; a fault if it is not there.
void tvms_interp_paged_remove(tvms_paged *p, int64_t id);

// A new sequence with the tokens of another one before a position; TVMS_PAGED_NONE: with all.
tvms_paged_copy tvms_interp_paged_fork(tvms_paged *p, int64_t parent, int64_t child,
                                       int64_t position);

// Takes tokens from the end.
tvms_paged_copy tvms_interp_paged_pop(tvms_paged *p, int64_t id, int64_t count);

// From now on at most `window` tokens are kept, the first `sink` of them for ever.
void tvms_interp_paged_set_window(tvms_paged *p, int64_t id, int64_t window,
                                  int64_t sink);

// The sequence of an id, or a fault; it holds until one is added or removed.
tvms_paged_sequence *tvms_interp_paged_sequence_of(const tvms_paged *p, int64_t id);

// Room for tokens at the end of a sequence whose length counts them already; the window slides.
void tvms_interp_paged_reserve(tvms_paged *p, tvms_paged_sequence *sequence,
                               int64_t count);

// Blocks of a sequence, the first one first, in memory of the call.
int32_t *tvms_interp_paged_trace(const tvms_paged *p,
                                 const tvms_paged_sequence *sequence, uint32_t *count);

// The pages of a block in order, in memory of the call.
int32_t *tvms_interp_paged_pages_of(const tvms_paged *p, const tvms_paged_block *block);

#endif
