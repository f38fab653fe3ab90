// Attention with a paged cache: the functions that the cache was made with, called one after the other.
//
// A batch is looked at in rounds: its own keys and values (unless they are in the pages first), then the pages of
// each depth. A round gives output and the logarithm of its sum of weights, with which rounds are merged.
// TVM: src/runtime/vm/paged_kv_cache.cc, AttentionWithFusedQKV; attn_backend.h.
#include "interp/attention.h"

#include <string.h>

enum { MOST_ARGUMENTS = 15 };

// One call of attention.
typedef struct {
  tvms_paged p;
  const tvms_items *plan;
  tvms_paged_batch batch;
  double scale;
  tvms_value sums;    // logarithms of sums of all rounds
  tvms_value output;  // of all rounds
  bool first;         // nothing has been written to it yet
} attention;

// Arguments of a call.
typedef struct {
  tvms_value items[MOST_ARGUMENTS];
  uint32_t count;
} arguments;

static void add(arguments *a, tvms_value value) {
  a->items[a->count++] = value;
}

static void add_int(arguments *a, int64_t value) {
  add(a, (tvms_value){.kind = TVMS_VALUE_INT, .i = value});
}

static void add_real(arguments *a, double value) {
  add(a, (tvms_value){.kind = TVMS_VALUE_FLOAT, .f = value});
}

static void run(const attention *a, tvms_value callee, const arguments *args) {
  tvms_interp_attention_call(&a->p, callee, args->items, args->count);
}

// The function of a pair that says whose it is.
static tvms_value kernel(const attention *a, uint32_t which) {
  const tvms_items *pair = tvms_interp_attention_made(&a->p, which).tuple;
  if (!pair->len)
    tvms_interp_builtin_refuse(a->p.b,
                               "a cache with this kind of attention is expected");
  tvms_value whose = pair->items[0];
  bool own = pair->len == 2 && whose.kind == TVMS_VALUE_STR && whose.text
             && (strcmp(whose.text, "tirx") == 0 || strcmp(whose.text, "tir") == 0);
  if (!own)
    tvms_interp_builtin_refuse(a->p.b, "attention is expected to be a pair of \"tirx\" "
                                       "and a function");
  return pair->items[1];
}

static double real_of(const attention *a, uint32_t i) {
  tvms_value value = tvms_interp_attention_made(&a->p, i);
  return value.kind == TVMS_VALUE_FLOAT ? value.f : (double)value.i;
}

static void add_rotary(const attention *a, arguments *args) {
  bool slides = a->p.head->slides;
  int64_t mode = tvms_interp_attention_size(&a->p, TVMS_MADE_ROTARY_MODE);
  bool within = mode == TVMS_ROTARY_INLINE || (slides && mode != TVMS_ROTARY_NONE);
  add_int(args, within);
  add_real(args, real_of(a, TVMS_MADE_ROTARY_SCALE));
  add_real(args, real_of(a, TVMS_MADE_ROTARY_THETA));
  add_real(args, a->scale);
}

static tvms_value of_depth(const attention *a, uint32_t depth, uint32_t item) {
  return a->plan->items[TVMS_PLAN_DEPTHS + depth * TVMS_DEPTH_ITEMS + item];
}

// ---- Rounds ----

// Queries and the keys and values of the batch itself.
static void attend_batch(const attention *a, tvms_value q, tvms_value k, tvms_value v) {
  tvms_value tokens = a->plan->items[TVMS_PLAN_TOKENS];
  arguments args = {0};
  add(&args, q);
  add(&args, tokens);
  add(&args, k);
  add(&args, v);
  add(&args, tokens);
  add(&args, a->plan->items[TVMS_PLAN_QUERY_POSITIONS]);
  add(&args, a->plan->items[TVMS_PLAN_KEY_BEGINS]);
  add(&args, a->output);
  add(&args, a->sums);
  add_int(&args, 1);
  add_rotary(a, &args);
  run(a, kernel(a, TVMS_MADE_PREFILL_RAGGED), &args);
}

// Queries and the pages of a depth.
static void attend_pages(const attention *a, tvms_value q, tvms_value pages,
                         uint32_t depth, tvms_value output, tvms_value sums) {
  bool slides = a->p.head->slides, decodes = a->batch.decodes[depth];
  arguments args = {0};
  add(&args, q);
  if (!decodes) add(&args, of_depth(a, depth, TVMS_DEPTH_QUERIES));
  add(&args, pages);
  add(&args, of_depth(a, depth, TVMS_DEPTH_PAGE_BEGINS));
  add(&args, of_depth(a, depth, TVMS_DEPTH_PAGES));
  add(&args, of_depth(a, depth, TVMS_DEPTH_LENGTHS));
  add(&args, of_depth(a, depth, TVMS_DEPTH_KEY_BEGINS));
  add(&args, a->plan->items[TVMS_PLAN_QUERY_POSITIONS]);
  add(&args, output);
  add(&args, sums);
  if (!decodes) add_int(&args, 0);
  add_rotary(a, &args);
  uint32_t which = decodes ? TVMS_MADE_DECODE : TVMS_MADE_PREFILL;
  if (slides) which = decodes ? TVMS_MADE_DECODE_SLIDING : TVMS_MADE_PREFILL_SLIDING;
  run(a, kernel(a, which), &args);
}

// The first rows of a tensor of the cache; the caller's.
static tvms_value room(const attention *a, uint32_t which) {
  tvms_tensor *whole = a->p.state->items[TVMS_PAGED_TENSORS].tuple->items[which].tensor;
  int64_t shape[3];
  memcpy(shape, whole->shape, (size_t)whole->view.ndim * sizeof *shape);
  shape[0] = a->batch.tokens;
  return tvms_interp_builtin_view(a->p.b, whole, 0, whole->view.dtype, whole->view.ndim,
                                  shape);
}

static void merge(const attention *a, tvms_value output, tvms_value sums) {
  arguments args = {{a->output, a->sums, output, sums}, 4};
  run(a, tvms_interp_attention_made(&a->p, TVMS_MADE_MERGE).tuple->items[0], &args);
}

static void attend_cache(attention *a, tvms_value q, tvms_value pages) {
  tvms_value output = room(a, TVMS_ROOM_OUTPUT), sums = room(a, TVMS_ROOM_SUMS);
  for (uint32_t d = 0; d < a->batch.depths; d++) {
    if (a->batch.empty[d]) continue;
    attend_pages(a, q, pages, d, a->first ? a->output : output,
                 a->first ? a->sums : sums);
    if (!a->first) merge(a, output, sums);
    a->first = false;
  }
  tvms_value_drop(output);
  tvms_value_drop(sums);
}

// ---- Arguments ----

// Opens the cache, whose batch must be in progress.
static void open(attention *a, const tvms_builtin *b) {
  *a = (attention){.first = true};
  tvms_interp_paged_open(&a->p, b);
  tvms_value plan = a->p.state->items[TVMS_PAGED_PLAN];
  if (plan.kind != TVMS_VALUE_TUPLE)
    tvms_interp_builtin_refuse(b, "a cache with a batch in progress is expected");
  a->plan = plan.tuple;
  memcpy(&a->batch, a->plan->items[TVMS_PLAN_BATCH].tensor->view.data, sizeof a->batch);
  a->scale = tvms_interp_builtin_real(b, 2);
}

// Pages of the layer that is the second argument.
static tvms_value layer_of(const attention *a) {
  const tvms_builtin *b = a->p.b;
  int64_t first = tvms_interp_attention_made(&a->p, TVMS_MADE_LAYERS).tensor->shape[0];
  int64_t layer = tvms_interp_builtin_number(b, 1);
  if (layer < first || layer - first >= tvms_interp_attention_layers(&a->p))
    tvms_interp_paged_refuse(b, "layer %lld is not one of the cache", (long long)layer);
  return tvms_interp_attention_pages(&a->p, (uint32_t)(layer - first));
}

// An argument with so many heads of such a size, of the element type of the cache: its first rows, as many as the
// batch has tokens. The caller's.
static tvms_value rows_of(const attention *a, uint32_t i, int64_t heads, int64_t size) {
  const tvms_builtin *b = a->p.b;
  tvms_tensor *tensor = tvms_interp_builtin_tensor(b, i);
  tvms_dl_type has = tensor->view.dtype;
  tvms_dl_type wants =
      tvms_interp_attention_made(&a->p, TVMS_MADE_TYPE).tensor->view.dtype;
  bool good = has.code == wants.code && has.bits == wants.bits
              && has.lanes == wants.lanes && tensor->view.ndim == 3
              && tensor->shape[0] >= a->batch.tokens && tensor->shape[1] == heads
              && tensor->shape[2] == size;
  if (!good)
    tvms_interp_paged_refuse(
        b,
        "a tensor of shape (%lld, %lld, %lld) and the data type of the "
        "cache is expected",
        (long long)a->batch.tokens, (long long)heads, (long long)size);
  int64_t shape[] = {a->batch.tokens, heads, size};
  return tvms_interp_builtin_view(b, tensor, 0, has, 3, shape);
}

// A tensor of float32, (tokens, heads of queries); borrowed.
static tvms_value sums_of(const attention *a, uint32_t i) {
  tvms_tensor *tensor = tvms_interp_builtin_tensor(a->p.b, i);
  tvms_dl_type type = tensor->view.dtype;
  bool good =
      type.code == TVMS_DL_FLOAT && type.bits == 32 && type.lanes == 1
      && tensor->view.ndim == 2 && tensor->shape[0] == a->batch.tokens
      && tensor->shape[1] == tvms_interp_attention_size(&a->p, TVMS_MADE_QUERY_HEADS);
  if (!good)
    tvms_interp_builtin_refuse(
        a->p.b, "a number of float32 is expected for each token and head of queries");
  return a->p.b->args[i];
}

// ---- Calls ----

static void split(const attention *a, tvms_value qkv, tvms_value q, tvms_value k,
                  tvms_value v) {
  arguments args = {0};
  add(&args, qkv);
  add(&args, a->plan->items[TVMS_PLAN_QUERY_POSITIONS]);
  add(&args, q);
  add(&args, k);
  add(&args, v);
  tvms_value factors = tvms_interp_attention_made(&a->p, TVMS_MADE_ROTARY_FACTORS);
  bool apart =
      tvms_interp_attention_size(&a->p, TVMS_MADE_ROTARY_MODE) == TVMS_ROTARY_APART
      && !a->p.head->slides;
  if (factors.kind == TVMS_VALUE_TENSOR)
    add(&args, factors);
  else
    add_int(&args, apart);
  run(a, tvms_interp_attention_made(&a->p, TVMS_MADE_SPLIT), &args);
}

static void append(const attention *a, tvms_value pages, tvms_value k, tvms_value v) {
  arguments args = {{pages, k, v, a->plan->items[TVMS_PLAN_APPEND_POSITIONS]}, 4};
  run(a, tvms_interp_attention_made(&a->p, TVMS_MADE_APPEND), &args);
}

static void attend_fused(attention *a, tvms_value pages, tvms_value qkv) {
  tvms_value q = room(a, TVMS_ROOM_QUERIES), k = room(a, TVMS_ROOM_KEYS);
  tvms_value v = room(a, TVMS_ROOM_VALUES);
  a->sums = room(a, TVMS_ROOM_ALL_SUMS);
  split(a, qkv, q, k, v);
  if (a->batch.appends_first) {
    append(a, pages, k, v);
  } else {
    attend_batch(a, q, k, v);
    a->first = false;
  }
  attend_cache(a, q, pages);
  if (!a->batch.appends_first) append(a, pages, k, v);
  tvms_value_drop(q);
  tvms_value_drop(k);
  tvms_value_drop(v);
  tvms_value_drop(a->sums);
}

// attention_with_fused_qkv(cache, layer, scale, queries with keys and values, output)
tvms_value tvms_interp_builtin_attention_fused(const tvms_builtin *b) {
  attention a;
  open(&a, b);
  tvms_value pages = layer_of(&a);
  int64_t queries = tvms_interp_attention_size(&a.p, TVMS_MADE_QUERY_HEADS);
  int64_t keys = tvms_interp_attention_size(&a.p, TVMS_MADE_KEY_HEADS);
  int64_t size = tvms_interp_attention_size(&a.p, TVMS_MADE_KEY_SIZE);
  tvms_value qkv = rows_of(&a, 3, queries + 2 * keys, size);
  a.output = rows_of(&a, 4, queries, size);
  attend_fused(&a, pages, qkv);
  tvms_value_drop(qkv);
  tvms_value_drop(a.output);
  return (tvms_value){0};
}

// self_attention(cache, layer, scale, queries, keys, values, output, sums)
tvms_value tvms_interp_builtin_attention_self(const tvms_builtin *b) {
  attention a;
  open(&a, b);
  layer_of(&a);
  int64_t queries = tvms_interp_attention_size(&a.p, TVMS_MADE_QUERY_HEADS);
  int64_t keys = tvms_interp_attention_size(&a.p, TVMS_MADE_KEY_HEADS);
  int64_t size = tvms_interp_attention_size(&a.p, TVMS_MADE_KEY_SIZE);
  int64_t values = tvms_interp_attention_size(&a.p, TVMS_MADE_VALUE_SIZE);
  tvms_value q = rows_of(&a, 3, queries, size), k = rows_of(&a, 4, keys, size);
  tvms_value v = rows_of(&a, 5, keys, values);
  a.output = rows_of(&a, 6, queries, values);
  a.sums = sums_of(&a, 7);
  attend_batch(&a, q, k, v);
  tvms_value_drop(q);
  tvms_value_drop(k);
  tvms_value_drop(v);
  tvms_value_drop(a.output);
  return (tvms_value){0};
}

// cross_attention(cache, layer, scale, queries, output, sums)
tvms_value tvms_interp_builtin_attention_cross(const tvms_builtin *b) {
  attention a;
  open(&a, b);
  tvms_value pages = layer_of(&a);
  int64_t queries = tvms_interp_attention_size(&a.p, TVMS_MADE_QUERY_HEADS);
  tvms_value q =
      rows_of(&a, 3, queries, tvms_interp_attention_size(&a.p, TVMS_MADE_KEY_SIZE));
  a.output =
      rows_of(&a, 4, queries, tvms_interp_attention_size(&a.p, TVMS_MADE_VALUE_SIZE));
  a.sums = sums_of(&a, 5);
  attend_cache(&a, q, pages);
  tvms_value_drop(q);
  tvms_value_drop(a.output);
  return (tvms_value){0};
}
