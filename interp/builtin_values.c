// Memory, views of it, tuples, functions and branches.
#include "interp/builtin.h"
#include "support/diag_ids.h"

#include <string.h>

// ---- Memory ----

// Memory is a tensor.
tvms_value tvms_interp_builtin_alloc_storage(const tvms_builtin *b) {
  const tvms_tensor *shape = tvms_interp_builtin_shape(b, 0);
  return tvms_value_of_tensor(tvms_interp_builtin_new_tensor(
      b, tvms_interp_builtin_type(b, 2), shape->view.ndim, shape->shape));
}

// The bytes of the first argument from `offset` on as a tensor of another shape and type; it lies in the memory of
// that one.
static tvms_value seen_as(const tvms_builtin *b, const tvms_tensor *shape,
                          tvms_dl_type type, int64_t offset) {
  return tvms_interp_builtin_view(b, tvms_interp_builtin_tensor(b, 0), offset, type,
                                  shape->view.ndim, shape->shape);
}

tvms_value tvms_interp_builtin_alloc_tensor(const tvms_builtin *b) {
  return seen_as(b, tvms_interp_builtin_shape(b, 2), tvms_interp_builtin_type(b, 3),
                 tvms_interp_builtin_number(b, 1));
}

tvms_value tvms_interp_builtin_reshape(const tvms_builtin *b) {
  return seen_as(b, tvms_interp_builtin_shape(b, 1),
                 tvms_interp_builtin_tensor(b, 0)->view.dtype, 0);
}

tvms_value tvms_interp_builtin_create_view(const tvms_builtin *b) {
  return seen_as(b, tvms_interp_builtin_shape(b, 1), tvms_interp_builtin_type(b, 2),
                 tvms_interp_builtin_number(b, 3));
}

tvms_value tvms_interp_builtin_same(const tvms_builtin *b) {
  return tvms_value_keep(tvms_interp_builtin_at(b, 0));
}

tvms_value tvms_interp_builtin_null_value(const tvms_builtin *b) {
  (void)b;
  return (tvms_value){0};
}

// ---- Tuples ----

static tvms_value items_of(const tvms_builtin *b, tvms_value_kind kind) {
  tvms_items *items = tvms_items_new(b->frame->interp->heap, kind, b->count);
  for (uint32_t i = 0; i < b->count; i++)
    items->items[i] = tvms_value_keep(b->args[i]);
  return (tvms_value){.kind = (uint8_t)kind, .tuple = items};
}

tvms_value tvms_interp_builtin_make_tuple(const tvms_builtin *b) {
  return items_of(b, TVMS_VALUE_TUPLE);
}

static tvms_value *item_at(const tvms_builtin *b) {
  tvms_items *tuple =
      tvms_interp_builtin_items(b, 0, TVMS_VALUE_TUPLE, "a tuple is expected");
  int64_t index = tvms_interp_builtin_number(b, 1);
  if (index < 0 || index >= tuple->len)
    fault(b->frame, TVMS_D_no_such_field, b->span, (long long)index);
  return &tuple->items[index];
}

tvms_value tvms_interp_builtin_tuple_getitem(const tvms_builtin *b) {
  return tvms_value_keep(*item_at(b));
}

tvms_value tvms_interp_builtin_tuple_reset_item(const tvms_builtin *b) {
  tvms_value *item = item_at(b);
  tvms_value_drop(*item);
  *item = (tvms_value){0};
  return (tvms_value){0};
}

// ---- Functions and branches ----

tvms_value tvms_interp_builtin_make_closure(const tvms_builtin *b) {
  uint8_t kind = tvms_interp_builtin_at(b, 0).kind;
  if (kind != TVMS_VALUE_FUNCTION && kind != TVMS_VALUE_CLOSURE)
    tvms_interp_builtin_refuse(b, "a function is expected");
  return items_of(b, TVMS_VALUE_CLOSURE);
}

tvms_value tvms_interp_builtin_invoke_closure(const tvms_builtin *b) {
  tvms_value callee = tvms_interp_builtin_at(b, 0);
  return tvms_interp_invoke(b->frame, callee, b->args + 1, b->count - 1, b->span);
}

tvms_value tvms_interp_builtin_call_tir_dyn(const tvms_builtin *b) {
  if (b->count < 2) tvms_interp_builtin_refuse(b, "there are too few");
  const tvms_tensor *shape = tvms_interp_builtin_shape(b, b->count - 1);
  uint32_t given = b->count - 2, sizes = (uint32_t)shape->view.ndim;
  tvms_value *all = tvms_builtin_scratch(b, tvms_value, given + sizes + 1);
  memcpy(all, b->args + 1, given * sizeof *all);
  for (uint32_t i = 0; i < sizes; i++)
    all[given + i] = (tvms_value){.kind = TVMS_VALUE_INT, .i = shape->shape[i]};
  return tvms_interp_invoke(b->frame, b->args[0], all, given + sizes, b->span);
}

tvms_value tvms_interp_builtin_read_if_cond(const tvms_builtin *b) {
  tvms_value value = tvms_interp_builtin_at(b, 0);
  bool scalar = value.kind == TVMS_VALUE_INT || value.kind == TVMS_VALUE_BOOL;
  bool tensor = value.kind == TVMS_VALUE_TENSOR && tvms_tensor_len(value.tensor) > 0
                && !tvms_scalar_kind_is_real(value.tensor->view.dtype.code);
  if (!scalar && !tensor) fault(b->frame, TVMS_D_condition_not_scalar, b->span);
  int64_t holds = scalar ? value.i : tvms_tensor_get(value.tensor, 0).i;
  return (tvms_value){.kind = TVMS_VALUE_BOOL, .i = holds != 0};
}
