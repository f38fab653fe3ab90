// Functions of the virtual machine, which VMShapeLower and LowerRuntimeBuiltin put into programs.
//
// The shape heap is a tensor of int64. A shape is matched and made by pairs of a code and an
// operand, one pair per dimension:
//
//   match_shape(x, heap, 2, 1, 0, 0, 4)    heap[0] = x.shape[0]; x.shape[1] must be 4
//   make_shape(heap, 2, 1, 0, 0, 4)        (heap[0], 4)
//
// A reshaped tensor is a copy here, as every tensor of the interpreter has memory of its own.
// TVM: src/runtime/vm/builtin.cc.
#include "interp/machine.h"

#include <string.h>

enum { ASSERT_NUMBER, STORE, SKIP, ASSERT_SLOT };  // codes of match_shape
enum { USE_NUMBER, LOAD_SLOT };                    // codes of make_shape

typedef struct {
  tvms_interp_frame *frame;
  const tvms_value *args;
  uint32_t count;
  tvms_span span;
} builtin;

TVMS_NORETURN static void wrong_argument(const builtin *b, const char *expected) {
  fault(b->frame, TVMS_D_wrong_argument, b->span, "of the function of the machine",
        expected);
}

static tvms_value at(const builtin *b, uint32_t i) {
  if (i >= b->count) wrong_argument(b, "there are too few");
  return b->args[i];
}

static int64_t number_at(const builtin *b, uint32_t i) {
  tvms_value value = at(b, i);
  if (value.kind != TVMS_VALUE_INT) wrong_argument(b, "a number is expected");
  return value.i;
}

static tvms_tensor *tensor_at(const builtin *b, uint32_t i) {
  tvms_value value = at(b, i);
  if (value.kind != TVMS_VALUE_TENSOR) wrong_argument(b, "a tensor is expected");
  return value.tensor;
}

static const tvms_tensor *shape_at(const builtin *b, uint32_t i) {
  tvms_value value = at(b, i);
  if (value.kind != TVMS_VALUE_SHAPE) wrong_argument(b, "a shape is expected");
  return value.tensor;
}

// The place of a size on the heap.
static int64_t *slot_at(const builtin *b, tvms_tensor *heap, int64_t index) {
  bool inside = index >= 0 && index < tvms_tensor_len(heap) && heap->bytes
                && heap->view.dtype.code == TVMS_DL_INT && heap->view.dtype.bits == 64;
  if (!inside) wrong_argument(b, "a slot of the shape heap is expected");
  return (int64_t *)heap->view.data + index;
}

// ---- Checks ----

static tvms_value nothing(void) {
  return (tvms_value){0};
}

// The text of the check says which value of the program is meant.
static const char *what(const builtin *b) {
  tvms_value last = at(b, b->count - 1);
  bool said = last.kind == TVMS_VALUE_STR && last.text && last.text[0];
  return said ? last.text : "the value";
}

static void expect_kind(const builtin *b, tvms_value_kind kind, const char *expected) {
  if (at(b, 0).kind != (uint8_t)kind)
    fault(b->frame, TVMS_D_kind_mismatch, b->span, what(b), "another value", expected);
}

static void expect_rank(const builtin *b, int32_t ndim, int64_t expected) {
  if (expected >= 0 && ndim != expected)
    fault(b->frame, TVMS_D_rank_mismatch, b->span, what(b), ndim, (uint32_t)expected);
}

static bool same_type(tvms_dl_type a, tvms_dl_type b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

static tvms_dtype dtype_of(tvms_dl_type type) {
  return (tvms_dtype){type.code, type.bits, (int16_t)type.lanes};
}

static tvms_value check_tensor_info(const builtin *b) {
  expect_kind(b, TVMS_VALUE_TENSOR, "a tensor");
  const tvms_tensor *tensor = tensor_at(b, 0);
  expect_rank(b, tensor->view.ndim, number_at(b, 1));
  tvms_value type = at(b, 2);
  bool fits = type.kind != TVMS_VALUE_TYPE || same_type(tensor->view.dtype, type.type);
  char text[2][TVMS_DTYPE_TEXT];
  if (!fits)
    fault(b->frame, TVMS_D_dtype_mismatch, b->span, what(b),
          tvms_dtype_text(dtype_of(tensor->view.dtype), text[0]),
          tvms_dtype_text(dtype_of(type.type), text[1]));
  return nothing();
}

static tvms_value check_shape_info(const builtin *b) {
  expect_kind(b, TVMS_VALUE_SHAPE, "a shape");
  expect_rank(b, shape_at(b, 0)->view.ndim, number_at(b, 1));
  return nothing();
}

static tvms_value check_prim_value_info(const builtin *b) {
  uint8_t kind = at(b, 0).kind;
  bool scalar =
      kind == TVMS_VALUE_INT || kind == TVMS_VALUE_FLOAT || kind == TVMS_VALUE_BOOL;
  if (!scalar) expect_kind(b, TVMS_VALUE_INT, "a number");
  return nothing();
}

static tvms_value check_tuple_info(const builtin *b) {
  expect_kind(b, TVMS_VALUE_TUPLE, "a tuple");
  expect_rank(b, (int32_t)at(b, 0).tuple->len, number_at(b, 1));
  return nothing();
}

static tvms_value check_func_info(const builtin *b) {
  expect_kind(b, TVMS_VALUE_FUNCTION, "a function");
  return nothing();
}

// ---- Sizes ----

static tvms_value alloc_shape_heap(const builtin *b) {
  int64_t size = number_at(b, 0);
  tvms_tensor *heap =
      size >= 0 ? tvms_tensor_new(b->frame->interp->heap,
                                  (tvms_dl_type){TVMS_DL_INT, 64, 1}, 1, &size)
                : NULL;
  if (!heap) fault(b->frame, TVMS_D_tensor_not_made, b->span);
  if (heap->bytes) memset(heap->view.data, 0, heap->bytes);
  return tvms_value_of_tensor(heap);
}

// One size by the pair of arguments that begins at `pair`.
static void match_size(const builtin *b, int64_t got, uint32_t dimension,
                       uint32_t pair) {
  int64_t code = number_at(b, pair), operand = number_at(b, pair + 1);
  if (code == SKIP) return;
  if (code == STORE) {
    *slot_at(b, tensor_at(b, 1), operand) = got;
    return;
  }
  int64_t expected =
      code == ASSERT_SLOT ? *slot_at(b, tensor_at(b, 1), operand) : operand;
  if (got != expected)
    fault(b->frame, TVMS_D_size_mismatch, b->span, dimension, what(b), (long long)got,
          (long long)expected);
}

static tvms_value match_shape(const builtin *b) {
  tvms_value value = at(b, 0);
  bool shaped = value.kind == TVMS_VALUE_SHAPE || value.kind == TVMS_VALUE_TENSOR;
  if (!shaped) expect_kind(b, TVMS_VALUE_TENSOR, "a tensor or a shape");
  expect_rank(b, value.tensor->view.ndim, number_at(b, 2));
  for (int32_t i = 0; i < value.tensor->view.ndim; i++)
    match_size(b, value.tensor->shape[i], (uint32_t)i, 3 + 2 * (uint32_t)i);
  return nothing();
}

static tvms_value match_prim_value(const builtin *b) {
  match_size(b, number_at(b, 0), 0, 2);
  return nothing();
}

static int64_t made_size(const builtin *b, uint32_t pair) {
  int64_t code = number_at(b, pair), operand = number_at(b, pair + 1);
  return code == LOAD_SLOT ? *slot_at(b, tensor_at(b, 0), operand) : operand;
}

static tvms_value make_shape(const builtin *b) {
  int64_t ndim = number_at(b, 1);
  if (ndim < 0 || (uint64_t)ndim * 2 + 2 > b->count)
    wrong_argument(b, "there are too few");
  int64_t *sizes = tvms_arena_array(&b->frame->context->scratch, int64_t, ndim + 1);
  for (uint32_t i = 0; i < (uint32_t)ndim; i++)
    sizes[i] = made_size(b, 2 + 2 * i);
  tvms_tensor *shape = tvms_shape_new(b->frame->interp->heap, (int32_t)ndim, sizes);
  return (tvms_value){.kind = TVMS_VALUE_SHAPE, .tensor = shape};
}

static tvms_value make_prim_value(const builtin *b) {
  return (tvms_value){.kind = TVMS_VALUE_INT, .i = made_size(b, 1)};
}

static tvms_value shape_of(const builtin *b) {
  const tvms_tensor *tensor = tensor_at(b, 0);
  tvms_tensor *shape =
      tvms_shape_new(b->frame->interp->heap, tensor->view.ndim, tensor->shape);
  return (tvms_value){.kind = TVMS_VALUE_SHAPE, .tensor = shape};
}

static tvms_value tensor_to_shape(const builtin *b) {
  const tvms_tensor *tensor = tensor_at(b, 0);
  expect_rank(b, tensor->view.ndim, 1);
  int64_t len = tensor->shape[0];
  int64_t *sizes = tvms_arena_array(&b->frame->context->scratch, int64_t, len + 1);
  for (int64_t i = 0; i < len; i++)
    sizes[i] = tvms_tensor_get(tensor, i).i;
  tvms_tensor *shape = tvms_shape_new(b->frame->interp->heap, (int32_t)len, sizes);
  return (tvms_value){.kind = TVMS_VALUE_SHAPE, .tensor = shape};
}

// ---- Values ----

static tvms_value tuple_getitem(const builtin *b) {
  expect_kind(b, TVMS_VALUE_TUPLE, "a tuple");
  int64_t index = number_at(b, 1);
  const tvms_items *tuple = at(b, 0).tuple;
  if (index < 0 || index >= tuple->len)
    fault(b->frame, TVMS_D_no_such_field, b->span, (long long)index);
  return tvms_value_keep(tuple->items[index]);
}

// The bytes from `offset` on as a tensor of another shape and type.
static tvms_value seen_as(const builtin *b, const tvms_tensor *shape, tvms_dl_type type,
                          int64_t offset) {
  const tvms_tensor *tensor = tensor_at(b, 0);
  tvms_tensor *made =
      tvms_tensor_new(b->frame->interp->heap, type, shape->view.ndim, shape->shape);
  if (!made) fault(b->frame, TVMS_D_tensor_not_made, b->span);
  bool inside = offset >= 0 && (uint64_t)offset <= tensor->bytes
                && made->bytes <= tensor->bytes - (uint64_t)offset;
  if (!inside) fault(b->frame, TVMS_D_tensor_not_made, b->span);
  if (made->bytes)
    memcpy(made->view.data, (const char *)tensor->view.data + offset, made->bytes);
  return tvms_value_of_tensor(made);
}

static tvms_value reshape(const builtin *b) {
  return seen_as(b, shape_at(b, 1), tensor_at(b, 0)->view.dtype, 0);
}

static tvms_value create_view(const builtin *b) {
  tvms_value type = at(b, 2);
  if (type.kind != TVMS_VALUE_TYPE) wrong_argument(b, "a data type is expected");
  if (!tvms_dl_element_size(type.type) || !type.type.lanes)
    wrong_argument(b, "elements of this data type have no address");
  return seen_as(b, shape_at(b, 1), type.type, number_at(b, 3));
}

static tvms_value same_tensor(const builtin *b) {
  return tvms_value_keep(at(b, 0));
}

typedef tvms_value builtin_function(const builtin *b);

static const struct {
  const char *name;
  builtin_function *run;
} functions[] = {
    {"vm.builtin.alloc_shape_heap", alloc_shape_heap},
    {"vm.builtin.check_tensor_info", check_tensor_info},
    {"vm.builtin.check_shape_info", check_shape_info},
    {"vm.builtin.check_prim_value_info", check_prim_value_info},
    {"vm.builtin.check_tuple_info", check_tuple_info},
    {"vm.builtin.check_func_info", check_func_info},
    {"vm.builtin.match_shape", match_shape},
    {"vm.builtin.match_prim_value", match_prim_value},
    {"vm.builtin.make_shape", make_shape},
    {"vm.builtin.make_prim_value", make_prim_value},
    {"vm.builtin.shape_of", shape_of},
    {"vm.builtin.tensor_to_shape", tensor_to_shape},
    {"vm.builtin.tuple_getitem", tuple_getitem},
    {"vm.builtin.reshape", reshape},
    {"vm.builtin.ensure_zero_offset", same_tensor},
    {"vm.builtin.to_device", same_tensor},
    {"runtime.TVMTensorCreateView", create_view},
};

static builtin_function *TVMS_NULLABLE find(tvms_bytes name) {
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    if (tvms_bytes_is(name, functions[i].name)) return functions[i].run;
  }
  return NULL;
}

bool tvms_interp_has_builtin(tvms_bytes name) {
  return find(name) != NULL;
}

tvms_value tvms_interp_call_builtin(tvms_interp_frame *f, tvms_bytes name,
                                    const tvms_value *args, uint32_t count,
                                    tvms_span span) {
  builtin_function *run = find(name);
  TVMS_CHECK(run);
  builtin b = {f, args, count, span};
  return run(&b);
}
