// States that a model keeps between its calls, as values of the interpreter: their areas are tensors of bytes, so that
// they go when their last user does.
//
// TVM: src/runtime/vm/kv_state.cc.
#include "interp/builtin_state.h"

#include "runtime/kv_state.h"

#include <string.h>

static const tvms_dl_type byte_type = {TVMS_DL_UINT, 8, 1};

enum { MOST_ARGUMENTS = 16 };

const char tvms_interp_state_paged[] = "relax.vm.PagedAttentionKVCache";
const char tvms_interp_state_rnn[] = "relax.vm.RNNStateImp";

// ---- What a state asks for ----

static void *area(tvms_paged_host *host, uint32_t which, uint64_t bytes) {
  enum { LEAST = 64 };
  tvms_interp_state_owner *o = (tvms_interp_state_owner *)host;
  tvms_value *item = &o->state->items[TVMS_STATE_AREAS + which];
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
  const tvms_builtin *b = ((tvms_interp_state_owner *)host)->b;
  size_t len = strlen(text) + 1;
  tvms_interp_builtin_refuse(b, memcpy(tvms_builtin_scratch(b, char, len), text, len));
}

static const tvms_dl_tensor *given(tvms_paged_host *host, uint32_t i) {
  return &tvms_interp_builtin_tensor(((tvms_interp_state_owner *)host)->b, i)->view;
}

static tvms_value made_at(const tvms_interp_state_owner *o, uint32_t i) {
  return o->state->items[TVMS_STATE_MADE].tuple->items[i];
}

// The caller's.
static tvms_value value_of(const tvms_interp_state_owner *o,
                           const tvms_paged_argument *a) {
  switch (a->kind) {
  case TVMS_PAGED_INT: return (tvms_value){.kind = TVMS_VALUE_INT, .i = a->i};
  case TVMS_PAGED_REAL: return (tvms_value){.kind = TVMS_VALUE_FLOAT, .f = a->f};
  case TVMS_PAGED_MADE: return tvms_value_keep(made_at(o, a->at));
  case TVMS_PAGED_AREA:
  case TVMS_PAGED_GIVEN: break;
  }
  tvms_tensor *base = a->kind == TVMS_PAGED_GIVEN
                          ? o->b->args[a->at].tensor
                          : o->state->items[TVMS_STATE_AREAS + a->at].tensor;
  return tvms_interp_builtin_view(o->b, base, 0, a->type, a->ndim, a->shape);
}

static void call(tvms_paged_host *host, uint32_t which, const tvms_paged_argument *args,
                 uint32_t count) {
  const tvms_interp_state_owner *o = (const tvms_interp_state_owner *)host;
  tvms_value callee = made_at(o, which), values[MOST_ARGUMENTS] = {{0}};
  for (uint32_t i = 0; i < count; i++)
    values[i] = value_of(o, &args[i]);
  tvms_value_drop(tvms_interp_invoke(o->b->frame, callee, values, count, o->b->span));
  for (uint32_t i = 0; i < count; i++)
    tvms_value_drop(values[i]);
}

tvms_interp_state_owner tvms_interp_state_owner_of(const tvms_builtin *b,
                                                   tvms_items *TVMS_NULLABLE state) {
  return (tvms_interp_state_owner){{area, refuse, call, given}, b, state};
}

tvms_items *tvms_interp_state_new(const tvms_builtin *b, const char *kind,
                                  uint32_t areas, uint32_t made) {
  tvms_heap *heap = b->frame->interp->heap;
  tvms_items *state = tvms_items_new(heap, TVMS_VALUE_STATE, TVMS_STATE_AREAS + areas);
  state->items[TVMS_STATE_NAME] = (tvms_value){.kind = TVMS_VALUE_STR, .text = kind};
  state->items[TVMS_STATE_MADE] =
      (tvms_value){.kind = TVMS_VALUE_TUPLE, .tuple = tvms_tuple_new(heap, made)};
  return state;
}

tvms_interp_state_owner tvms_interp_state_open(const tvms_builtin *b) {
  tvms_value value = tvms_interp_builtin_at(b, 0);
  const char *kind = NULL;
  if (value.kind == TVMS_VALUE_STATE && value.tuple->len > TVMS_STATE_AREAS)
    kind = value.tuple->items[TVMS_STATE_NAME].text;
  if (!kind || (kind != tvms_interp_state_paged && kind != tvms_interp_state_rnn))
    tvms_interp_builtin_refuse(
        b, "a cache with pages or a state of recurrent layers is expected");
  return tvms_interp_state_owner_of(b, value.tuple);
}

// ---- Sequences ----

tvms_value tvms_interp_builtin_kv_clear(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_kv_clear(&o.host);
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_kv_add(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_kv_add(&o.host, tvms_interp_builtin_number(b, 1));
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_kv_remove(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_kv_remove(&o.host, tvms_interp_builtin_number(b, 1));
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_kv_fork(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  int64_t position = b->count > 3 ? tvms_interp_builtin_number(b, 3) : TVMS_PAGED_NONE;
  tvms_kv_fork(&o.host, tvms_interp_builtin_number(b, 1),
               tvms_interp_builtin_number(b, 2), position);
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_kv_popn(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_kv_pop(&o.host, tvms_interp_builtin_number(b, 1),
              tvms_interp_builtin_number(b, 2));
  return (tvms_value){0};
}

// ---- Batches ----

tvms_paged_shape tvms_interp_state_shape(const tvms_builtin *b, uint32_t i) {
  const tvms_tensor *shape = tvms_interp_builtin_shape(b, i);
  return (tvms_paged_shape){shape->shape, shape->view.ndim};
}

tvms_value tvms_interp_builtin_kv_begin(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  if (b->count != 3 && b->count != 4)
    tvms_interp_builtin_refuse(b, "KVState BeginForward only accepts 3 or 4 arguments");
  bool tree = b->count == 4 && b->args[3].kind != TVMS_VALUE_NONE;
  tvms_paged_shape parents =
      tree ? tvms_interp_state_shape(b, 3) : (tvms_paged_shape){0};
  tvms_kv_begin(&o.host, tvms_interp_state_shape(b, 1), tvms_interp_state_shape(b, 2),
                tree ? &parents : NULL);
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_kv_end(const tvms_builtin *b) {
  tvms_interp_state_owner o = tvms_interp_state_open(b);
  tvms_kv_end(&o.host);
  return (tvms_value){0};
}
