// The cache of attention with pages: how it is made, and its sequences.
//
// TVM: src/runtime/vm/paged_kv_cache.cc, kv_state.cc.
#include "interp/attention.h"

#include <string.h>

static const tvms_dl_type float32_type = {TVMS_DL_FLOAT, 32, 1};

// Tokens that a cache may have, so that positions are numbers of 32 bits.
enum { MOST_TOKENS = INT32_MAX / 4 };

// ---- Arguments ----

static void check_kind(const tvms_builtin *b, uint32_t i) {
  static const uint8_t kinds[TVMS_MADE_ARGUMENTS] = {
      [TVMS_MADE_SIZES] = TVMS_VALUE_SHAPE,
      [TVMS_MADE_LAYERS] = TVMS_VALUE_SHAPE,
      [TVMS_MADE_QUERY_HEADS] = TVMS_VALUE_INT,
      [TVMS_MADE_KEY_HEADS] = TVMS_VALUE_INT,
      [TVMS_MADE_KEY_SIZE] = TVMS_VALUE_INT,
      [TVMS_MADE_VALUE_SIZE] = TVMS_VALUE_INT,
      [TVMS_MADE_KINDS] = TVMS_VALUE_SHAPE,
      [TVMS_MADE_ROTARY_MODE] = TVMS_VALUE_INT,
      [TVMS_MADE_TYPE] = TVMS_VALUE_TENSOR,
      [TVMS_MADE_PREFILL_RAGGED] = TVMS_VALUE_TUPLE,
      [TVMS_MADE_PREFILL] = TVMS_VALUE_TUPLE,
      [TVMS_MADE_DECODE] = TVMS_VALUE_TUPLE,
      [TVMS_MADE_PREFILL_SLIDING] = TVMS_VALUE_TUPLE,
      [TVMS_MADE_DECODE_SLIDING] = TVMS_VALUE_TUPLE,
      [TVMS_MADE_PREFILL_TREE_PAGED] = TVMS_VALUE_TUPLE,
      [TVMS_MADE_PREFILL_TREE] = TVMS_VALUE_TUPLE,
      [TVMS_MADE_PREFILL_LATENT] = TVMS_VALUE_TUPLE,
      [TVMS_MADE_MERGE] = TVMS_VALUE_TUPLE,
  };
  if (kinds[i] && b->args[i].kind != kinds[i])
    tvms_interp_paged_refuse(
        b, "argument %u of a cache is not of the kind that it takes", i);
}

static int64_t size_at(const tvms_builtin *b, uint32_t i, int64_t least) {
  const tvms_tensor *sizes = b->args[TVMS_MADE_SIZES].tensor;
  if (sizes->shape[i] < least || sizes->shape[i] > MOST_TOKENS)
    tvms_interp_paged_refuse(b, "size %u of a cache is %lld", i,
                             (long long)sizes->shape[i]);
  return sizes->shape[i];
}

static void check_numbers(const tvms_builtin *b) {
  for (uint32_t i = TVMS_MADE_QUERY_HEADS; i <= TVMS_MADE_VALUE_SIZE; i++) {
    if (b->args[i].i < 1 || b->args[i].i > MOST_TOKENS)
      tvms_interp_paged_refuse(b, "argument %u of a cache is %lld", i,
                               (long long)b->args[i].i);
  }
  for (uint32_t i = TVMS_MADE_ROTARY_SCALE; i <= TVMS_MADE_ROTARY_THETA; i++)
    tvms_interp_builtin_real(b, i);
  uint8_t transfers = b->args[TVMS_MADE_TRANSFERS].kind;
  bool off = (transfers == TVMS_VALUE_BOOL || transfers == TVMS_VALUE_INT)
             && !b->args[TVMS_MADE_TRANSFERS].i;
  if (!off)
    tvms_interp_builtin_refuse(b, "a cache that is not transferred is expected");
  int64_t mode = b->args[TVMS_MADE_ROTARY_MODE].i;
  if (mode < TVMS_ROTARY_NONE || mode > TVMS_ROTARY_INLINE)
    tvms_interp_builtin_refuse(b, "a mode of rotary positions is 0, 1 or 2");
  bool factors = b->args[TVMS_MADE_ROTARY_FACTORS].kind == TVMS_VALUE_TENSOR;
  bool slides = b->args[TVMS_MADE_SIZES].tensor->shape[4] != 0;
  if (factors && (mode != TVMS_ROTARY_APART || slides))
    tvms_interp_builtin_refuse(b, "The RoPE mode must be normal to support RoPE "
                                  "extension factors.");
  if (!b->args[TVMS_MADE_MERGE].tuple->len)
    tvms_interp_builtin_refuse(b, "Merge inplace function is not defined.");
}

// Layers of a cache: attention of several heads, without windows of its own.
static uint32_t layers_of(const tvms_builtin *b) {
  const tvms_tensor *layers = b->args[TVMS_MADE_LAYERS].tensor;
  const tvms_tensor *kinds = b->args[TVMS_MADE_KINDS].tensor;
  bool good = layers->view.ndim == 2 && layers->shape[0] >= 0
              && layers->shape[0] < layers->shape[1]
              && layers->shape[1] <= kinds->view.ndim;
  if (!good)
    tvms_interp_builtin_refuse(b, "the layers of one group of workers are expected");
  for (int32_t i = 0; i < kinds->view.ndim; i++) {
    if (kinds->shape[i] != 0)
      tvms_interp_builtin_refuse(
          b, "attention of the kind 'mha' is expected: TVM has no others on a CPU but "
             "windows of layers, which are not supported");
  }
  return (uint32_t)(layers->shape[1] - layers->shape[0]);
}

static void check_arguments(const tvms_builtin *b) {
  if (b->count != TVMS_MADE_ARGUMENTS && b->count != TVMS_MADE_ARGUMENTS + 1)
    tvms_interp_paged_refuse(b, "Invalid number of KV cache constructor args: %u",
                             b->count);
  for (uint32_t i = 0; i < TVMS_MADE_ARGUMENTS; i++)
    check_kind(b, i);
  int32_t sizes = b->args[TVMS_MADE_SIZES].tensor->view.ndim;
  if (sizes != 5 && sizes != 6)
    tvms_interp_paged_refuse(b, "5 or 6 sizes of a cache are expected, not %d", sizes);
  check_numbers(b);
}

// ---- Creation ----

static void add_tensor(const tvms_builtin *b, tvms_items *tensors, uint32_t i,
                       tvms_dl_type type, int32_t ndim, const int64_t *shape) {
  tensors->items[i] =
      tvms_value_of_tensor(tvms_interp_builtin_new_tensor(b, type, ndim, shape));
}

static void add_tensors(tvms_paged *p, uint32_t layers) {
  const tvms_builtin *b = p->b;
  tvms_items *tensors =
      tvms_tuple_new(b->frame->interp->heap, TVMS_ROOM_PAGES + layers);
  p->state->items[TVMS_PAGED_TENSORS] =
      (tvms_value){.kind = TVMS_VALUE_TUPLE, .tuple = tensors};
  tvms_dl_type type = b->args[TVMS_MADE_TYPE].tensor->view.dtype;
  int64_t most = size_at(b, 2, 1), size = b->args[TVMS_MADE_KEY_SIZE].i;
  int64_t queries[] = {most, b->args[TVMS_MADE_QUERY_HEADS].i, size};
  int64_t keys[] = {most, b->args[TVMS_MADE_KEY_HEADS].i, size};
  int64_t pages[] = {p->head->total_pages, 2, keys[1], p->head->page_size, size};
  add_tensor(b, tensors, TVMS_ROOM_QUERIES, type, 3, queries);
  add_tensor(b, tensors, TVMS_ROOM_KEYS, type, 3, keys);
  add_tensor(b, tensors, TVMS_ROOM_VALUES, type, 3, keys);
  for (uint32_t i = 0; i < layers; i++)
    add_tensor(b, tensors, TVMS_ROOM_PAGES + i, type, 5, pages);
  queries[2] = b->args[TVMS_MADE_VALUE_SIZE].i;
  add_tensor(b, tensors, TVMS_ROOM_OUTPUT, type, 3, queries);
  add_tensor(b, tensors, TVMS_ROOM_SUMS, float32_type, 2, queries);
  add_tensor(b, tensors, TVMS_ROOM_ALL_SUMS, float32_type, 2, queries);
}

static void keep_arguments(tvms_paged *p) {
  tvms_items *made = tvms_tuple_new(p->b->frame->interp->heap, TVMS_MADE_ARGUMENTS);
  p->state->items[TVMS_PAGED_FUNCTIONS] =
      (tvms_value){.kind = TVMS_VALUE_TUPLE, .tuple = made};
  for (uint32_t i = 0; i < TVMS_MADE_ARGUMENTS; i++)
    made->items[i] = tvms_value_keep(p->b->args[i]);
}

tvms_value tvms_interp_builtin_paged_create(const tvms_builtin *b) {
  check_arguments(b);
  uint32_t layers = layers_of(b);
  int64_t sequences = size_at(b, 0, 0), tokens = size_at(b, 1, 0);
  int64_t page_size = size_at(b, 3, 1);
  bool slides = size_at(b, 4, 0) != 0;
  int64_t pages =
      (tokens + page_size - 1) / page_size + 1 + (slides ? 2 * sequences : 0);
  if (pages > MOST_TOKENS / page_size)
    tvms_interp_builtin_refuse(b, "a smaller cache is expected");
  tvms_paged p;
  tvms_interp_paged_make(&p, b, page_size, pages, slides);
  add_tensors(&p, layers);
  keep_arguments(&p);
  return (tvms_value){.kind = TVMS_VALUE_STATE, .tuple = p.state};
}

// ---- Sequences ----

tvms_value tvms_interp_builtin_paged_clear(const tvms_builtin *b) {
  tvms_paged p;
  tvms_interp_paged_open(&p, b);
  tvms_interp_paged_clear(&p);
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_paged_add(const tvms_builtin *b) {
  tvms_paged p;
  tvms_interp_paged_open(&p, b);
  tvms_interp_paged_add(&p, tvms_interp_builtin_number(b, 1));
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_paged_remove(const tvms_builtin *b) {
  tvms_paged p;
  tvms_interp_paged_open(&p, b);
  tvms_interp_paged_remove(&p, tvms_interp_builtin_number(b, 1));
  return (tvms_value){0};
}

// Keys and values of the tokens that two sequences share within a page.
static void copy_page(const tvms_paged *p, tvms_paged_copy copy) {
  if (!copy.length) return;
  for (uint32_t layer = 0; layer < tvms_interp_attention_layers(p); layer++) {
    tvms_value args[] = {tvms_interp_attention_pages(p, layer),
                         {.kind = TVMS_VALUE_INT, .i = copy.from},
                         {.kind = TVMS_VALUE_INT, .i = copy.to},
                         {.kind = TVMS_VALUE_INT, .i = copy.length}};
    tvms_interp_attention_call(p, tvms_interp_attention_made(p, TVMS_MADE_COPY_PAGE),
                               args, 4);
  }
}

tvms_value tvms_interp_builtin_paged_fork(const tvms_builtin *b) {
  tvms_paged p;
  tvms_interp_paged_open(&p, b);
  int64_t position = b->count > 3 ? tvms_interp_builtin_number(b, 3) : TVMS_PAGED_NONE;
  copy_page(&p, tvms_interp_paged_fork(&p, tvms_interp_builtin_number(b, 1),
                                       tvms_interp_builtin_number(b, 2), position));
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_paged_popn(const tvms_builtin *b) {
  tvms_paged p;
  tvms_interp_paged_open(&p, b);
  copy_page(&p, tvms_interp_paged_pop(&p, tvms_interp_builtin_number(b, 1),
                                      tvms_interp_builtin_number(b, 2)));
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_paged_set_window(const tvms_builtin *b) {
  tvms_paged p;
  tvms_interp_paged_open(&p, b);
  tvms_interp_paged_set_window(&p, tvms_interp_builtin_number(b, 1),
                               tvms_interp_builtin_number(b, 2),
                               tvms_interp_builtin_number(b, 3));
  return (tvms_value){0};
}

// ---- Batches ----

tvms_value tvms_interp_builtin_paged_begin(const tvms_builtin *b) {
  tvms_paged p;
  tvms_interp_paged_open(&p, b);
  if (b->count != 3 && b->count != 4)
    tvms_interp_builtin_refuse(b, "KVState BeginForward only accepts 3 or 4 arguments");
  if (b->count == 4 && b->args[3].kind != TVMS_VALUE_NONE)
    tvms_interp_builtin_refuse(b, "trees of tokens are not supported");
  tvms_interp_paged_begin(&p, tvms_interp_builtin_shape(b, 1),
                          tvms_interp_builtin_shape(b, 2),
                          tvms_interp_attention_most(&p));
  return (tvms_value){0};
}

// Nothing is in progress on a CPU.
tvms_value tvms_interp_builtin_paged_end(const tvms_builtin *b) {
  tvms_paged p;
  tvms_interp_paged_open(&p, b);
  return (tvms_value){0};
}

// ---- Questions ----

tvms_value tvms_interp_builtin_paged_empty(const tvms_builtin *b) {
  tvms_paged p;
  tvms_interp_paged_open(&p, b);
  return (tvms_value){.kind = TVMS_VALUE_BOOL, .i = p.head->sequences == 0};
}

tvms_value tvms_interp_builtin_paged_available(const tvms_builtin *b) {
  tvms_paged p;
  tvms_interp_paged_open(&p, b);
  return (tvms_value){.kind = TVMS_VALUE_INT, .i = p.head->free_pages};
}

tvms_value tvms_interp_builtin_paged_length(const tvms_builtin *b) {
  tvms_paged p;
  tvms_interp_paged_open(&p, b);
  int64_t length = 0;
  for (uint32_t i = 0; i < p.head->sequences; i++)
    length += p.sequences[i].length;
  return (tvms_value){.kind = TVMS_VALUE_INT, .i = length};
}

tvms_value tvms_interp_builtin_paged_positions(const tvms_builtin *b) {
  tvms_paged p;
  tvms_interp_paged_open(&p, b);
  tvms_value plan = p.state->items[TVMS_PAGED_PLAN];
  if (plan.kind != TVMS_VALUE_TUPLE)
    tvms_interp_builtin_refuse(b, "a cache with a batch in progress is expected");
  return tvms_value_keep(plan.tuple->items[TVMS_PLAN_QUERY_POSITIONS]);
}
