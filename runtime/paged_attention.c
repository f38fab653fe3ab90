// Attention with a paged cache: the functions that the cache was made with, called one after the other.
//
// A batch is looked at in rounds: its own keys and values (unless they are in the pages first), then the pages of
// each depth. A round gives output and the logarithm of its sum of weights, with which rounds are merged.
// TVM: src/runtime/vm/paged_kv_cache.cc, AttentionWithFusedQKV; attn_backend.h.
#include "runtime/paged_attention.h"

#include "runtime/number.h"
#include "runtime/paged_arrays.h"

#include <string.h>

static const tvms_dl_type float32_type = {TVMS_DL_FLOAT, 32, 1};

enum { MOST_ARGUMENTS = 16 };

typedef tvms_paged_argument argument;

// One call of attention.
typedef struct {
  tvms_paged *p;
  const tvms_paged_batch *batch;
  const tvms_paged_made *made;
  double scale;
  argument sums;    // logarithms of sums of all rounds
  argument output;  // of all rounds
  bool first;       // nothing has been written to it yet
  bool window;      // the layer has one
} attention;

// Arguments of a call.
typedef struct {
  argument items[MOST_ARGUMENTS];
  uint32_t count;
} arguments;

static void add(arguments *a, argument value) {
  a->items[a->count++] = value;
}

static void add_int(arguments *a, int64_t value) {
  add(a, (argument){.kind = TVMS_PAGED_INT, .i = value});
}

static void add_real(arguments *a, double value) {
  add(a, (argument){.kind = TVMS_PAGED_REAL, .f = value});
}

static void run(const tvms_paged *p, uint32_t which, const arguments *args) {
  tvms_paged_run(p, which, args->items, args->count);
}

// Layers with windows read the pages by positions that no cache changes, as TVM does.
static void add_rotary(const attention *a, arguments *args, bool window) {
  add_int(args, a->p->head->inlines);
  add_real(args, window ? 1 : a->made->rotary_scale);
  add_real(args, window ? 10000 : a->made->rotary_theta);
  add_real(args, a->scale);
}

// ---- Tensors ----

static argument of_depth(const attention *a, uint32_t depth, uint32_t item) {
  return tvms_paged_planned(a->p, TVMS_PLAN_DEPTHS + depth * TVMS_DEPTH_ITEMS + item);
}

// Room for the tokens of the batch.
static argument room(const attention *a, uint32_t area, int64_t heads, int64_t size) {
  return (argument){.kind = TVMS_PAGED_AREA,
                    .at = area,
                    .type = a->made->type,
                    .ndim = 3,
                    .shape = {a->batch->tokens, heads, size}};
}

static argument room_of_sums(const attention *a, uint32_t area) {
  return (argument){.kind = TVMS_PAGED_AREA,
                    .at = area,
                    .type = float32_type,
                    .ndim = 2,
                    .shape = {a->batch->tokens, a->made->query_heads}};
}

// ---- Rounds ----

// Queries and the keys and values of the batch itself.
static void attend_batch(const attention *a, argument q, argument k, argument v) {
  argument tokens = tvms_paged_planned(a->p, TVMS_PLAN_TOKENS);
  arguments args = {0};
  bool tree = a->batch->tree;
  add(&args, q);
  add(&args, tokens);
  add(&args, k);
  add(&args, v);
  add(&args, tokens);
  add(&args, tvms_paged_planned(a->p, TVMS_PLAN_QUERY_POSITIONS));
  if (tree) {
    add(&args, tvms_paged_planned(a->p, TVMS_PLAN_TREES));
    add(&args, tvms_paged_planned(a->p, TVMS_PLAN_RANGES));
  } else {
    add(&args, tvms_paged_planned(a->p, TVMS_PLAN_KEY_BEGINS));
  }
  add(&args, a->output);
  add(&args, a->sums);
  if (!tree) add_int(&args, 1);
  add_rotary(a, &args, false);
  run(a->p, tree ? TVMS_MADE_PREFILL_TREE : TVMS_MADE_PREFILL_RAGGED, &args);
}

// Queries and the pages of a depth.
static void attend_pages(const attention *a, argument q, argument pages, uint32_t depth,
                         argument output, argument sums) {
  bool slides = a->p->head->slides || a->window, tree = a->batch->trees[depth];
  bool decodes = a->batch->decodes[depth] && !tree;
  arguments args = {0};
  add(&args, q);
  if (!decodes) add(&args, of_depth(a, depth, TVMS_DEPTH_QUERIES));
  add(&args, pages);
  for (uint32_t i = TVMS_DEPTH_PAGE_BEGINS; i <= TVMS_DEPTH_KEY_BEGINS; i++)
    add(&args, of_depth(a, depth, i + (a->window ? TVMS_DEPTH_WINDOWS : 0)));
  add(&args, tvms_paged_planned(a->p, TVMS_PLAN_QUERY_POSITIONS));
  add(&args, output);
  add(&args, sums);
  if (!decodes && !tree) add_int(&args, a->window && !a->batch->appends_first);
  add_rotary(a, &args, a->window);
  if (tree) {
    add(&args, of_depth(a, depth, TVMS_DEPTH_TREES));
    add(&args, of_depth(a, depth, TVMS_DEPTH_RANGES));
    run(a->p, TVMS_MADE_PREFILL_TREE_PAGED, &args);
    return;
  }
  uint32_t which = decodes ? TVMS_MADE_DECODE : TVMS_MADE_PREFILL;
  if (slides) which = decodes ? TVMS_MADE_DECODE_SLIDING : TVMS_MADE_PREFILL_SLIDING;
  run(a->p, which, &args);
}

// Queries and what a depth keeps of tokens for all heads.
static void attend_latent(const attention *a, argument q, argument pages,
                          uint32_t depth, argument output, argument sums) {
  arguments args = {0};
  add(&args, q);
  add(&args, of_depth(a, depth, TVMS_DEPTH_QUERIES));
  add(&args, pages);
  add(&args, of_depth(a, depth, TVMS_DEPTH_PAGE_BEGINS));
  add(&args, of_depth(a, depth, TVMS_DEPTH_PAGES));
  add(&args, of_depth(a, depth, TVMS_DEPTH_LENGTHS));
  add(&args, output);
  add(&args, sums);
  add_int(&args, 0);
  add_real(&args, a->scale);
  run(a->p, TVMS_MADE_PREFILL_LATENT, &args);
}

static void merge(const attention *a, argument output, argument sums) {
  arguments args = {{a->output, a->sums, output, sums}, 4};
  run(a->p, TVMS_MADE_MERGE, &args);
}

static void attend_cache(attention *a, argument q, argument pages) {
  argument output =
      room(a, TVMS_PAGED_OUTPUT, a->made->query_heads, a->made->value_size);
  argument sums = room_of_sums(a, TVMS_PAGED_SUMS);
  // Pages of latent attention have no heads.
  bool latent = pages.ndim == 3;
  for (uint32_t d = 0; d < a->batch->depths; d++) {
    if (a->batch->empty[d]) continue;
    (latent ? attend_latent : attend_pages)(
        a, q, pages, d, a->first ? a->output : output, a->first ? a->sums : sums);
    if (!a->first) merge(a, output, sums);
    a->first = false;
  }
}

// ---- Arguments ----

static attention open(tvms_paged *p, double scale) {
  tvms_paged_check_batch(p);
  return (attention){.p = p,
                     .batch = &p->head->batch,
                     .made = &p->head->made,
                     .scale = scale,
                     .first = true};
}

// The number of a layer in the cache.
static uint32_t layer_at(const tvms_paged *p, int64_t layer) {
  int64_t first = p->head->first_layer;
  if (layer < first || layer - first >= p->head->layers)
    tvms_paged_refuse(p, "layer %lld is not one of the cache", (long long)layer);
  return (uint32_t)(layer - first);
}

// Pages of a layer that keeps something of this kind.
static argument layer_of(const tvms_paged *p, int64_t layer, uint8_t kind) {
  uint32_t at = layer_at(p, layer);
  if (tvms_paged_kind_at(p, at) != kind)
    tvms_paged_refuse(p, "layer %lld is not one of the kind '%s'", (long long)layer,
                      kind == TVMS_LAYER_LATENT ? "mla" : "mha");
  return tvms_paged_pages_at(p, at);
}

// An argument with so many heads of such a size, of the element type of the cache: its first rows, as many as the
// batch has tokens.
static argument rows_of(const attention *a, uint32_t i, int64_t heads, int64_t size) {
  const tvms_dl_tensor *tensor = a->p->host->given(a->p->host, i);
  int64_t tokens = a->batch->tokens;
  bool good = tvms_dl_same_type(tensor->dtype, a->made->type) && tensor->ndim == 3
              && tensor->shape[0] >= tokens && tensor->shape[1] == heads
              && tensor->shape[2] == size;
  if (!good)
    tvms_paged_refuse(a->p,
                      "a tensor of shape (%lld, %lld, %lld) and the data type of the "
                      "cache is expected",
                      (long long)tokens, (long long)heads, (long long)size);
  return (argument){.kind = TVMS_PAGED_GIVEN,
                    .at = i,
                    .type = a->made->type,
                    .ndim = 3,
                    .shape = {tokens, heads, size}};
}

// An argument of the element type of the cache with a row for each token of the batch: its heads are those of the
// kernel, as latent attention has them before they are compressed.
static argument tokens_of(const attention *a, uint32_t i) {
  const tvms_dl_tensor *tensor = a->p->host->given(a->p->host, i);
  int64_t tokens = a->batch->tokens;
  bool good = tvms_dl_same_type(tensor->dtype, a->made->type) && tensor->ndim == 3
              && tensor->shape[0] == tokens;
  if (!good)
    tvms_paged_refuse(
        a->p,
        "a tensor of 3 dimensions, %lld rows and the data type of the cache "
        "is expected",
        (long long)tokens);
  return (argument){.kind = TVMS_PAGED_GIVEN,
                    .at = i,
                    .type = a->made->type,
                    .ndim = 3,
                    .shape = {tokens, tensor->shape[1], tensor->shape[2]}};
}

// A tensor of float32, (tokens, heads of queries).
static argument sums_of(const attention *a, uint32_t i) {
  const tvms_dl_tensor *tensor = a->p->host->given(a->p->host, i);
  bool good = tvms_dl_same_type(tensor->dtype, float32_type) && tensor->ndim == 2
              && tensor->shape[0] == a->batch->tokens
              && tensor->shape[1] == a->made->query_heads;
  if (!good)
    tvms_paged_refuse(
        a->p, "a number of float32 is expected for each token and head of queries");
  return (argument){.kind = TVMS_PAGED_GIVEN,
                    .at = i,
                    .type = float32_type,
                    .ndim = 2,
                    .shape = {tensor->shape[0], tensor->shape[1]}};
}

// ---- Calls ----

static void split(const attention *a, argument qkv, argument q, argument k,
                  argument v) {
  arguments args = {0};
  add(&args, qkv);
  add(&args, tvms_paged_planned(a->p, TVMS_PLAN_QUERY_POSITIONS));
  add(&args, q);
  add(&args, k);
  add(&args, v);
  if (a->made->rotary_factors)
    add(&args, (argument){.kind = TVMS_PAGED_MADE, .at = TVMS_MADE_ROTARY_FACTORS});
  else
    add_int(&args, a->made->rotary_mode == TVMS_ROTARY_APART && !a->p->head->inlines);
  run(a->p, TVMS_MADE_SPLIT, &args);
}

static void append(const attention *a, argument pages, argument k, argument v) {
  arguments args = {{pages, k, v, tvms_paged_planned(a->p, TVMS_PLAN_APPEND_POSITIONS)},
                    4};
  run(a->p, TVMS_MADE_APPEND, &args);
}

// Pages of a layer that keeps heads, for a call that looks at its window if it has one.
static argument heads_of(attention *a, int64_t layer) {
  a->window = tvms_paged_kind_at(a->p, layer_at(a->p, layer)) == TVMS_LAYER_WINDOW;
  return layer_of(a->p, layer, a->window ? TVMS_LAYER_WINDOW : TVMS_LAYER_HEADS);
}

void tvms_paged_attend_fused(tvms_paged *p, int64_t layer, double scale) {
  attention a = open(p, scale);
  argument pages = heads_of(&a, layer);
  int64_t queries = a.made->query_heads, keys = a.made->key_heads;
  int64_t size = a.made->key_size;
  argument qkv = rows_of(&a, 3, queries + 2 * keys, size);
  a.output = rows_of(&a, 4, queries, size);
  a.sums = room_of_sums(&a, TVMS_PAGED_ALL_SUMS);
  argument q = room(&a, TVMS_PAGED_QUERIES, queries, size);
  argument k = room(&a, TVMS_PAGED_KEYS, keys, size);
  argument v = room(&a, TVMS_PAGED_VALUES, keys, size);
  split(&a, qkv, q, k, v);
  if (a.batch->appends_first) {
    append(&a, pages, k, v);
  } else {
    attend_batch(&a, q, k, v);
    a.first = false;
  }
  attend_cache(&a, q, pages);
  if (!a.batch->appends_first) append(&a, pages, k, v);
}

// As attend_batch, with the heads that the layer's model has, and without rotary positions.
static void attend_self_latent(attention *a) {
  argument tokens = tvms_paged_planned(a->p, TVMS_PLAN_TOKENS);
  arguments args = {0};
  add(&args, tokens_of(a, 3));
  add(&args, tokens);
  add(&args, tokens_of(a, 4));
  add(&args, tokens_of(a, 5));
  add(&args, tokens);
  add(&args, tvms_paged_planned(a->p, TVMS_PLAN_QUERY_POSITIONS));
  add(&args, tvms_paged_planned(a->p, TVMS_PLAN_KEY_BEGINS));
  add(&args, tokens_of(a, 6));
  add(&args, sums_of(a, 7));
  add_int(&args, 1);
  add_int(&args, 0);
  add_real(&args, a->made->rotary_scale);
  add_real(&args, a->made->rotary_theta);
  add_real(&args, a->scale);
  run(a->p, TVMS_MADE_PREFILL_RAGGED, &args);
}

void tvms_paged_attend_self(tvms_paged *p, int64_t layer, double scale) {
  attention a = open(p, scale);
  if (tvms_paged_kind_at(p, layer_at(p, layer)) != TVMS_LAYER_HEADS) {
    attend_self_latent(&a);
    return;
  }
  int64_t queries = a.made->query_heads, keys = a.made->key_heads;
  argument q = rows_of(&a, 3, queries, a.made->key_size);
  argument k = rows_of(&a, 4, keys, a.made->key_size);
  argument v = rows_of(&a, 5, keys, a.made->value_size);
  a.output = rows_of(&a, 6, queries, a.made->value_size);
  a.sums = sums_of(&a, 7);
  attend_batch(&a, q, k, v);
}

void tvms_paged_attend_cross(tvms_paged *p, int64_t layer, double scale) {
  attention a = open(p, scale);
  uint32_t at = layer_at(p, layer);
  // TVM reads the pages as if they were latent ones.
  if (tvms_paged_kind_at(p, at) == TVMS_LAYER_WINDOW)
    tvms_paged_refuse(p, "a layer that is not of the kind 'mha_sliding' is expected");
  argument pages = tvms_paged_pages_at(p, at);
  argument q = rows_of(&a, 3, a.made->query_heads, a.made->key_size);
  a.output = rows_of(&a, 4, a.made->query_heads, a.made->value_size);
  a.sums = sums_of(&a, 5);
  attend_cache(&a, q, pages);
}

void tvms_paged_attend_shared(tvms_paged *p, int64_t layer, double scale) {
  attention a = open(p, scale);
  argument pages = heads_of(&a, layer);
  int64_t queries = a.made->query_heads, keys = a.made->key_heads;
  argument q = rows_of(&a, 3, queries, a.made->key_size);
  argument k = rows_of(&a, 4, keys, a.made->key_size);
  argument v = rows_of(&a, 5, keys, a.made->value_size);
  a.output = rows_of(&a, 6, queries, a.made->value_size);
  a.sums = room_of_sums(&a, TVMS_PAGED_ALL_SUMS);
  if (!a.batch->appends_first) {
    attend_batch(&a, q, k, v);
    a.first = false;
  }
  attend_cache(&a, q, pages);
}

void tvms_paged_append_latent(tvms_paged *p, int64_t layer) {
  attention a = open(p, 0);
  argument pages = layer_of(p, layer, TVMS_LAYER_LATENT);
  const tvms_dl_tensor *rows = p->host->given(p->host, 2);
  int64_t size = a.made->key_size;
  bool good = tvms_dl_same_type(rows->dtype, a.made->type) && rows->ndim == 2
              && rows->shape[0] <= a.batch->tokens && rows->shape[1] == size;
  if (!good)
    tvms_paged_refuse(
        p,
        "a tensor of shape (%lld, %lld) and the data type of the cache is "
        "expected",
        (long long)a.batch->tokens, (long long)size);
  argument given = {.kind = TVMS_PAGED_GIVEN,
                    .at = 2,
                    .type = a.made->type,
                    .ndim = 2,
                    .shape = {rows->shape[0], size}};
  arguments args = {{pages, given, tvms_paged_planned(p, TVMS_PLAN_APPEND_POSITIONS)},
                    3};
  run(p, TVMS_MADE_APPEND_LATENT, &args);
}

// An argument as it is given.
static argument given_at(const tvms_paged *p, uint32_t i) {
  const tvms_dl_tensor *tensor = p->host->given(p->host, i);
  argument a = {.kind = TVMS_PAGED_GIVEN, .at = i, .type = tensor->dtype};
  if (tensor->ndim > TVMS_PAGED_RANK)
    tvms_paged_refuse(p, "a tensor of at most %d dimensions is expected",
                      TVMS_PAGED_RANK);
  a.ndim = tensor->ndim;
  memcpy(a.shape, tensor->shape, (size_t)a.ndim * sizeof *a.shape);
  return a;
}

void tvms_paged_merge(tvms_paged *p) {
  if (p->head->made.functions[TVMS_MADE_MERGE_LATENT] != TVMS_PAGED_FUNCTION)
    tvms_paged_refuse(p, "The general attention merge function is not defined.");
  arguments args = {{given_at(p, 1), given_at(p, 2), given_at(p, 3), given_at(p, 4)},
                    4};
  run(p, TVMS_MADE_MERGE_LATENT, &args);
}

// ---- What is in the pages ----

// Places of the tokens [begin, end) of a sequence.
static argument debug_places(tvms_paged *p, const tvms_paged_sequence *sequence,
                             int64_t begin, int64_t end) {
  tvms_paged_host *host = p->host;
  int64_t count = end - begin, at = 0;
  uint32_t depth = tvms_paged_depth(p, sequence);
  int32_t *trace = host->area(host, TVMS_PAGED_TRACE, (depth + 1) * sizeof *trace);
  int32_t *places = tvms_paged_new_array(p, TVMS_PLAN_DEBUG_POSITIONS, 1, &count);
  tvms_paged_trace(p, sequence, trace);
  for (uint32_t d = 0; d < depth; d++) {
    const tvms_paged_block *block = &p->blocks[trace[d]];
    const int32_t *pages = tvms_paged_pages_of(p, block);
    for (int64_t k = 0; k < block->length; k++, at++) {
      int64_t slot = tvms_paged_slot(block, k);
      if (at >= begin && at < end)
        places[at - begin] = tvms_paged_place(p, pages, slot);
    }
  }
  return tvms_paged_planned(p, TVMS_PLAN_DEBUG_POSITIONS);
}

static argument debug_tensor(const tvms_paged *p, uint32_t i, int64_t tokens) {
  const tvms_dl_tensor *tensor = p->host->given(p->host, i);
  const tvms_paged_made *made = &p->head->made;
  argument a = {.kind = TVMS_PAGED_GIVEN,
                .at = i,
                .type = made->type,
                .ndim = 4,
                .shape = {p->head->layers, tokens, made->key_heads, made->key_size}};
  bool good = tvms_dl_same_type(tensor->dtype, made->type) && tensor->ndim == 4;
  for (int32_t k = 0; good && k < 4; k++)
    good = tensor->shape[k] == a.shape[k];
  if (!good)
    tvms_paged_refuse(p, "DebugGetKV expects the k_data in layout (num_layers, "
                         "seq_length, num_kv_heads, qk_head_dim).");
  return a;
}

// Refuses tokens that a sequence has not.
static void check_span(const tvms_paged *p, const tvms_paged_sequence *sequence,
                       int64_t begin, int64_t end) {
  if (begin < 0)
    tvms_paged_refuse(p, "DebugGetKV does not accept negative start_pos %lld",
                      (long long)begin);
  if (end > sequence->length)
    tvms_paged_refuse(p, "DebugGetKV does not accept out-of-range end_pos");
  if (begin >= end)
    tvms_paged_refuse(p, "DebugGetKV does not accept \"start_pos >= end_pos\"");
}

void tvms_paged_debug(tvms_paged *p, int64_t id, int64_t begin, int64_t end) {
  const tvms_paged_sequence *sequence = tvms_paged_sequence_of(p, id);
  check_span(p, sequence, begin, end);
  argument keys = debug_tensor(p, 4, end - begin);
  argument values = debug_tensor(p, 5, end - begin);
  argument places = debug_places(p, sequence, begin, end);
  for (uint32_t layer = 0; layer < p->head->layers; layer++) {
    int64_t at = p->head->first_layer + layer;
    arguments args = {{layer_of(p, at, TVMS_LAYER_HEADS), places, keys, values}, 4};
    add_int(&args, layer);
    run(p, TVMS_MADE_DEBUG, &args);
  }
}

void tvms_paged_debug_latent(tvms_paged *p, int64_t id, int64_t begin, int64_t end) {
  const tvms_paged_sequence *sequence = tvms_paged_sequence_of(p, id);
  check_span(p, sequence, begin, end);
  argument rows = given_at(p, 4);
  bool good = tvms_dl_same_type(rows.type, p->head->made.type) && rows.ndim == 3
              && rows.shape[0] == p->head->layers && rows.shape[1] == end - begin
              && rows.shape[2] == p->head->made.key_size;
  if (!good)
    tvms_paged_refuse(p, "DebugGetKV expects the kv_data in layout (num_layers, "
                         "seq_length, qk_head_dim).");
  argument places = debug_places(p, sequence, begin, end);
  for (uint32_t layer = 0; layer < p->head->layers; layer++) {
    int64_t at = p->head->first_layer + layer;
    arguments args = {{layer_of(p, at, TVMS_LAYER_LATENT), places, rows}, 3};
    add_int(&args, layer);
    run(p, TVMS_MADE_DEBUG, &args);
  }
}
