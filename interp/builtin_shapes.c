// Checks and sizes, which VMShapeLower puts into programs.
//
// The shape heap is a tensor of int64. A shape is matched and made by pairs of a code and an
// operand, one pair per dimension:
//
//   match_shape(x, heap, 2, 1, 0, 0, 4)    heap[0] = x.shape[0]; x.shape[1] must be 4
//   make_shape(heap, 2, 1, 0, 0, 4)        (heap[0], 4)
#include "interp/builtin.h"
#include "runtime/number.h"
#include "support/diag_ids.h"

#include <string.h>

enum { ASSERT_NUMBER, STORE, SKIP, ASSERT_SLOT };  // codes of match_shape
enum { USE_NUMBER, LOAD_SLOT };                    // codes of make_shape

// The place of a size on the heap.
static int64_t *slot_at(const tvms_builtin *b, tvms_tensor *heap, int64_t index) {
  bool inside = index >= 0 && index < tvms_tensor_len(heap) && heap->bytes
                && heap->view.dtype.code == TVMS_DL_INT && heap->view.dtype.bits == 64;
  if (!inside) tvms_interp_builtin_refuse(b, "a slot of the shape heap is expected");
  return (int64_t *)heap->view.data + index;
}

// ---- Checks ----

static tvms_value nothing(void) {
  return (tvms_value){0};
}

// The text of the check says which value of the program is meant, TVM's is
// "ErrorContext(fn=main, loc=param[0], param=x, annotation=...) ". Of a match_cast it has the type only, and the name
// is in the executable.
static const char *what(const tvms_builtin *b) {
  tvms_value last = tvms_interp_builtin_at(b, b->count - 1);
  bool said = last.kind == TVMS_VALUE_STR && last.text && last.text[0];
  if (!said) return "the value";
  const char *begin = strstr(last.text, "param="), *text = last.text;
  const tvms_interp *interp = b->frame->interp;
  const char *name =
      begin || !interp->checked ? NULL : interp->checked(interp->tell_state);
  if (name) return name;
  size_t len = strlen(text);
  if (begin) {
    text = begin + strlen("param=");
    len = strcspn(text, ",)");
  }
  while (len && text[len - 1] == ' ')
    len--;
  return tvms_arena_text(&b->frame->context->arena, text, len);
}

static void expect_kind(const tvms_builtin *b, tvms_value_kind kind,
                        const char *expected) {
  if (tvms_interp_builtin_at(b, 0).kind != (uint8_t)kind)
    fault(b->frame, TVMS_D_kind_mismatch, b->span, what(b), "another value", expected);
}

static void expect_rank(const tvms_builtin *b, int32_t ndim, int64_t expected) {
  if (expected >= 0 && ndim != expected)
    fault(b->frame, TVMS_D_rank_mismatch, b->span, what(b), ndim, (uint32_t)expected);
}

static tvms_dtype dtype_of(tvms_dl_type type) {
  return (tvms_dtype){type.code, type.bits, (int16_t)type.lanes};
}

tvms_value tvms_interp_builtin_check_tensor_info(const tvms_builtin *b) {
  expect_kind(b, TVMS_VALUE_TENSOR, "a tensor");
  const tvms_tensor *tensor = tvms_interp_builtin_tensor(b, 0);
  expect_rank(b, tensor->view.ndim, tvms_interp_builtin_number(b, 1));
  tvms_value type = tvms_interp_builtin_at(b, 2);
  bool fits =
      type.kind != TVMS_VALUE_TYPE || tvms_dl_same_type(tensor->view.dtype, type.type);
  char text[2][TVMS_DTYPE_TEXT];
  if (!fits)
    fault(b->frame, TVMS_D_dtype_mismatch, b->span, what(b),
          tvms_dtype_text(dtype_of(tensor->view.dtype), text[0]),
          tvms_dtype_text(dtype_of(type.type), text[1]));
  return nothing();
}

tvms_value tvms_interp_builtin_check_shape_info(const tvms_builtin *b) {
  expect_kind(b, TVMS_VALUE_SHAPE, "a shape");
  expect_rank(b, tvms_interp_builtin_shape(b, 0)->view.ndim,
              tvms_interp_builtin_number(b, 1));
  return nothing();
}

tvms_value tvms_interp_builtin_check_prim_value_info(const tvms_builtin *b) {
  uint8_t kind = tvms_interp_builtin_at(b, 0).kind;
  bool scalar =
      kind == TVMS_VALUE_INT || kind == TVMS_VALUE_FLOAT || kind == TVMS_VALUE_BOOL;
  if (!scalar) expect_kind(b, TVMS_VALUE_INT, "a number");
  return nothing();
}

tvms_value tvms_interp_builtin_check_tuple_info(const tvms_builtin *b) {
  expect_kind(b, TVMS_VALUE_TUPLE, "a tuple");
  expect_rank(b, (int32_t)tvms_interp_builtin_at(b, 0).tuple->len,
              tvms_interp_builtin_number(b, 1));
  return nothing();
}

tvms_value tvms_interp_builtin_check_string_info(const tvms_builtin *b) {
  expect_kind(b, TVMS_VALUE_STR, "a text");
  return nothing();
}

tvms_value tvms_interp_builtin_check_func_info(const tvms_builtin *b) {
  if (tvms_interp_builtin_at(b, 0).kind != TVMS_VALUE_CLOSURE)
    expect_kind(b, TVMS_VALUE_FUNCTION, "a function");
  return nothing();
}

// ---- Sizes ----

tvms_value tvms_interp_builtin_alloc_shape_heap(const tvms_builtin *b) {
  int64_t size = tvms_interp_builtin_number(b, 0);
  tvms_tensor *heap =
      tvms_interp_builtin_new_tensor(b, (tvms_dl_type){TVMS_DL_INT, 64, 1}, 1, &size);
  if (heap->bytes) memset(heap->view.data, 0, heap->bytes);
  return tvms_value_of_tensor(heap);
}

// One size by the pair of arguments that begins at `pair`.
static void match_size(const tvms_builtin *b, int64_t got, uint32_t dimension,
                       uint32_t pair) {
  int64_t code = tvms_interp_builtin_number(b, pair),
          operand = tvms_interp_builtin_number(b, pair + 1);
  if (code == SKIP) return;
  if (code == STORE) {
    *slot_at(b, tvms_interp_builtin_tensor(b, 1), operand) = got;
    return;
  }
  int64_t expected = code == ASSERT_SLOT
                         ? *slot_at(b, tvms_interp_builtin_tensor(b, 1), operand)
                         : operand;
  if (got != expected)
    fault(b->frame, TVMS_D_size_mismatch, b->span, dimension, what(b), (long long)got,
          (long long)expected);
}

tvms_value tvms_interp_builtin_match_shape(const tvms_builtin *b) {
  tvms_value value = tvms_interp_builtin_at(b, 0);
  bool shaped = value.kind == TVMS_VALUE_SHAPE || value.kind == TVMS_VALUE_TENSOR;
  if (!shaped) expect_kind(b, TVMS_VALUE_TENSOR, "a tensor or a shape");
  expect_rank(b, value.tensor->view.ndim, tvms_interp_builtin_number(b, 2));
  for (int32_t i = 0; i < value.tensor->view.ndim; i++)
    match_size(b, value.tensor->shape[i], (uint32_t)i, 3 + 2 * (uint32_t)i);
  return nothing();
}

tvms_value tvms_interp_builtin_match_prim_value(const tvms_builtin *b) {
  match_size(b, tvms_interp_builtin_number(b, 0), 0, 2);
  return nothing();
}

static int64_t made_size(const tvms_builtin *b, uint32_t pair) {
  int64_t code = tvms_interp_builtin_number(b, pair),
          operand = tvms_interp_builtin_number(b, pair + 1);
  return code == LOAD_SLOT ? *slot_at(b, tvms_interp_builtin_tensor(b, 0), operand)
                           : operand;
}

tvms_value tvms_interp_builtin_make_shape(const tvms_builtin *b) {
  int64_t ndim = tvms_interp_builtin_number(b, 1);
  if (ndim < 0 || (uint64_t)ndim * 2 + 2 > b->count)
    tvms_interp_builtin_refuse(b, "there are too few");
  int64_t *sizes = tvms_arena_array(&b->frame->context->scratch, int64_t, ndim + 1);
  for (uint32_t i = 0; i < (uint32_t)ndim; i++)
    sizes[i] = made_size(b, 2 + 2 * i);
  tvms_tensor *shape = tvms_shape_new(b->frame->interp->heap, (int32_t)ndim, sizes);
  return (tvms_value){.kind = TVMS_VALUE_SHAPE, .tensor = shape};
}

tvms_value tvms_interp_builtin_make_prim_value(const tvms_builtin *b) {
  return (tvms_value){.kind = TVMS_VALUE_INT, .i = made_size(b, 1)};
}

tvms_value tvms_interp_builtin_shape_of(const tvms_builtin *b) {
  const tvms_tensor *tensor = tvms_interp_builtin_tensor(b, 0);
  tvms_tensor *shape =
      tvms_shape_new(b->frame->interp->heap, tensor->view.ndim, tensor->shape);
  return (tvms_value){.kind = TVMS_VALUE_SHAPE, .tensor = shape};
}

tvms_value tvms_interp_builtin_tensor_to_shape(const tvms_builtin *b) {
  const tvms_tensor *tensor = tvms_interp_builtin_tensor(b, 0);
  expect_rank(b, tensor->view.ndim, 1);
  int64_t len = tensor->shape[0];
  int64_t *sizes = tvms_arena_array(&b->frame->context->scratch, int64_t, len + 1);
  for (int64_t i = 0; i < len; i++)
    sizes[i] = tvms_tensor_get(tensor, i).i;
  tvms_tensor *shape = tvms_shape_new(b->frame->interp->heap, (int32_t)len, sizes);
  return (tvms_value){.kind = TVMS_VALUE_SHAPE, .tensor = shape};
}
