// The cache of attention with pages (runtime/paged.h) as a state of the interpreter: its areas are tensors of bytes, so
// that it goes when its last user does.
//
// TVM: src/runtime/vm/paged_kv_cache.cc, kv_state.cc.
#include "interp/builtin.h"
#include "runtime/paged_attention.h"
#include "runtime/paged_create.h"
#include "runtime/paged_plan.h"

#include <stdio.h>
#include <string.h>

static const char kind_of_cache[] = "relax.vm.PagedAttentionKVCache";
static const tvms_dl_type byte_type = {TVMS_DL_UINT, 8, 1};

enum { MOST_ARGUMENTS = 16 };

// Items of the state; the first is its kind.
enum { ITEM_KIND, ITEM_MADE, ITEM_AREAS };

// A cache in a call.
typedef struct {
  tvms_paged_host host;  // first
  const tvms_builtin *b;
  tvms_items *state;
} owner;

// ---- What the cache asks for ----

static void *area(tvms_paged_host *host, uint32_t which, uint64_t bytes) {
  enum { LEAST = 64 };
  owner *o = (owner *)host;
  tvms_value *item = &o->state->items[ITEM_AREAS + which];
  tvms_tensor *old = item->kind == TVMS_VALUE_TENSOR ? item->tensor : NULL;
  if (old && old->bytes >= bytes) return old->view.data;
  if (old && bytes < old->bytes * 2) bytes = old->bytes * 2;
  int64_t size = bytes > INT64_MAX ? INT64_MAX : bytes < LEAST ? LEAST : (int64_t)bytes;
  tvms_tensor *made = tvms_interp_builtin_new_tensor(o->b, byte_type, 1, &size);
  if (old) memcpy(made->view.data, old->view.data, old->bytes);
  tvms_value_drop(*item);
  *item = tvms_value_of_tensor(made);
  return made->view.data;
}

static void refuse(tvms_paged_host *host, const char *text) {
  const tvms_builtin *b = ((owner *)host)->b;
  size_t len = strlen(text) + 1;
  tvms_interp_builtin_refuse(b, memcpy(tvms_builtin_scratch(b, char, len), text, len));
}

static const tvms_dl_tensor *given(tvms_paged_host *host, uint32_t i) {
  return &tvms_interp_builtin_tensor(((owner *)host)->b, i)->view;
}

static tvms_value made_at(const owner *o, uint32_t i) {
  return o->state->items[ITEM_MADE].tuple->items[i];
}

// The caller's.
static tvms_value value_of(const owner *o, const tvms_paged_argument *a) {
  switch (a->kind) {
  case TVMS_PAGED_INT: return (tvms_value){.kind = TVMS_VALUE_INT, .i = a->i};
  case TVMS_PAGED_REAL: return (tvms_value){.kind = TVMS_VALUE_FLOAT, .f = a->f};
  case TVMS_PAGED_MADE: return tvms_value_keep(made_at(o, a->at));
  case TVMS_PAGED_AREA:
  case TVMS_PAGED_GIVEN: break;
  }
  tvms_tensor *base = a->kind == TVMS_PAGED_GIVEN
                          ? o->b->args[a->at].tensor
                          : o->state->items[ITEM_AREAS + a->at].tensor;
  return tvms_interp_builtin_view(o->b, base, 0, a->type, a->ndim, a->shape);
}

static void call(tvms_paged_host *host, uint32_t which, const tvms_paged_argument *args,
                 uint32_t count) {
  const owner *o = (const owner *)host;
  tvms_value callee = made_at(o, which), values[MOST_ARGUMENTS] = {{0}};
  if (callee.kind == TVMS_VALUE_TUPLE)
    callee = callee.tuple->items[which == TVMS_MADE_MERGE ? 0 : 1];
  for (uint32_t i = 0; i < count; i++)
    values[i] = value_of(o, &args[i]);
  tvms_value_drop(tvms_interp_invoke(o->b->frame, callee, values, count, o->b->span));
  for (uint32_t i = 0; i < count; i++)
    tvms_value_drop(values[i]);
}

static owner owner_of(const tvms_builtin *b, tvms_items *TVMS_NULLABLE state) {
  return (owner){{area, refuse, call, given}, b, state};
}

// The cache that is the first argument.
static tvms_paged open(owner *o, const tvms_builtin *b) {
  tvms_value value = tvms_interp_builtin_at(b, 0);
  bool is_cache = value.kind == TVMS_VALUE_STATE && value.tuple->len > ITEM_AREAS
                  && value.tuple->items[ITEM_KIND].text == kind_of_cache;
  if (!is_cache) tvms_interp_builtin_refuse(b, "a cache with pages is expected");
  *o = owner_of(b, value.tuple);
  return tvms_paged_open(&o->host);
}

// ---- Creation ----

static void refuse_argument(const tvms_builtin *b, uint32_t i) {
  char *text = tvms_builtin_scratch(b, char, 80);
  snprintf(text, 80, "argument %u of a cache is not of the kind that it takes", i);
  tvms_interp_builtin_refuse(b, text);
}

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
  if (kinds[i] && b->args[i].kind != kinds[i]) refuse_argument(b, i);
}

static void check_arguments(const tvms_builtin *b) {
  if (b->count != TVMS_MADE_ARGUMENTS && b->count != TVMS_MADE_ARGUMENTS + 1) {
    char *text = tvms_builtin_scratch(b, char, 80);
    snprintf(text, 80, "Invalid number of KV cache constructor args: %u", b->count);
    tvms_interp_builtin_refuse(b, text);
  }
  for (uint32_t i = 0; i < TVMS_MADE_ARGUMENTS; i++)
    check_kind(b, i);
}

static uint8_t function_at(const tvms_builtin *b, uint32_t i) {
  tvms_value value = b->args[i];
  if (value.kind == TVMS_VALUE_NONE) return TVMS_PAGED_NO_FUNCTION;
  if (value.kind != TVMS_VALUE_TUPLE) return TVMS_PAGED_FUNCTION;
  if (!value.tuple->len) return TVMS_PAGED_NO_FUNCTION;
  if (i == TVMS_MADE_MERGE) return TVMS_PAGED_FUNCTION;
  tvms_value whose = value.tuple->items[0];
  bool own = value.tuple->len == 2 && whose.kind == TVMS_VALUE_STR && whose.text
             && tvms_paged_is_own(whose.text);
  return own ? TVMS_PAGED_FUNCTION : TVMS_PAGED_OTHER_FUNCTION;
}

static tvms_paged_shape shape_at(const tvms_builtin *b, uint32_t i) {
  const tvms_tensor *shape = b->args[i].tensor;
  return (tvms_paged_shape){shape->shape, shape->view.ndim};
}

static tvms_paged_made made_of(const tvms_builtin *b) {
  uint8_t transfers = b->args[TVMS_MADE_TRANSFERS].kind;
  bool known = transfers == TVMS_VALUE_BOOL || transfers == TVMS_VALUE_INT;
  tvms_paged_made made = {
      .sizes = shape_at(b, TVMS_MADE_SIZES),
      .layers = shape_at(b, TVMS_MADE_LAYERS),
      .kinds = shape_at(b, TVMS_MADE_KINDS),
      .query_heads = b->args[TVMS_MADE_QUERY_HEADS].i,
      .key_heads = b->args[TVMS_MADE_KEY_HEADS].i,
      .key_size = b->args[TVMS_MADE_KEY_SIZE].i,
      .value_size = b->args[TVMS_MADE_VALUE_SIZE].i,
      .rotary_mode = b->args[TVMS_MADE_ROTARY_MODE].i,
      .rotary_scale = tvms_interp_builtin_real(b, TVMS_MADE_ROTARY_SCALE),
      .rotary_theta = tvms_interp_builtin_real(b, TVMS_MADE_ROTARY_THETA),
      .rotary_factors = b->args[TVMS_MADE_ROTARY_FACTORS].kind == TVMS_VALUE_TENSOR,
      .transfers = !known || b->args[TVMS_MADE_TRANSFERS].i,
      .type = b->args[TVMS_MADE_TYPE].tensor->view.dtype,
  };
  for (uint32_t i = TVMS_MADE_APPEND; i < TVMS_MADE_ARGUMENTS; i++)
    made.functions[i] = function_at(b, i);
  return made;
}

tvms_value tvms_interp_builtin_paged_create(const tvms_builtin *b) {
  check_arguments(b);
  tvms_paged_made made = made_of(b);
  tvms_heap *heap = b->frame->interp->heap;
  owner o = owner_of(b, NULL);
  uint32_t areas = tvms_paged_areas(&o.host, &made);
  o.state = tvms_items_new(heap, TVMS_VALUE_STATE, ITEM_AREAS + areas);
  o.state->items[ITEM_KIND] =
      (tvms_value){.kind = TVMS_VALUE_STR, .text = kind_of_cache};
  tvms_items *args = tvms_tuple_new(heap, TVMS_MADE_ARGUMENTS);
  o.state->items[ITEM_MADE] = (tvms_value){.kind = TVMS_VALUE_TUPLE, .tuple = args};
  for (uint32_t i = 0; i < TVMS_MADE_ARGUMENTS; i++)
    args->items[i] = tvms_value_keep(b->args[i]);
  tvms_paged_create(&o.host, &made);
  return (tvms_value){.kind = TVMS_VALUE_STATE, .tuple = o.state};
}

// ---- Sequences ----

tvms_value tvms_interp_builtin_paged_clear(const tvms_builtin *b) {
  owner o;
  tvms_paged p = open(&o, b);
  tvms_paged_clear(&p);
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_paged_add(const tvms_builtin *b) {
  owner o;
  tvms_paged p = open(&o, b);
  tvms_paged_add(&p, tvms_interp_builtin_number(b, 1));
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_paged_remove(const tvms_builtin *b) {
  owner o;
  tvms_paged p = open(&o, b);
  tvms_paged_remove(&p, tvms_interp_builtin_number(b, 1));
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_paged_fork(const tvms_builtin *b) {
  owner o;
  tvms_paged p = open(&o, b);
  int64_t position = b->count > 3 ? tvms_interp_builtin_number(b, 3) : TVMS_PAGED_NONE;
  tvms_paged_fork(&p, tvms_interp_builtin_number(b, 1),
                  tvms_interp_builtin_number(b, 2), position);
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_paged_popn(const tvms_builtin *b) {
  owner o;
  tvms_paged p = open(&o, b);
  tvms_paged_pop(&p, tvms_interp_builtin_number(b, 1),
                 tvms_interp_builtin_number(b, 2));
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_paged_set_window(const tvms_builtin *b) {
  owner o;
  tvms_paged p = open(&o, b);
  tvms_paged_set_window(&p, tvms_interp_builtin_number(b, 1),
                        tvms_interp_builtin_number(b, 2),
                        tvms_interp_builtin_number(b, 3));
  return (tvms_value){0};
}

// ---- Batches ----

tvms_value tvms_interp_builtin_paged_begin(const tvms_builtin *b) {
  owner o;
  tvms_paged p = open(&o, b);
  if (b->count != 3 && b->count != 4)
    tvms_interp_builtin_refuse(b, "KVState BeginForward only accepts 3 or 4 arguments");
  if (b->count == 4 && b->args[3].kind != TVMS_VALUE_NONE)
    tvms_interp_builtin_refuse(b, "trees of tokens are not supported");
  const tvms_tensor *ids = tvms_interp_builtin_shape(b, 1);
  const tvms_tensor *lengths = tvms_interp_builtin_shape(b, 2);
  tvms_paged_begin(&p, (tvms_paged_shape){ids->shape, ids->view.ndim},
                   (tvms_paged_shape){lengths->shape, lengths->view.ndim});
  return (tvms_value){0};
}

// Nothing is in progress on a CPU.
tvms_value tvms_interp_builtin_paged_end(const tvms_builtin *b) {
  owner o;
  tvms_paged p = open(&o, b);
  (void)p;
  return (tvms_value){0};
}

// ---- Attention ----

// Of layer argument 1, scaled by argument 2.
static tvms_value attend(const tvms_builtin *b,
                         void (*how)(tvms_paged *p, int64_t layer, double scale)) {
  owner o;
  tvms_paged p = open(&o, b);
  how(&p, tvms_interp_builtin_number(b, 1), tvms_interp_builtin_real(b, 2));
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_attention_fused(const tvms_builtin *b) {
  return attend(b, tvms_paged_attend_fused);
}

tvms_value tvms_interp_builtin_attention_self(const tvms_builtin *b) {
  return attend(b, tvms_paged_attend_self);
}

tvms_value tvms_interp_builtin_attention_cross(const tvms_builtin *b) {
  return attend(b, tvms_paged_attend_cross);
}

// ---- Questions ----

tvms_value tvms_interp_builtin_paged_empty(const tvms_builtin *b) {
  owner o;
  tvms_paged p = open(&o, b);
  return (tvms_value){.kind = TVMS_VALUE_BOOL, .i = p.head->sequences == 0};
}

tvms_value tvms_interp_builtin_paged_available(const tvms_builtin *b) {
  owner o;
  tvms_paged p = open(&o, b);
  return (tvms_value){.kind = TVMS_VALUE_INT, .i = p.head->free_pages};
}

tvms_value tvms_interp_builtin_paged_length(const tvms_builtin *b) {
  owner o;
  tvms_paged p = open(&o, b);
  return (tvms_value){.kind = TVMS_VALUE_INT, .i = tvms_paged_length(&p)};
}

tvms_value tvms_interp_builtin_paged_positions(const tvms_builtin *b) {
  owner o;
  tvms_paged p = open(&o, b);
  tvms_paged_check_batch(&p);
  static const tvms_dl_type type = {TVMS_DL_INT, 32, 1};
  int64_t count = p.head->batch.tokens;
  tvms_tensor *made = tvms_interp_builtin_new_tensor(b, type, 1, &count);
  memcpy(made->view.data, area(&o.host, TVMS_PAGED_PLAN + TVMS_PLAN_QUERY_POSITIONS, 0),
         (size_t)count * sizeof(int32_t));
  return tvms_value_of_tensor(made);
}

tvms_value tvms_interp_builtin_paged_debug(const tvms_builtin *b) {
  owner o;
  tvms_paged p = open(&o, b);
  tvms_paged_debug(&p, tvms_interp_builtin_number(b, 1),
                   tvms_interp_builtin_number(b, 2), tvms_interp_builtin_number(b, 3));
  return (tvms_value){0};
}
