// Arguments become what tvm-ffi has for them, results become values of the run.
#include "interp/foreign.h"

#include "interp/prim.h"
#include "interp/tensor.h"
#include "runtime/box.h"
#include "support/diag_ids.h"

#include <string.h>

// ---- Arguments ----

typedef struct {
  tvms_any_object head;
  int64_t *sizes;
  size_t count;
} shape_object;

typedef struct {
  tvms_any_object head;
  tvms_any *items;
  int64_t count;
  int64_t capacity;
  void *deleter;
} array_object;

static tvms_any_object head_of(int32_t type) {
  return (tvms_any_object){.references = (UINT64_C(1) << 32) + 1, .type_index = type};
}

static tvms_any argument(tvms_interp_frame *f, tvms_value value) {
  tvms_arena *scratch = &f->context->scratch;
  if (value.kind == TVMS_VALUE_SHAPE) {
    shape_object *shape = tvms_arena_new(scratch, shape_object);
    *shape = (shape_object){head_of(TVMS_ANY_SHAPE), value.tensor->shape,
                            (size_t)value.tensor->view.ndim};
    return (tvms_any){.type_index = TVMS_ANY_SHAPE, .v.p = shape};
  }
  if (value.kind != TVMS_VALUE_TUPLE) return tvms_interp_to_any(value);
  uint32_t count = value.tuple->len;
  array_object *array = tvms_arena_new(scratch, array_object);
  tvms_any *items = tvms_arena_array(scratch, tvms_any, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++)
    items[i] = argument(f, value.tuple->items[i]);
  *array = (array_object){head_of(TVMS_ANY_ARRAY), items, count, count, NULL};
  return (tvms_any){.type_index = TVMS_ANY_ARRAY, .v.p = array};
}

// ---- Results ----

static void release(tvms_any any) {
  if (any.type_index < TVMS_ANY_OBJECT || !any.v.p) return;
  tvms_any_object *head = any.v.p;
  uint64_t before = __atomic_fetch_sub(&head->references, 1, __ATOMIC_ACQ_REL);
  if ((uint32_t)before == 1 && head->deleter) head->deleter(head, 3);
}

// A copy of a tensor on the host, element by element, whatever its strides.
static tvms_tensor *TVMS_NULLABLE copy_of(tvms_interp_frame *f,
                                          const tvms_dl_tensor *from) {
  uint64_t element = tvms_dl_element_size(from->dtype) * from->dtype.lanes;
  if (!element || from->device.type != TVMS_DL_CPU || from->ndim < 0) return NULL;
  tvms_tensor *made =
      tvms_tensor_new(f->interp->heap, from->dtype, from->ndim, from->shape);
  if (!made) return NULL;
  int64_t count = tvms_tensor_len(made);
  for (int64_t i = 0; i < count; i++) {
    int64_t rest = i, at = 0, step = 1;
    for (int32_t axis = from->ndim; axis-- > 0; rest /= from->shape[axis]) {
      at += rest % from->shape[axis] * (from->strides ? from->strides[axis] : step);
      step *= from->shape[axis];
    }
    memcpy((char *)made->view.data + (uint64_t)i * element,
           (const char *)from->data + from->byte_offset + at * (int64_t)element,
           (size_t)element);
  }
  return made;
}

typedef struct {
  tvms_interp_frame *frame;
  const tvms_value *args;
  uint32_t count;
} result_maker;

// An argument, or a field of one, that is given back.
static bool same_argument(const tvms_value *args, uint32_t count, const void *tensor,
                          tvms_value *value) {
  for (uint32_t i = 0; i < count; i++) {
    const tvms_value *arg = &args[i];
    bool inside = arg->kind == TVMS_VALUE_TUPLE
                  && same_argument(arg->tuple->items, arg->tuple->len, tensor, value);
    if (inside) return true;
    if (arg->kind != TVMS_VALUE_TENSOR || &arg->tensor->view != tensor) continue;
    *value = tvms_value_keep(*arg);
    return true;
  }
  return false;
}

static bool make_value(const result_maker *m, tvms_any any, tvms_value *value);

static bool make_tuple(const result_maker *m, const array_object *array,
                       tvms_value *value) {
  if (array->count < 0 || array->count > UINT32_MAX) return false;
  tvms_items *tuple = tvms_tuple_new(m->frame->interp->heap, (uint32_t)array->count);
  *value = (tvms_value){.kind = TVMS_VALUE_TUPLE, .tuple = tuple};
  for (uint32_t i = 0; i < tuple->len; i++) {
    if (!make_value(m, array->items[i], &tuple->items[i])) return false;
  }
  return true;
}

// The value of a result, which stays the function's. False: values of Relax are not like that.
static bool make_value(const result_maker *m, tvms_any any, tvms_value *value) {
  const void *content =
      any.type_index >= TVMS_ANY_OBJECT ? (char *)any.v.p + TVMS_OBJECT_HEAD : any.v.p;
  const shape_object *shape = any.v.p;
  switch (any.type_index) {
  case TVMS_ANY_NONE: *value = (tvms_value){0}; return true;
  case TVMS_ANY_INT:
  case TVMS_ANY_BOOL:
    *value = (tvms_value){.i = any.v.i};
    value->kind = any.type_index == TVMS_ANY_INT ? TVMS_VALUE_INT : TVMS_VALUE_BOOL;
    return true;
  case TVMS_ANY_FLOAT:
    *value = (tvms_value){.kind = TVMS_VALUE_FLOAT, .f = any.v.f};
    return true;
  case TVMS_ANY_DL_TENSOR: return same_argument(m->args, m->count, content, value);
  case TVMS_ANY_TENSOR: {
    tvms_tensor *copy = copy_of(m->frame, content);
    if (copy) *value = tvms_value_of_tensor(copy);
    return copy != NULL;
  }
  case TVMS_ANY_SHAPE:
    if (shape->count > INT32_MAX) return false;
    *value =
        (tvms_value){.kind = TVMS_VALUE_SHAPE,
                     .tensor = tvms_shape_new(m->frame->interp->heap,
                                              (int32_t)shape->count, shape->sizes)};
    return true;
  case TVMS_ANY_ARRAY: return make_tuple(m, any.v.p, value);
  default: return false;
  }
}

// ---- Calls ----

static const char *TVMS_NULLABLE call(const tvms_foreign *foreign, const char *name,
                                      const tvms_any *args, int32_t count,
                                      tvms_any *result, const char **kind) {
  tvms_safe_call function;
  void *self;
  *result = (tvms_any){.type_index = TVMS_ANY_NONE};
  *kind = name;
  if (!foreign->find(foreign->state, name, &function, &self)) return "it is not here";
  if (function(self, args, count, result) == 0) return NULL;
  return foreign->error(foreign->state, kind);
}

tvms_value tvms_interp_foreign_call(tvms_interp_frame *f, const char *name,
                                    const tvms_value *args, uint32_t count,
                                    tvms_span span) {
  tvms_any *packed =
      tvms_arena_array(&f->context->scratch, tvms_any, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++)
    packed[i] = argument(f, args[i]);
  tvms_any result;
  const char *kind,
      *wrong = call(f->interp->foreign, name, packed, (int32_t)count, &result, &kind);
  if (wrong) fault(f, TVMS_D_compiled_code_raised, span, kind, wrong);
  result_maker maker = {f, args, count};
  tvms_value value;
  bool made = make_value(&maker, result, &value);
  release(result);
  if (!made)
    fault(f, TVMS_D_packed_refused, span, name,
          "what it returns is not a value of Relax");
  return value;
}

const char *tvms_interp_foreign_object(const tvms_foreign *foreign, const char *name,
                                       const tvms_any *args, int32_t count,
                                       tvms_any *result, const char **kind) {
  tvms_any given;
  const char *wrong = call(foreign, name, args, count, &given, kind);
  if (wrong) return wrong;
  bool lent =
      given.type_index == TVMS_ANY_DL_TENSOR || given.type_index == TVMS_ANY_TEXT;
  for (int32_t i = 0; i < count && !lent; i++)
    lent = given.type_index >= TVMS_ANY_OBJECT && given.v.p == args[i].v.p;
  if (!lent) {
    *result = given;
    return NULL;
  }
  *kind = "ValueError";
  int32_t status = tvms_box_find("vm.builtin.copy")(NULL, &given, 1, result);
  return status ? "what it returns cannot be kept" : NULL;
}

const char *tvms_interp_foreign_number(const tvms_foreign *foreign, const char *name,
                                       const tvms_any *args, int32_t count,
                                       int64_t *whole, double *real,
                                       const char **kind) {
  tvms_any result;
  const char *wrong = call(foreign, name, args, count, &result, kind);
  bool is_real = !wrong && result.type_index == TVMS_ANY_FLOAT;
  bool is_whole = !wrong && result.type_index >= TVMS_ANY_INT && !is_real
                  && result.type_index <= TVMS_ANY_POINTER;
  tvms_dl_type from = {is_real ? TVMS_DL_FLOAT : TVMS_DL_INT, 64, 1};
  tvms_scalar value = {.i = 0};
  if (is_real) value.f = result.v.f;
  if (is_whole) value.i = result.v.i;
  *whole = tvms_scalar_convert(value, from, (tvms_dl_type){TVMS_DL_INT, 64, 1}).i;
  *real = tvms_scalar_convert(value, from, (tvms_dl_type){TVMS_DL_FLOAT, 64, 1}).f;
  if (!wrong) release(result);
  return wrong;
}
