// Element-wise, broadcasting, reducing and reshaping stages.
//
// Index arithmetic is built with the folding constructors and simplified where topi does
// it, because the printed text shows the result.
#include "te/topi.h"

#include "ir/fold_ops.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static tvms_memory *memory_of(tvms_te *te) {
  return &te->unit->context->memory;
}

tvms_node *tvms_te_const(tvms_te *te, tvms_dtype dtype, double value) {
  return tvms_dtype_is_real(dtype)
             ? tvms_build_float(te->unit, dtype, value, TVMS_NO_SPAN)
             : tvms_build_int(te->unit, dtype, (int64_t)value, TVMS_NO_SPAN);
}

tvms_node *tvms_te_index(tvms_te *te, int64_t value) {
  return tvms_int_imm_new(te->unit, TVMS_DTYPE(INT, 64), value, TVMS_NO_SPAN);
}

tvms_node *tvms_te_call(tvms_te *te, tvms_tir_opcode op, tvms_node *x) {
  return tvms_call_new_of(te->unit, x->dtype, op, &x, 1, TVMS_NO_SPAN);
}

tvms_node *tvms_te_round(tvms_te *te, tvms_tir_opcode op, tvms_node *x) {
  if (!x || x->kind != TVMS_NODE_FLOAT_IMM) return x ? tvms_te_call(te, op, x) : NULL;
  double value = tvms_as_float_imm(x)->value;
  value = op == TVMS_TIR_floor  ? floor(value)
          : op == TVMS_TIR_ceil ? ceil(value)
                                : nearbyint(value);
  return tvms_te_const(te, x->dtype, value);
}

tvms_node *tvms_te_select(tvms_te *te, tvms_node *condition, tvms_node *yes,
                          tvms_node *no) {
  return condition && yes && no
             ? tvms_select_new(te->unit, condition, yes, no, TVMS_NO_SPAN)
             : NULL;
}

static bool is_tensor(const tvms_node *operand) {
  return operand->kind == TVMS_NODE_BUFFER;
}

tvms_node *tvms_te_map(tvms_te *te, tvms_node *x, const char *name, const char *axis,
                       tvms_te_unary element) {
  if (!x) return NULL;
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_te_shape(x), axis);
  tvms_node *value = tvms_te_load(te, x, stage.axes.items, stage.shape.len);
  return tvms_te_close(&stage, name, element(te, value));
}

static bool is_one(const tvms_node *dim) {
  return tvms_node_is_int(dim, 1);
}

// The dimension that two of them broadcast to.
static tvms_node *common_dim(tvms_te *te, tvms_node *a, tvms_node *b) {
  if (tvms_analyzer_can_prove_equal(te->analyzer, a, b)) return a;
  if (is_one(a)) return b;
  if (is_one(b)) return a;
  if (tvms_node_is_int_imm(a)) return a;
  if (tvms_node_is_int_imm(b)) return b;
  return tvms_build_binary(te->unit, TVMS_NODE_MAX, a, b, TVMS_NO_SPAN);
}

tvms_list tvms_te_broadcast_shape(tvms_te *te, tvms_list a, tvms_list b) {
  uint32_t rank = a.len > b.len ? a.len : b.len;
  tvms_node_vec dims = {0};
  for (uint32_t i = 0; i < rank; i++) {
    uint32_t behind = rank - i;  // dimensions from here to the last
    tvms_node *dim;
    if (behind > a.len) {
      dim = b.items[b.len - behind];
    } else if (behind > b.len) {
      dim = a.items[a.len - behind];
    } else {
      dim = common_dim(te, a.items[a.len - behind], b.items[b.len - behind]);
    }
    tvms_vec_push(memory_of(te), &dims, dim);
  }
  tvms_list shape = tvms_list_copy(te->unit, dims.items, rank);
  tvms_vec_fini(memory_of(te), &dims);
  return shape;
}

tvms_node *tvms_te_broadcast_load(tvms_te *te, tvms_node *tensor, tvms_list shape,
                                  tvms_node *const *axes) {
  tvms_list own = tvms_te_shape(tensor);
  uint32_t skipped = shape.len - own.len;
  tvms_node_vec indices = {0};
  for (uint32_t i = 0; i < own.len; i++) {
    tvms_node *dim = shape.items[skipped + i];
    bool stretched = is_one(own.items[i]) && !is_one(dim);
    tvms_vec_push(memory_of(te), &indices,
                  stretched ? tvms_te_const(te, axes[skipped + i]->dtype, 0)
                            : axes[skipped + i]);
  }
  tvms_node *load = tvms_te_load(te, tensor, indices.items, indices.len);
  tvms_vec_fini(memory_of(te), &indices);
  return load;
}

tvms_node *tvms_te_broadcast(tvms_te *te, tvms_node *a, tvms_node *b, const char *name,
                             tvms_te_binary element) {
  if (!a || !b) return NULL;
  tvms_list shape;
  if (is_tensor(a) && is_tensor(b)) {
    shape = tvms_te_broadcast_shape(te, tvms_te_shape(a), tvms_te_shape(b));
  } else {
    TVMS_CHECK(is_tensor(a) || is_tensor(b));
    shape = tvms_te_shape(is_tensor(a) ? a : b);
  }
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "ax");
  tvms_node *const *axes = stage.axes.items;
  tvms_node *left = is_tensor(a) ? tvms_te_broadcast_load(te, a, shape, axes) : a;
  tvms_node *right = is_tensor(b) ? tvms_te_broadcast_load(te, b, shape, axes) : b;
  return tvms_te_close(&stage, name, element(te, left, right));
}

#define BINARY(function, KIND, name)                                                   \
  static tvms_node *element_##function(tvms_te *te, tvms_node *a, tvms_node *b) {      \
    return tvms_build_binary(te->unit, TVMS_NODE_##KIND, a, b, TVMS_NO_SPAN);          \
  }                                                                                    \
  tvms_node *tvms_te_##function(tvms_te *te, tvms_node *a, tvms_node *b) {             \
    return tvms_te_broadcast(te, a, b, name, element_##function);                      \
  }
BINARY(add, ADD, "T_add")
BINARY(subtract, SUB, "T_subtract")
BINARY(multiply, MUL, "T_multiply")
BINARY(divide, DIV, "T_divide")
BINARY(maximum, MAX, "T_maximum")
BINARY(minimum, MIN, "T_minimum")
#undef BINARY

tvms_list tvms_te_reduced_shape(tvms_te *te, tvms_list shape, const bool *reduced,
                                bool keep) {
  tvms_node_vec dims = {0};
  for (uint32_t i = 0; i < shape.len; i++) {
    if (!reduced[i]) {
      tvms_vec_push(memory_of(te), &dims, shape.items[i]);
    } else if (keep) {
      tvms_vec_push(memory_of(te), &dims, tvms_te_index(te, 1));
    }
  }
  tvms_list result = tvms_list_copy(te->unit, dims.items, dims.len);
  tvms_vec_fini(memory_of(te), &dims);
  return result;
}

tvms_node *tvms_te_reduce_axes(tvms_te *te, tvms_node *x, const bool *reduced,
                               bool keep, tvms_te_fold fold) {
  if (!x) return NULL;
  tvms_list shape = tvms_te_shape(x);
  char name[160];
  snprintf(name, sizeof name, "%s_red",
           tvms_symbol_text(te->unit->context, tvms_as_buffer(x)->name));
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_te_reduced_shape(te, shape, reduced, keep), "ax");
  if (shape.len == 0) return tvms_te_close(&stage, name, tvms_te_load(te, x, NULL, 0));
  tvms_node_vec indices = {0};
  uint32_t kept = 0;
  for (uint32_t i = 0; i < shape.len; i++) {
    if (reduced[i]) {
      char axis[32];
      snprintf(axis, sizeof axis, "k%u", i);
      tvms_vec_push(memory_of(te), &indices,
                    tvms_te_reduce(&stage, axis, shape.items[i]));
    } else {
      tvms_vec_push(memory_of(te), &indices, stage.axes.items[keep ? i : kept]);
    }
    kept += !reduced[i];
  }
  tvms_node *value = tvms_te_load(te, x, indices.items, indices.len);
  tvms_vec_fini(memory_of(te), &indices);
  return tvms_te_close_fold(&stage, name, fold, value);
}

static tvms_node *build(tvms_te *te, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(te->unit, kind, a, b, TVMS_NO_SPAN);
}

// Position of `indices` in row-major order: ((i0 * d1 + i1) * d2 + i2) …
static tvms_node *ravel(tvms_te *te, tvms_node *const *indices, tvms_list shape) {
  tvms_node *position = NULL;
  for (uint32_t i = 0; i < shape.len; i++) {
    position =
        position ? build(te, TVMS_NODE_ADD,
                         build(te, TVMS_NODE_MUL, position, shape.items[i]), indices[i])
                 : indices[i];
  }
  return position;
}

// The indices of a position in row-major order, last first.
static void unravel(tvms_te *te, tvms_node *position, tvms_list shape,
                    tvms_node **indices) {
  for (uint32_t i = shape.len; i > 0; i--) {
    tvms_node *dim = shape.items[i - 1];
    indices[i - 1] = tvms_analyzer_simplify(
        te->analyzer, build(te, TVMS_NODE_FLOOR_MOD, position, dim));
    position = tvms_analyzer_simplify(te->analyzer,
                                      build(te, TVMS_NODE_FLOOR_DIV, position, dim));
  }
}

static bool is_empty(tvms_list shape) {
  for (uint32_t i = 0; i < shape.len; i++) {
    if (tvms_node_is_int(shape.items[i], 0)) return true;
  }
  return false;
}

tvms_node *tvms_te_reshape(tvms_te *te, tvms_node *x, tvms_list shape) {
  if (!x) return NULL;
  tvms_list from = tvms_te_shape(x);
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "ax");
  if (is_empty(from)) {  // there is no element to take
    tvms_node *none = tvms_build_cast(te->unit, tvms_as_buffer(x)->element,
                                      tvms_te_index(te, 0), TVMS_NO_SPAN);
    return tvms_te_close(&stage, "T_reshape", none);
  }
  tvms_node *position =
      shape.len ? ravel(te, stage.axes.items, shape) : tvms_te_index(te, 0);
  tvms_node **indices = tvms_arena_array(&te->unit->arena, tvms_node *, from.len);
  unravel(te, position, from, indices);
  return tvms_te_close(&stage, "T_reshape", tvms_te_load(te, x, indices, from.len));
}

static tvms_node *product_of(tvms_te *te, tvms_list dims, uint32_t begin,
                             uint32_t end) {
  tvms_node *product = tvms_te_index(te, 1);
  for (uint32_t i = begin; i < end; i++)
    product = build(te, TVMS_NODE_MUL, product, dims.items[i]);
  return tvms_analyzer_simplify(te->analyzer, product);
}

// The shortest runs of dimensions, from *from_end and *to_end on, that have as many elements; all that are left
// if nothing shorter is proved.
static void next_group(tvms_te *te, tvms_list from, tvms_list to, uint32_t *from_end,
                       uint32_t *to_end) {
  uint32_t i = *from_end, k = *to_end;
  for (uint32_t both = 2; i + k + both <= from.len + to.len; both++) {
    for (uint32_t n = 1; n < both; n++) {
      if (i + n > from.len || k + both - n > to.len) continue;
      tvms_node *a = product_of(te, from, i, i + n);
      tvms_node *b = product_of(te, to, k, k + both - n);
      if (!tvms_analyzer_can_prove_equal(te->analyzer, a, b)) continue;
      *from_end = i + n;
      *to_end = k + both - n;
      return;
    }
  }
  *from_end = from.len;
  *to_end = to.len;
}

// The indices of a position within dimensions; the first one needs no remainder.
static void unravel_group(tvms_te *te, tvms_node *position, tvms_list shape,
                          tvms_node **indices) {
  uint32_t first = 0;
  while (first < shape.len && tvms_node_is_int(shape.items[first], 1))
    indices[first++] = tvms_te_index(te, 0);
  tvms_list rest = {shape.items + first, shape.len - first};
  if (!rest.len) return;
  for (uint32_t i = rest.len - 1; i > 0; i--) {
    tvms_node *dim = rest.items[i];
    indices[first + i] = tvms_analyzer_simplify(
        te->analyzer, build(te, TVMS_NODE_FLOOR_MOD, position, dim));
    position = tvms_analyzer_simplify(te->analyzer,
                                      build(te, TVMS_NODE_FLOOR_DIV, position, dim));
  }
  indices[first] = position;
}

// The position within dimensions; those of one step leave it alone.
static tvms_node *ravel_group(tvms_te *te, tvms_node *const *indices, tvms_list shape) {
  tvms_node *position = NULL;
  for (uint32_t i = 0; i < shape.len; i++) {
    if (tvms_node_is_int(shape.items[i], 1)) continue;
    if (position) position = build(te, TVMS_NODE_MUL, position, shape.items[i]);
    position = position ? build(te, TVMS_NODE_ADD, position, indices[i]) : indices[i];
  }
  return position ? tvms_analyzer_simplify(te->analyzer, position)
                  : tvms_te_index(te, 0);
}

tvms_node *tvms_te_reshape_in_groups(tvms_te *te, tvms_node *x, tvms_list shape) {
  if (!x) return NULL;
  tvms_list from = tvms_te_shape(x);
  if (!shape.len || !from.len || is_empty(from)) return tvms_te_reshape(te, x, shape);
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "ax");
  tvms_node **indices = tvms_arena_array(&te->unit->arena, tvms_node *, from.len);
  for (uint32_t i = 0, k = 0, from_end = 0, to_end = 0; i < from.len;
       i = from_end, k = to_end) {
    next_group(te, from, shape, &from_end, &to_end);
    tvms_list group = {shape.items + k, to_end - k};
    tvms_list source = {from.items + i, from_end - i};
    unravel_group(te, ravel_group(te, stage.axes.items + k, group), source,
                  indices + i);
  }
  return tvms_te_close(&stage, "T_reshape", tvms_te_load(te, x, indices, from.len));
}

static tvms_node *both(tvms_te *te, tvms_node *TVMS_NULLABLE a, tvms_node *b) {
  return a ? build(te, TVMS_NODE_AND, a, b) : b;
}

tvms_node *tvms_te_pad_by(tvms_te *te, tvms_node *x, tvms_node *const *before,
                          tvms_node *const *after, tvms_node *fill, const char *name,
                          const char *axis, bool padded_ends) {
  if (!x || !fill) return NULL;
  tvms_list from = tvms_te_shape(x);
  tvms_list shape = tvms_list_copy(te->unit, from.items, from.len);
  for (uint32_t i = 0; i < from.len; i++) {
    tvms_node *sum = build(te, TVMS_NODE_ADD, from.items[i], before[i]);
    sum = build(te, TVMS_NODE_ADD, sum, after[i]);
    shape.items[i] = tvms_analyzer_simplify(te->analyzer, sum);
  }
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, axis);
  tvms_list indices = tvms_list_copy(te->unit, stage.axes.items, shape.len);
  tvms_node *inside = NULL;
  for (uint32_t i = 0; i < from.len; i++) {
    bool front = !tvms_node_is_int(before[i], 0), back = !tvms_node_is_int(after[i], 0);
    if (!front && !back) continue;
    tvms_node *at = stage.axes.items[i];
    indices.items[i] = build(te, TVMS_NODE_SUB, at, before[i]);
    if (front || !padded_ends) {
      inside = both(te, inside, build(te, TVMS_NODE_GE, at, before[i]));
    }
    if (back || !padded_ends) {
      tvms_node *end = build(te, TVMS_NODE_ADD, from.items[i], before[i]);
      inside = both(te, inside, build(te, TVMS_NODE_LT, at, end));
    }
  }
  tvms_node *value = tvms_te_load(te, x, indices.items, indices.len);
  if (inside) {
    value = tvms_build_if_then_else(te->unit, inside, value, fill, TVMS_NO_SPAN);
  }
  return tvms_te_close(&stage, name, value);
}

tvms_node *tvms_te_pad(tvms_te *te, tvms_node *x, const int64_t *before,
                       const int64_t *after, tvms_node *fill, const char *name,
                       const char *axis, bool padded_ends) {
  if (!x) return NULL;
  uint32_t rank = tvms_te_shape(x).len;
  tvms_node **front = tvms_arena_array(&te->unit->arena, tvms_node *, rank + 1);
  tvms_node **back = tvms_arena_array(&te->unit->arena, tvms_node *, rank + 1);
  for (uint32_t i = 0; i < rank; i++) {
    front[i] = tvms_te_index(te, before[i]);
    back[i] = tvms_te_index(te, after[i]);
  }
  return tvms_te_pad_by(te, x, front, back, fill, name, axis, padded_ends);
}

tvms_node *tvms_te_cast(tvms_te *te, tvms_node *x, tvms_dtype dtype, const char *name,
                        const char *axis) {
  if (!x) return NULL;
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_te_shape(x), axis);
  tvms_node *value = tvms_te_load(te, x, stage.axes.items, stage.shape.len);
  return tvms_te_close(&stage, name,
                       tvms_build_cast(te->unit, dtype, value, TVMS_NO_SPAN));
}

// The pair that wins: the better value, of equal ones the lesser index.
static void pick(tvms_te *te, tvms_node *const lhs[2], tvms_node *const rhs[2],
                 tvms_node *result[2], tvms_node_kind better) {
  tvms_node *wins = build(te, better, lhs[1], rhs[1]);
  tvms_node *ties = build(te, TVMS_NODE_EQ, lhs[1], rhs[1]);
  tvms_node *first = build(te, TVMS_NODE_LT, lhs[0], rhs[0]);
  tvms_node *takes_left =
      build(te, TVMS_NODE_OR, wins, build(te, TVMS_NODE_AND, ties, first));
  result[0] = tvms_te_select(te, takes_left, lhs[0], rhs[0]);
  result[1] = tvms_te_select(te, wins, lhs[1], rhs[1]);
}

void tvms_te_pick_greater(tvms_te *te, tvms_node *const lhs[2], tvms_node *const rhs[2],
                          tvms_node *result[2]) {
  pick(te, lhs, rhs, result, TVMS_NODE_GT);
}

void tvms_te_pick_less(tvms_te *te, tvms_node *const lhs[2], tvms_node *const rhs[2],
                       tvms_node *result[2]) {
  pick(te, lhs, rhs, result, TVMS_NODE_LT);
}
