// Descriptions of reductions, softmax and matrix products.
//
// A reduction folds over the axes of its attribute and keeps the others; mean and variance
// divide afterwards. A matrix product broadcasts the axes in front of the last two.
#include "te/legalize_reduce.h"

#include "structinfo/make.h"
#include "te/legalizers.h"
#include "te/softmax.h"
#include "te/topi_index.h"

#include <stdio.h>

static tvms_memory *memory_of(tvms_te *te) {
  return &te->unit->context->memory;
}

static tvms_node *build(tvms_te *te, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return a && b ? tvms_build_binary(te->unit, kind, a, b, TVMS_NO_SPAN) : NULL;
}

// Flags of the reduced axes: attribute `axis` of schema `reduction`, all if it is None.
static bool *reduced_axes(tvms_legal *legal, uint32_t rank) {
  tvms_node *axis = tvms_attr(legal->call, TVMS_ATTR_reduction_axis);
  tvms_list axes = tvms_attr_list(legal->call, TVMS_ATTR_reduction_axis);
  return tvms_legal_axes(legal, rank, axes, !axis);
}

static bool keeps_dims(const tvms_legal *legal) {
  return tvms_attr_bool(legal->call, TVMS_ATTR_reduction_keepdims);
}

static bool has_identity(tvms_te_fold kind) {
  return kind == TVMS_FOLD_SUM || kind == TVMS_FOLD_PROD;
}

// Whether an axis that is reduced is known to have no elements.
static bool folds_nothing(tvms_legal *legal) {
  const tvms_node *sinfo = tvms_legal_arg(legal, 0)->sinfo;
  tvms_list shape;
  if (!tvms_release_has(legal->te.unit->dialect, TVMS_FACT_empty_sums_are_filled)
      || !sinfo || sinfo->kind != TVMS_NODE_SINFO_TENSOR
      || !tvms_sinfo_tensor_dims(sinfo, &shape)) {
    return false;
  }
  bool *axes = reduced_axes(legal, shape.len);
  for (uint32_t i = 0; i < shape.len; i++) {
    if (axes[i] && tvms_node_is_int(shape.items[i], 0)) return true;
  }
  return false;
}

// The data are not even an argument.
static bool fill_identity(tvms_legal *legal, tvms_te_fold kind) {
  legal->name = "full";
  tvms_te *te = &legal->te;
  tvms_list shape;
  if (!tvms_legal_result_shape(legal, &shape)) return false;
  tvms_dtype dtype = tvms_legal_result_dtype(legal);
  tvms_node *value = tvms_te_const(te, dtype, kind == TVMS_FOLD_PROD);
  return tvms_legal_return(legal, tvms_te_full(te, shape, dtype, value));
}

static bool fold(tvms_legal *legal, const char *name, tvms_te_fold kind) {
  legal->name = name;
  if (has_identity(kind) && folds_nothing(legal)) return fill_identity(legal, kind);
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  if (kind == TVMS_FOLD_SUM && tvms_dtype_is_bool(tvms_te_dtype(x))) {
    kind = TVMS_FOLD_ANY;
  }
  bool *axes = reduced_axes(legal, tvms_te_shape(x).len);
  tvms_node *y = tvms_te_reduce_axes(&legal->te, x, axes, keeps_dims(legal), kind);
  return tvms_legal_return(legal, y);
}

bool tvms_legalize_sum(tvms_legal *legal) {
  return fold(legal, "sum", TVMS_FOLD_SUM);
}
bool tvms_legalize_prod(tvms_legal *legal) {
  return fold(legal, "prod", TVMS_FOLD_PROD);
}
bool tvms_legalize_max(tvms_legal *legal) {
  return fold(legal, "max", TVMS_FOLD_MAX);
}
bool tvms_legalize_min(tvms_legal *legal) {
  return fold(legal, "min", TVMS_FOLD_MIN);
}

// How many elements are combined into one.
static tvms_node *reduced_count(tvms_te *te, tvms_list shape, const bool *axes) {
  tvms_node *count = tvms_int_imm_new(te->unit, TVMS_DTYPE(INT, 32), 1, TVMS_NO_SPAN);
  for (uint32_t i = 0; i < shape.len; i++) {
    if (axes[i]) count = build(te, TVMS_NODE_MUL, count, shape.items[i]);
  }
  return count;
}

static tvms_node *mean(tvms_te *te, tvms_node *x, const bool *axes, bool keep) {
  if (!x) return NULL;
  tvms_node *sum = tvms_te_reduce_axes(te, x, axes, keep, TVMS_FOLD_SUM);
  return tvms_te_divide(te, sum, reduced_count(te, tvms_te_shape(x), axes));
}

static tvms_node *variance(tvms_te *te, tvms_node *x, const bool *axes, bool keep) {
  tvms_node *away = tvms_te_subtract(te, x, mean(te, x, axes, true));
  return mean(te, tvms_te_multiply(te, away, away), axes, keep);
}

bool tvms_legalize_mean(tvms_legal *legal) {
  legal->name = "mean";
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  bool *axes = reduced_axes(legal, tvms_te_shape(x).len);
  return tvms_legal_return(legal, mean(&legal->te, x, axes, keeps_dims(legal)));
}

bool tvms_legalize_variance(tvms_legal *legal) {
  legal->name = "variance";
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  bool *axes = reduced_axes(legal, tvms_te_shape(x).len);
  return tvms_legal_return(legal, variance(&legal->te, x, axes, keeps_dims(legal)));
}

static tvms_node *sqrt_of(tvms_te *te, tvms_node *x) {
  return tvms_te_call(te, TVMS_TIR_sqrt, x);
}

bool tvms_legalize_std(tvms_legal *legal) {
  legal->name = "std";
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  bool *axes = reduced_axes(legal, tvms_te_shape(x).len);
  tvms_node *y = variance(&legal->te, x, axes, keeps_dims(legal));
  // The root of integers is that of floats.
  if (y && !tvms_dtype_is_real(tvms_te_dtype(y)))
    y = tvms_te_cast(&legal->te, y, TVMS_DTYPE(FLOAT, 32), "compute", "i");
  return tvms_legal_return(legal, tvms_te_map(&legal->te, y, "compute", "i", sqrt_of));
}

static uint32_t softmax_axis(const tvms_legal *legal, const tvms_node *x) {
  return tvms_legal_axis(tvms_attr_int(legal->call, TVMS_ATTR_axis_axis, -1),
                         tvms_te_shape(x).len);
}

bool tvms_legalize_softmax(tvms_legal *legal) {
  legal->name = "softmax";
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  uint32_t axis = softmax_axis(legal, x);
  return tvms_legal_return(legal, tvms_te_softmax(&legal->te, x, axis));
}

bool tvms_legalize_log_softmax(tvms_legal *legal) {
  legal->name = "log_softmax";
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  uint32_t axis = softmax_axis(legal, x);
  return tvms_legal_return(legal, tvms_te_log_softmax(&legal->te, x, axis));
}

// Indices of one operand of a matrix product: its batch dimensions aligned to the right
// with those of the result, then row and column. A vector lacks one of the two.
static tvms_node *matmul_operand(tvms_te *te, tvms_node *x, tvms_node *other,
                                 const tvms_stage *stage, uint32_t batch,
                                 tvms_node *row, tvms_node *column) {
  tvms_list shape = tvms_te_shape(x), dims = tvms_te_shape(other);
  uint32_t own = shape.len > 2 ? shape.len - 2 : 0;
  uint32_t theirs = dims.len > 2 ? dims.len - 2 : 0;
  tvms_node_vec indices = {0};
  for (uint32_t i = 0; i < own; i++) {
    uint32_t behind = own - i;
    tvms_node *index = stage->axes.items[batch - behind];
    bool paired = behind <= theirs;
    bool one = tvms_node_is_int(shape.items[i], 1);
    if (paired && one && !tvms_node_is_int(dims.items[theirs - behind], 1)) {
      index = tvms_te_index(te, 0);
    }
    tvms_vec_push(memory_of(te), &indices, index);
  }
  if (row) tvms_vec_push(memory_of(te), &indices, row);
  if (column) tvms_vec_push(memory_of(te), &indices, column);
  tvms_node *load = tvms_te_load(te, x, indices.items, indices.len);
  tvms_vec_fini(memory_of(te), &indices);
  return load;
}

// Elements of both operands are cast to `dtype` unless it is void. `transposed`: rows of the second
// are columns of the product, and it is a matrix.
static bool matmul(tvms_legal *legal, tvms_dtype dtype, bool transposed) {
  tvms_te *te = &legal->te;
  tvms_node *a = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_node *b = tvms_legal_tensor(legal, tvms_legal_arg(legal, 1));
  tvms_list shape;
  if (!tvms_legal_result_shape(legal, &shape)) return false;
  bool row_vector = tvms_te_shape(a).len == 1,
       column_vector = tvms_te_shape(b).len == 1;
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "i");
  tvms_list left = tvms_te_shape(a);
  tvms_node *length = left.items[left.len - 1];
  if (tvms_node_is_int(length, 0) && !transposed
      && tvms_release_has(te->unit->dialect, TVMS_FACT_empty_sums_are_filled)) {
    tvms_node *zero = tvms_te_const(te, tvms_legal_result_dtype(legal), 0);
    return tvms_legal_return(legal, tvms_te_close(&stage, legal->name, zero));
  }
  tvms_node *k = tvms_te_reduce(&stage, "k", length);
  uint32_t batch = shape.len - !row_vector - !column_vector;
  tvms_node *row = row_vector ? NULL : stage.axes.items[batch];
  tvms_node *column = column_vector ? NULL : stage.axes.items[shape.len - 1];
  tvms_node *x = matmul_operand(te, a, b, &stage, batch, row, k);
  tvms_node *y = transposed ? matmul_operand(te, b, a, &stage, batch, column, k)
                            : matmul_operand(te, b, a, &stage, batch, k, column);
  if (!tvms_dtype_is_void(dtype)) {
    x = tvms_build_cast(te->unit, dtype, x, TVMS_NO_SPAN);
    y = tvms_build_cast(te->unit, dtype, y, TVMS_NO_SPAN);
  }
  tvms_node *product = build(te, TVMS_NODE_MUL, x, y);
  return tvms_legal_return(
      legal, tvms_te_close_fold(&stage, legal->name, TVMS_FOLD_SUM, product));
}

bool tvms_legalize_matmul(tvms_legal *legal) {
  legal->name = "matmul";
  return matmul(legal, tvms_attr_dtype(legal->call, TVMS_ATTR_out_dtype_out_dtype),
                false);
}

bool tvms_te_nt_matmul(tvms_legal *legal) {
  legal->name = "NT_matmul";
  return matmul(legal, tvms_legal_result_dtype(legal), true);
}

// ---- collapse_sum ----

// Sums over the axes that the target shape has not, or has as 1.
static bool collapse(tvms_legal *legal, tvms_list shape) {
  legal->name = "collapse_sum";
  tvms_te *te = &legal->te;
  tvms_node *x = legal->te.buffers.items[0];
  tvms_list from = tvms_te_shape(x);
  bool *summed = tvms_arena_array(&te->unit->arena, bool, from.len + 1);
  bool *gone = tvms_arena_array(&te->unit->arena, bool, from.len + 1);
  bool any = false;
  uint32_t to = shape.len;
  if (shape.len > from.len) return false;
  for (uint32_t i = from.len; i > 0; i--) {
    tvms_node *dim = to ? shape.items[to - 1] : NULL;
    bool same =
        dim && tvms_analyzer_can_prove_equal(te->analyzer, from.items[i - 1], dim);
    summed[i - 1] = !same;
    gone[i - 1] = !same && !dim;
    any = any || !same;
    if (same || (dim && tvms_node_is_int(dim, 1))) to--;
  }
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "ax");
  tvms_node **indices = tvms_arena_array(&te->unit->arena, tvms_node *, from.len + 1);
  for (uint32_t i = 0, at = 0; i < from.len; i++) {
    char name[32];
    snprintf(name, sizeof name, "k%u", i);
    indices[i] =
        summed[i] ? tvms_te_reduce(&stage, name, from.items[i]) : stage.axes.items[at];
    at += !gone[i];
  }
  tvms_node *value = tvms_te_load(te, x, indices, from.len);
  if (!any) return tvms_legal_return(legal, tvms_te_close(&stage, "tensor", value));
  char name[160];
  snprintf(name, sizeof name, "%s_red",
           tvms_symbol_text(te->unit->context, tvms_as_buffer(x)->name));
  return tvms_legal_return(legal,
                           tvms_te_close_fold(&stage, name, TVMS_FOLD_SUM, value));
}

bool tvms_legalize_collapse_sum_to(tvms_legal *legal) {
  tvms_list shape;
  (void)tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  return tvms_legal_shape(legal, tvms_legal_arg(legal, 1), &shape)
         && collapse(legal, shape);
}

bool tvms_legalize_collapse_sum_like(tvms_legal *legal) {
  tvms_list shape;
  (void)tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  return tvms_legal_result_shape(legal, &shape) && collapse(legal, shape);
}
