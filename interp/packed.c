// relax.run.*: printing, assertions, and results whose shape depends on the data.
//
// TVM writes these in Python over numpy (python/tvm/relax/op/base.py and set.py); unique and
// nonzero give what numpy gives.
#include "interp/packed.h"

#include "interp/machine.h"
#include "interp/prim.h"
#include "interp/unique.h"
#include "runtime/packed.h"

#include <string.h>

// One call in progress.
typedef struct {
  tvms_interp_frame *frame;
  const tvms_value *args;
  uint32_t count;
  tvms_span span;
} packed;

TVMS_NORETURN static void wrong_argument(const packed *p, const char *expected) {
  fault(p->frame, TVMS_D_wrong_argument, p->span, "of the packed function", expected);
}

static tvms_tensor *tensor_at(const packed *p, uint32_t i) {
  if (i >= p->count || p->args[i].kind != TVMS_VALUE_TENSOR) {
    wrong_argument(p, "a tensor is expected");
  }
  return p->args[i].tensor;
}

static tvms_tensor *new_tensor(const packed *p, tvms_dl_type type, int32_t ndim,
                               const int64_t *shape) {
  tvms_tensor *tensor = tvms_tensor_new(p->frame->interp->heap, type, ndim, shape);
  if (!tensor) fault(p->frame, TVMS_D_tensor_not_made, p->span);
  return tensor;
}

static const char *text_at(const packed *p, uint32_t i) {
  if (i >= p->count || p->args[i].kind != TVMS_VALUE_STR) {
    wrong_argument(p, "a text is expected");
  }
  return p->args[i].text ? p->args[i].text : "";
}

// print(format, values…)
static tvms_value run_print(const packed *p) {
  const char *format = text_at(p, 0);
  tvms_interp *interp = p->frame->interp;
  if (interp->print) {
    tvms_value *values =
        tvms_arena_array(&p->frame->context->scratch, tvms_value, p->count);
    memcpy(values, p->args + 1, (p->count - 1) * sizeof *values);
    interp->print(interp->print_state, format, values, p->count - 1);
  }
  return (tvms_value){0};
}

// assert_op(condition, format, values…)
static tvms_value run_assert_op(const packed *p) {
  if (p->count == 0) wrong_argument(p, "a condition is expected");
  tvms_value value = p->args[0];
  bool holds = value.kind == TVMS_VALUE_TENSOR ? tvms_tensor_get(value.tensor, 0).i != 0
                                               : value.i != 0;
  if (!holds) fault(p->frame, TVMS_D_assertion_failed, p->span, "assert_op");
  return (tvms_value){0};
}

static const tvms_dl_type int64_type = {TVMS_DL_INT, 64, 1};

static tvms_value run_shape_to_tensor(const packed *p) {
  if (p->count == 0 || p->args[0].kind != TVMS_VALUE_SHAPE) {
    wrong_argument(p, "a shape is expected");
  }
  const tvms_tensor *shape = p->args[0].tensor;
  int64_t len = shape->view.ndim;
  tvms_tensor *made = new_tensor(p, int64_type, 1, &len);
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
static tvms_value run_nonzero(const packed *p) {
  const tvms_tensor *x = tensor_at(p, 0);
  int64_t count = element_count(x), found = 0;
  for (int64_t i = 0; i < count; i++)
    found += !is_zero(x, i);
  int32_t ndim = x->view.ndim ? x->view.ndim : 1;
  int64_t shape[] = {ndim, found};
  tvms_tensor *made = new_tensor(p, int64_type, 2, shape);
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

static bool flag_at(const packed *p, uint32_t i) {
  return i < p->count && p->args[i].i != 0
         && (p->args[i].kind == TVMS_VALUE_INT || p->args[i].kind == TVMS_VALUE_BOOL);
}

// unique(x, sorted, return_index, return_inverse, return_counts, axis)
static tvms_value run_unique(const packed *p) {
  const tvms_tensor *x = tensor_at(p, 0);
  tvms_interp_unique how = {
      .sorted = flag_at(p, 1),
      .index = flag_at(p, 2),
      .inverse = flag_at(p, 3),
      .counts = flag_at(p, 4),
      .by_axis = p->count > 5 && p->args[5].kind == TVMS_VALUE_INT,
  };
  if (how.by_axis) {
    int64_t axis = p->args[5].i;
    how.axis = axis < 0 ? axis + x->view.ndim : axis;
    if (how.axis < 0 || how.axis >= x->view.ndim) wrong_argument(p, "no such axis");
  }
  return tvms_interp_unique_of(p->frame->interp->heap, &p->frame->context->scratch, x,
                               &how);
}

typedef tvms_value packed_function(const packed *p);

static const struct {
  const char *name;
  packed_function *run;
} functions[] = {
    {"relax.run.print", run_print},
    {"relax.run.assert_op", run_assert_op},
    {"relax.run.shape_to_tensor", run_shape_to_tensor},
    {"relax.run.nonzero", run_nonzero},
    {"relax.run.unique", run_unique},
};

static packed_function *find(tvms_bytes name) {
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    if (tvms_bytes_is(name, functions[i].name)) return functions[i].run;
  }
  return NULL;
}

bool tvms_interp_has_packed(tvms_bytes name) {
  return find(name) || tvms_interp_has_builtin(name)
         || tvms_packed_find(name.text, name.len);
}

// A function of the run time: it gets tensors and numbers, and returns nothing.
static tvms_value call_runtime(const packed *p, tvms_bytes name,
                               tvms_packed_function *run) {
  tvms_memory *memory = &p->frame->context->memory;
  tvms_any *args =
      tvms_arena_array(&p->frame->context->scratch, tvms_any, p->count + 1);
  for (uint32_t i = 0; i < p->count; i++)
    args[i] = tvms_interp_to_any(p->args[i]);
  const char *wrong = run(memory, args, (int32_t)p->count);
  if (wrong) fault(p->frame, TVMS_D_packed_refused, p->span, name.text, wrong);
  return (tvms_value){0};
}

tvms_value tvms_interp_call_packed(tvms_interp_frame *f, tvms_bytes name,
                                   const tvms_value *args, uint32_t count,
                                   tvms_span span) {
  if (tvms_interp_has_builtin(name))
    return tvms_interp_call_builtin(f, name, args, count, span);
  packed_function *run = find(name);
  packed p = {f, args, count, span};
  if (run) return run(&p);
  tvms_packed_function *other = tvms_packed_find(name.text, name.len);
  if (!other) fault(f, TVMS_D_unknown_function, span, name.text);
  return call_runtime(&p, name, other);
}
