// relax.run.*: printing, assertions, and results whose shape depends on the data.
//
// TVM writes these in Python over numpy; unique and nonzero give what numpy gives.
#include "interp/builtin.h"
#include "interp/packed.h"
#include "interp/unique.h"
#include "support/diag_ids.h"

#include <string.h>

static const char *text_at(const tvms_builtin *b, uint32_t i) {
  tvms_value value = tvms_interp_builtin_at(b, i);
  if (value.kind != TVMS_VALUE_STR) tvms_interp_builtin_refuse(b, "a text is expected");
  return value.text ? value.text : "";
}

// print(format, values…)
tvms_value tvms_interp_builtin_run_print(const tvms_builtin *b) {
  const char *format = text_at(b, 0);
  tvms_interp *interp = b->frame->interp;
  if (interp->print) {
    tvms_value *values =
        tvms_arena_array(&b->frame->context->scratch, tvms_value, b->count);
    memcpy(values, b->args + 1, (b->count - 1) * sizeof *values);
    interp->print(interp->print_state, format, values, b->count - 1);
  }
  return (tvms_value){0};
}

// invoke_debug_func(nothing, name, place, values…): calls the function with the place and the values.
tvms_value tvms_interp_builtin_invoke_debug(const tvms_builtin *b) {
  if (b->count < 3)
    tvms_interp_builtin_refuse(b, "nothing, a name and a place are expected");
  if (b->args[0].kind != TVMS_VALUE_NONE)
    tvms_interp_builtin_refuse(b, "IOEffect is expected to be lowered to None.");
  const char *name = text_at(b, 1);
  text_at(b, 2);
  tvms_value_drop(tvms_interp_call_packed(b->frame,
                                          (tvms_bytes){name, (uint32_t)strlen(name)},
                                          b->args + 2, b->count - 2, b->span));
  return (tvms_value){0};
}

// debug_print(place, tensor)
tvms_value tvms_interp_builtin_debug_print(const tvms_builtin *b) {
  const char *place = text_at(b, 0);
  tvms_value tensor = tvms_value_of_tensor(tvms_interp_builtin_tensor(b, 1));
  tvms_interp *interp = b->frame->interp;
  size_t size = strlen(place) + sizeof ": {}";
  char *format = tvms_builtin_scratch(b, char, size);
  memcpy(format, place, strlen(place));
  memcpy(format + strlen(place), ": {}", sizeof ": {}");
  if (interp->print) interp->print(interp->print_state, format, &tensor, 1);
  return (tvms_value){0};
}

// assert_op(condition, format, values…)
tvms_value tvms_interp_builtin_run_assert_op(const tvms_builtin *b) {
  if (b->count == 0) tvms_interp_builtin_refuse(b, "a condition is expected");
  tvms_value value = b->args[0];
  bool holds = value.kind == TVMS_VALUE_TENSOR ? tvms_tensor_get(value.tensor, 0).i != 0
                                               : value.i != 0;
  if (!holds) fault(b->frame, TVMS_D_assertion_failed, b->span, "assert_op");
  return (tvms_value){0};
}

static const tvms_dl_type int64_type = {TVMS_DL_INT, 64, 1};

tvms_value tvms_interp_builtin_run_shape_to_tensor(const tvms_builtin *b) {
  if (b->count == 0 || b->args[0].kind != TVMS_VALUE_SHAPE) {
    tvms_interp_builtin_refuse(b, "a shape is expected");
  }
  const tvms_tensor *shape = b->args[0].tensor;
  int64_t len = shape->view.ndim;
  tvms_tensor *made = tvms_interp_builtin_new_tensor(b, int64_type, 1, &len);
  for (int64_t i = 0; i < len; i++) {
    tvms_tensor_set(made, i, (tvms_scalar){.i = shape->shape[i]});
  }
  return tvms_value_of_tensor(made);
}

static int64_t element_count(const tvms_tensor *tensor) {
  int64_t count = 1;
  for (int32_t i = 0; i < tensor->view.ndim; i++)
    count *= tensor->shape[i];
  return count;
}

static bool is_real(const tvms_tensor *tensor) {
  uint8_t code = tensor->view.dtype.code;
  return code == TVMS_DL_FLOAT || code == TVMS_DL_BFLOAT;
}

static bool is_zero(const tvms_tensor *tensor, int64_t at) {
  tvms_scalar value = tvms_tensor_get(tensor, at);
  return is_real(tensor) ? value.f == 0 : value.i == 0;
}

// The places of the elements that are not zero: one row per dimension, a scalar has one.
tvms_value tvms_interp_builtin_run_nonzero(const tvms_builtin *b) {
  const tvms_tensor *x = tvms_interp_builtin_tensor(b, 0);
  int64_t count = element_count(x), found = 0;
  for (int64_t i = 0; i < count; i++)
    found += !is_zero(x, i);
  int32_t ndim = x->view.ndim ? x->view.ndim : 1;
  int64_t shape[] = {ndim, found};
  tvms_tensor *made = tvms_interp_builtin_new_tensor(b, int64_type, 2, shape);
  int64_t at = 0;
  for (int64_t i = 0; i < count; i++) {
    if (is_zero(x, i)) continue;
    int64_t rest = i;
    for (int32_t d = ndim; d > 0; d--) {
      int64_t size = x->view.ndim ? x->shape[d - 1] : 1;
      tvms_tensor_set(made, (d - 1) * found + at, (tvms_scalar){.i = rest % size});
      rest /= size;
    }
    at++;
  }
  return tvms_value_of_tensor(made);
}

static bool flag_at(const tvms_builtin *b, uint32_t i) {
  return i < b->count && b->args[i].i != 0
         && (b->args[i].kind == TVMS_VALUE_INT || b->args[i].kind == TVMS_VALUE_BOOL);
}

// unique(x, sorted, return_index, return_inverse, return_counts, axis)
tvms_value tvms_interp_builtin_run_unique(const tvms_builtin *b) {
  const tvms_tensor *x = tvms_interp_builtin_tensor(b, 0);
  tvms_interp_unique how = {
      .sorted = flag_at(b, 1),
      .index = flag_at(b, 2),
      .inverse = flag_at(b, 3),
      .counts = flag_at(b, 4),
      .by_axis = b->count > 5 && b->args[5].kind == TVMS_VALUE_INT,
  };
  if (x->view.dtype.lanes != 1 || x->view.dtype.bits > 64)
    tvms_interp_builtin_refuse(b, "a tensor of numbers is expected");
  if (how.by_axis) {
    int64_t axis = b->args[5].i;
    how.axis = axis < 0 ? axis + x->view.ndim : axis;
    if (how.axis < 0 || how.axis >= x->view.ndim)
      tvms_interp_builtin_refuse(b, "no such axis");
  }
  return tvms_interp_unique_of(b->frame->interp->heap, &b->frame->context->scratch, x,
                               &how);
}
