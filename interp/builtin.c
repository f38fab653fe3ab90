// The table of functions of the run time, and their arguments.
#include "interp/builtin.h"

#include "interp/relax.h"
#include "interp/tensor.h"
#include "support/diag_ids.h"

#include <string.h>

static const struct {
  const char *name;
  tvms_builtin_function *run;
} functions[] = {
#define BUILTIN(name, function) {name, tvms_interp_builtin_##function},
#include "interp/builtins.def"
};

tvms_builtin_function *TVMS_NULLABLE tvms_interp_builtin_find(tvms_bytes name) {
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    if (tvms_bytes_is(name, functions[i].name)) return functions[i].run;
  }
  return NULL;
}

TVMS_NORETURN void tvms_interp_builtin_refuse(const tvms_builtin *b,
                                              const char *expected) {
  fault(b->frame, TVMS_D_wrong_argument, b->span, "of the function of the run time",
        expected);
}

tvms_value tvms_interp_builtin_at(const tvms_builtin *b, uint32_t i) {
  if (i >= b->count) tvms_interp_builtin_refuse(b, "there are too few");
  return b->args[i];
}

int64_t tvms_interp_builtin_number(const tvms_builtin *b, uint32_t i) {
  tvms_value value = tvms_interp_builtin_at(b, i);
  if (value.kind != TVMS_VALUE_INT)
    tvms_interp_builtin_refuse(b, "a number is expected");
  return value.i;
}

double tvms_interp_builtin_real(const tvms_builtin *b, uint32_t i) {
  tvms_value value = tvms_interp_builtin_at(b, i);
  if (value.kind == TVMS_VALUE_FLOAT) return value.f;
  return (double)tvms_interp_builtin_number(b, i);
}

tvms_tensor *tvms_interp_builtin_tensor(const tvms_builtin *b, uint32_t i) {
  tvms_value value = tvms_interp_builtin_at(b, i);
  if (value.kind != TVMS_VALUE_TENSOR)
    tvms_interp_builtin_refuse(b, "a tensor is expected");
  return value.tensor;
}

const tvms_tensor *tvms_interp_builtin_shape(const tvms_builtin *b, uint32_t i) {
  tvms_value value = tvms_interp_builtin_at(b, i);
  if (value.kind != TVMS_VALUE_SHAPE)
    tvms_interp_builtin_refuse(b, "a shape is expected");
  return value.tensor;
}

tvms_dl_type tvms_interp_builtin_type(const tvms_builtin *b, uint32_t i) {
  tvms_value value = tvms_interp_builtin_at(b, i);
  if (value.kind != TVMS_VALUE_TYPE)
    tvms_interp_builtin_refuse(b, "a data type is expected");
  if (!tvms_dl_element_size(value.type) || !value.type.lanes)
    tvms_interp_builtin_refuse(b, "elements of this data type have no address");
  return value.type;
}

tvms_items *tvms_interp_builtin_items(const tvms_builtin *b, uint32_t i,
                                      tvms_value_kind kind, const char *expected) {
  tvms_value value = tvms_interp_builtin_at(b, i);
  if (value.kind != (uint8_t)kind) tvms_interp_builtin_refuse(b, expected);
  return value.tuple;
}

tvms_value tvms_interp_builtin_view(const tvms_builtin *b, tvms_tensor *base,
                                    int64_t offset, tvms_dl_type type, int32_t ndim,
                                    const int64_t *shape) {
  if (offset < 0) tvms_interp_builtin_refuse(b, "an offset is negative");
  tvms_tensor *view = tvms_tensor_within(base, (uint64_t)offset, type, ndim, shape);
  if (!view) tvms_interp_no_tensor(b->frame, b->span, type, ndim, shape);
  return tvms_value_of_tensor(view);
}

tvms_tensor *tvms_interp_builtin_new_tensor(const tvms_builtin *b, tvms_dl_type type,
                                            int32_t ndim, const int64_t *shape) {
  return tvms_interp_new_tensor(b->frame, b->span, type, ndim, shape);
}

// A closure gets what it has captured behind the arguments.
static tvms_value invoke_closure(tvms_interp_frame *f, const tvms_items *closure,
                                 const tvms_value *args, uint32_t count,
                                 tvms_span span) {
  uint32_t captured = closure->len - 1;
  tvms_value *all =
      tvms_arena_array(&f->context->scratch, tvms_value, (size_t)count + captured + 1);
  if (count) memcpy(all, args, count * sizeof *all);
  memcpy(all + count, closure->items + 1, captured * sizeof *all);
  return tvms_interp_invoke(f, closure->items[0], all, count + captured, span);
}

tvms_value tvms_interp_invoke(tvms_interp_frame *f, tvms_value callee,
                              const tvms_value *args, uint32_t count, tvms_span span) {
  if (callee.kind == TVMS_VALUE_CLOSURE)
    return invoke_closure(f, callee.tuple, args, count, span);
  if (callee.kind != TVMS_VALUE_FUNCTION) fault(f, TVMS_D_not_a_function, span);
  const tvms_interp *interp = f->interp;
  if (interp->invoke)
    return interp->invoke(interp->invoke_state, callee.function, args, count);
  return tvms_interp_call_value(f, callee.function, args, count, span);
}
