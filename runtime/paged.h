// What a paged cache of attention knows of its sequences, and how attention looks at it.
//
// A sequence is a chain of blocks, the last one of its own; blocks before it may be shared with sequences that were
// forked from it. A block is a list of pages, all full but the last:
//
//   page size 4; sequence 0 has 6 tokens, sequence 1 was forked from it at token 5 and has 7
//
//   block 1 (pages 0)  <-  block 0 (pages 1: tokens 4, 5)           sequence 0
//                      <-  block 2 (pages 2: tokens 4, 5, 6)        sequence 1
//
// Whoever has a cache (interp/builtin_paged.c, runtime/box_paged.c) owns its memory, which is areas that grow, and
// calls the functions that it was made with. Keys and values are only touched by these; pages are numbers here.
// What is refused leaves the call: nothing behind it runs.
// TVM: src/runtime/vm/paged_kv_cache.cc, attn_utils.h, attn_backend.h.
#ifndef TVMS_RUNTIME_PAGED_H
#define TVMS_RUNTIME_PAGED_H

#include "runtime/abi.h"

enum { TVMS_PAGED_NONE = -1 };

// Attention looks at blocks in two rounds: the first blocks of all sequences, then what is behind them.
enum { TVMS_PAGED_DEPTHS = 2 };

// ---- How a cache is made ----

// Arguments of vm.builtin.paged_attention_kv_cache_create.
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
  // Kept besides: the second function of TVMS_MADE_MERGE, which merges results of latent attention.
  TVMS_MADE_MERGE_LATENT = TVMS_MADE_ARGUMENTS,
  TVMS_MADE_KEPT,
};

// What a layer keeps of a token.
enum {
  TVMS_LAYER_HEADS,   // keys and values of each head
  TVMS_LAYER_LATENT,  // one vector, of which keys and values of all heads are made
  TVMS_LAYER_WINDOW =
      3,  // keys and values of each head, of which attention looks at the last ones
};

// Tokens that such layers look at, if a cache does not say how many.
enum { TVMS_LAYER_WINDOW_SIZE = 1024 };

// Where rotary positions are applied.
enum { TVMS_ROTARY_NONE, TVMS_ROTARY_APART, TVMS_ROTARY_INLINE };

// What an argument is that may be a function.
enum {
  TVMS_PAGED_NO_FUNCTION,
  TVMS_PAGED_FUNCTION,       // a function, or a pair of "tirx" and one
  TVMS_PAGED_OTHER_FUNCTION  // a pair of something else
};

// Numbers of an argument that is a shape, borrowed for the call.
typedef struct {
  const int64_t *TVMS_NULLABLE sizes;
  int64_t count;
} tvms_paged_shape;

// The arguments, as far as they are numbers.
typedef struct {
  tvms_paged_shape sizes;
  tvms_paged_shape layers;
  tvms_paged_shape kinds;
  int64_t query_heads;
  int64_t key_heads;
  int64_t key_size;
  int64_t value_size;
  int64_t rotary_mode;
  double rotary_scale;
  double rotary_theta;
  bool rotary_factors;  // a tensor of them is given
  bool transfers;
  tvms_dl_type type;
  uint8_t functions[TVMS_MADE_KEPT];
} tvms_paged_made;

// ---- Memory ----

// Arrays of a batch, of int32.
enum {
  TVMS_PLAN_TOKENS,            // by sequence: where its tokens begin in the batch
  TVMS_PLAN_KEY_BEGINS,        // by sequence: position of its first new token
  TVMS_PLAN_QUERY_POSITIONS,   // by token: position in its sequence
  TVMS_PLAN_APPEND_POSITIONS,  // by token: its place in the pages, or -1
  TVMS_PLAN_DEBUG_POSITIONS,   // by token that is asked for: its place in the pages
  TVMS_PLAN_TREES,             // by sequence: where its tree begins among the nodes
  TVMS_PLAN_RANGES,            // by node: which nodes see it (paged_tree.h)
  TVMS_PLAN_COPY_BEGINS,       // by sequence: where its copies begin
  TVMS_PLAN_COPY_PLACES,  // by copy: the place in the pages that it is from, then the one that it goes to
  TVMS_PLAN_DEPTHS,  // from here on TVMS_DEPTH_ITEMS per depth
};

enum {
  TVMS_DEPTH_QUERIES,      // by chunk: where its tokens begin in the batch
  TVMS_DEPTH_PAGE_BEGINS,  // by chunk: where its pages begin in the list
  TVMS_DEPTH_PAGES,        // pages
  TVMS_DEPTH_LENGTHS,  // by chunk: tokens of its last page; in caches that slide also where windows begin, and sinks
  TVMS_DEPTH_KEY_BEGINS,  // by chunk: position of its first token
  TVMS_DEPTH_TREES,       // by chunk: where its tree begins among the nodes
  TVMS_DEPTH_RANGES,      // by node: which nodes see it
  // What layers with windows look at: so far behind the same of others, PAGE_BEGINS to KEY_BEGINS.
  TVMS_DEPTH_WINDOWS,
  TVMS_DEPTH_ITEMS = TVMS_DEPTH_WINDOWS + TVMS_DEPTH_KEY_BEGINS + 1,
};

enum { TVMS_PLAN_ITEMS = TVMS_PLAN_DEPTHS + TVMS_PAGED_DEPTHS * TVMS_DEPTH_ITEMS };

// Areas of memory.
enum {
  TVMS_PAGED_HEAD,
  TVMS_PAGED_BLOCKS,
  TVMS_PAGED_SEQUENCES,
  TVMS_PAGED_NEXT,
  TVMS_PAGED_FREE,
  TVMS_PAGED_TREES,
  TVMS_PAGED_IDS,    // of the sequences of the batch
  TVMS_PAGED_KINDS,  // by layer: one byte
  TVMS_PAGED_READ,   // by layer: whether its pages were imported
  TVMS_PAGED_TEXT,   // of a checkpoint
  TVMS_PAGED_TRACE,  // what one call needs for a while, from here on
  TVMS_PAGED_TRACES,
  TVMS_PAGED_LIST,
  TVMS_PAGED_CHUNKS,
  TVMS_PAGED_WORK,
  TVMS_PAGED_PLAN,                                         // arrays of the batch
  TVMS_PAGED_QUERIES = TVMS_PAGED_PLAN + TVMS_PLAN_ITEMS,  // room for a batch
  TVMS_PAGED_KEYS,
  TVMS_PAGED_VALUES,
  TVMS_PAGED_OUTPUT,    // of one round
  TVMS_PAGED_SUMS,      // logarithms of sums of a round
  TVMS_PAGED_ALL_SUMS,  // of all rounds
  TVMS_PAGED_PAGES,     // from here on pages of a layer each
};

// ---- Who has the cache ----

enum { TVMS_PAGED_RANK = 5 };

typedef enum {
  TVMS_PAGED_INT,
  TVMS_PAGED_REAL,
  TVMS_PAGED_AREA,   // a tensor in area `at`
  TVMS_PAGED_GIVEN,  // the first rows of argument `at` of the call, a tensor
  TVMS_PAGED_MADE,   // argument `at` of the cache's creation, a tensor
} tvms_paged_kind;

// An argument of a function of the cache.
typedef struct {
  tvms_paged_kind kind;
  uint32_t at;
  int64_t i;
  double f;
  tvms_dl_type type;
  int32_t ndim;
  int64_t shape[TVMS_PAGED_RANK];
} tvms_paged_argument;

typedef struct tvms_paged_host tvms_paged_host;
struct tvms_paged_host {
  // An area of at least so many bytes, at a multiple of 64, which keeps what was in it. Leaves the call if there
  // is no memory.
  void *(*area)(tvms_paged_host *host, uint32_t area, uint64_t bytes);
  // Leaves the call with a text.
  void (*refuse)(tvms_paged_host *host, const char *text);
  // Calls a function that is argument `which` of the creation. Leaves the call if it fails.
  void (*call)(tvms_paged_host *host, uint32_t which, const tvms_paged_argument *args,
               uint32_t count);
  // A tensor that is argument `i` of the call, without gaps. Leaves the call if it is not one.
  const tvms_dl_tensor *(*given)(tvms_paged_host *host, uint32_t i);
};

// ---- The state ----

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
  int32_t nodes;   // of a tree of tokens at its end of which no path was taken yet
  int32_t tree;    // its slot, if there are any
} tvms_paged_sequence;

// An array of a batch.
typedef struct {
  int32_t ndim;
  int64_t shape[2];
} tvms_paged_array;

// Numbers of a batch.
typedef struct {
  int64_t tokens;
  uint32_t depths;
  bool runs;  // there is one
  bool
      appends_first;  // keys and values are in the pages before attention looks at them
  bool tree;          // tokens do not all see those before them: attention by ranges
  bool trees[TVMS_PAGED_DEPTHS];    // so do those in the pages
  bool decodes[TVMS_PAGED_DEPTHS];  // one token per sequence: kernels for decoding
  bool empty[TVMS_PAGED_DEPTHS];    // there are no pages
  tvms_paged_array arrays[TVMS_PLAN_ITEMS];
} tvms_paged_batch;

// Which state an object is, by the first word of its head.
enum { TVMS_STATE_PAGED = 1, TVMS_STATE_RNN };

// What is fixed, and counts.
typedef struct {
  uint32_t kind;         // TVMS_STATE_PAGED
  tvms_paged_made made;  // its shapes are gone
  int64_t most_tokens;   // of a batch
  int64_t most_sequences;
  int64_t page_size;
  int64_t total_pages;
  int64_t first_layer;
  uint32_t layers;
  bool slides;     // windows of sequences do
  bool inlines;    // rotary positions are applied where attention reads
  int64_t window;  // of layers that have one; 0: none has
  bool imports;    // sequence 0 is being read from a checkpoint (paged_checkpoint.h)
  int32_t free_pages;
  int32_t free_block;  // the first of a list
  int32_t free_tree;   // likewise
  uint32_t trees;      // that there ever were
  uint32_t blocks;     // that there ever were
  uint32_t sequences;
  tvms_paged_batch batch;
} tvms_paged_head;

// A cache as one call sees it; pointers hold until it grows.
typedef struct {
  tvms_paged_host *host;
  tvms_paged_head *head;
  tvms_paged_block *blocks;
  tvms_paged_sequence *sequences;
  int32_t *next;  // by page: the one behind it in its block
  int32_t *free;  // a stack of pages
  int32_t *trees;
} tvms_paged;

// Leaves the call with a text as of printf.
TVMS_NORETURN TVMS_PRINTF(2, 3) void tvms_paged_refuse(const tvms_paged *p,
                                                       const char *format, ...);

// ---- Sequences ----

// The cache in the areas.
tvms_paged tvms_paged_open(tvms_paged_host *host);

// All sequences go.
void tvms_paged_clear(tvms_paged *p);

// A new sequence without tokens, if there is none of this id.
void tvms_paged_add(tvms_paged *p, int64_t id);

// A sequence goes, and its blocks and pages that no other one uses.
void tvms_paged_remove(tvms_paged *p, int64_t id);

// A new sequence with the tokens of another one before a position; TVMS_PAGED_NONE: with all.
void tvms_paged_fork(tvms_paged *p, int64_t parent, int64_t child, int64_t position);

// Takes tokens from the end.
void tvms_paged_pop(tvms_paged *p, int64_t id, int64_t count);

// From now on at most `window` tokens are kept, the first `sink` of them for ever.
void tvms_paged_set_window(tvms_paged *p, int64_t id, int64_t window, int64_t sink);

// Tokens of all sequences.
int64_t tvms_paged_length(const tvms_paged *p);

// The sequence of an id; it holds until one is added or removed.
tvms_paged_sequence *tvms_paged_sequence_of(const tvms_paged *p, int64_t id);

// Room for tokens at the end of a sequence whose length counts them already; the window slides.
void tvms_paged_reserve(tvms_paged *p, tvms_paged_sequence *sequence, int64_t count);

// How many blocks a sequence has.
uint32_t tvms_paged_depth(const tvms_paged *p, const tvms_paged_sequence *sequence);

// Its blocks, the first one first.
void tvms_paged_trace(const tvms_paged *p, const tvms_paged_sequence *sequence,
                      int32_t *trace);

// The pages of a block in order; returns where they end.
int32_t *tvms_paged_list(const tvms_paged *p, const tvms_paged_block *block,
                         int32_t *pages);

// The same in memory of the cache, until it is asked for again.
int32_t *tvms_paged_pages_of(const tvms_paged *p, const tvms_paged_block *block);

// Where a token of a block stands in its pages.
int64_t tvms_paged_slot(const tvms_paged_block *block, int64_t token);

// The place of that among all pages.
int32_t tvms_paged_place(const tvms_paged *p, const int32_t *pages, int64_t slot);

#endif
