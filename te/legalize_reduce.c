// Descriptions of reductions, softmax and matrix products.
//
// A reduction folds over the axes of its attribute and keeps the others; mean and variance
// divide afterwards. softmax subtracts the greatest element first, so that no exponential
// overflows. A matrix product broadcasts the axes in front of the last two.
#include "ir/object.h"
#include "te/legalizers.h"

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

static bool fold(tvms_legal *legal, const char *name, tvms_te_fold kind) {
  legal->name = name;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
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
  return tvms_legal_return(legal, tvms_te_map(&legal->te, y, "compute", "i", sqrt_of));
}

// The element of `x` at the axes of a stage, with `inserted` at one place; without it
// that place is left out.
static tvms_node *load_around(tvms_te *te, tvms_node *x, tvms_node *const *axes,
                              uint32_t count, uint32_t place, tvms_node *inserted) {
  tvms_node_vec indices = {0};
  for (uint32_t i = 0; i < count; i++) {
    if (i == place && inserted) tvms_vec_push(memory_of(te), &indices, inserted);
    if (i != place || inserted) tvms_vec_push(memory_of(te), &indices, axes[i]);
  }
  if (place == count && inserted) tvms_vec_push(memory_of(te), &indices, inserted);
  tvms_node *load = tvms_te_load(te, x, indices.items, indices.len);
  tvms_vec_fini(memory_of(te), &indices);
  return load;
}

// The shape without one dimension.
static tvms_list shape_without(tvms_te *te, tvms_list shape, uint32_t place) {
  tvms_node_vec dims = {0};
  for (uint32_t i = 0; i < shape.len; i++) {
    if (i != place) tvms_vec_push(memory_of(te), &dims, shape.items[i]);
  }
  tvms_list result = tvms_list_copy(te->unit, dims.items, dims.len);
  tvms_vec_fini(memory_of(te), &dims);
  return result;
}

typedef struct {
  tvms_te *te;
  tvms_node *x;
  tvms_list shape;
  uint32_t axis;
  tvms_node *greatest;  // along the axis
} softmax;

static tvms_node *exp_shifted(softmax *s, tvms_node *x, tvms_node *greatest) {
  return tvms_te_call(s->te, TVMS_TIR_exp, build(s->te, TVMS_NODE_SUB, x, greatest));
}

static void softmax_start(softmax *s, tvms_legal *legal) {
  *s = (softmax){.te = &legal->te};
  s->x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  s->shape = tvms_te_shape(s->x);
  s->axis = tvms_legal_axis(tvms_attr_int(legal->call, TVMS_ATTR_axis_axis, -1),
                            s->shape.len);
  tvms_stage stage;
  tvms_te_open(s->te, &stage, shape_without(s->te, s->shape, s->axis), "i");
  uint32_t rank = stage.shape.len;
  tvms_node *k = tvms_te_reduce(&stage, "k", s->shape.items[s->axis]);
  tvms_node *x = load_around(s->te, s->x, stage.axes.items, rank, s->axis, k);
  s->greatest = tvms_te_close_fold(&stage, "T_softmax_maxelem", TVMS_FOLD_MAX, x);
}

// Opens a stage over the whole shape; *at gets the element of x there.
static void softmax_open(softmax *s, tvms_stage *stage, tvms_node *tensor,
                         tvms_node **at) {
  tvms_te_open(s->te, stage, s->shape, "i");
  *at = tvms_te_load(s->te, tensor, stage->axes.items, s->shape.len);
}

static tvms_node *reduced_at(softmax *s, tvms_stage *stage, tvms_node *tensor) {
  return load_around(s->te, tensor, stage->axes.items, s->shape.len, s->axis, NULL);
}

static void annotate_axis(softmax *s, tvms_stage *stage) {
  tvms_node *axis = tvms_object_int_new(s->te->unit, s->axis, TVMS_NO_SPAN);
  stage->annotations = tvms_object_map_with(s->te->unit, NULL, "axis", axis);
}

bool tvms_legalize_softmax(tvms_legal *legal) {
  legal->name = "softmax";
  softmax s;
  softmax_start(&s, legal);
  tvms_stage stage;
  tvms_node *x;
  softmax_open(&s, &stage, s.x, &x);
  tvms_node *power = exp_shifted(&s, x, reduced_at(&s, &stage, s.greatest));
  power = tvms_te_close(&stage, "T_softmax_exp", power);
  tvms_te_open(s.te, &stage, shape_without(s.te, s.shape, s.axis), "i");
  uint32_t rank = stage.shape.len;
  tvms_node *k = tvms_te_reduce(&stage, "k", s.shape.items[s.axis]);
  tvms_node *part = load_around(s.te, power, stage.axes.items, rank, s.axis, k);
  tvms_node *sum = tvms_te_close_fold(&stage, "T_softmax_expsum", TVMS_FOLD_SUM, part);
  softmax_open(&s, &stage, power, &x);
  annotate_axis(&s, &stage);
  tvms_node *share = build(s.te, TVMS_NODE_DIV, x, reduced_at(&s, &stage, sum));
  return tvms_legal_return(legal, tvms_te_close(&stage, "T_softmax_norm", share));
}

bool tvms_legalize_log_softmax(tvms_legal *legal) {
  legal->name = "log_softmax";
  softmax s;
  softmax_start(&s, legal);
  tvms_stage stage;
  tvms_te_open(s.te, &stage, shape_without(s.te, s.shape, s.axis), "i");
  uint32_t rank = stage.shape.len;
  tvms_node *k = tvms_te_reduce(&stage, "k", s.shape.items[s.axis]);
  tvms_node *x = load_around(s.te, s.x, stage.axes.items, rank, s.axis, k);
  tvms_node *greatest = tvms_te_load(s.te, s.greatest, stage.axes.items, rank);
  tvms_node *sum = tvms_te_close_fold(&stage, "compute", TVMS_FOLD_SUM,
                                      exp_shifted(&s, x, greatest));
  softmax_open(&s, &stage, s.x, &x);
  annotate_axis(&s, &stage);
  tvms_node *y = build(s.te, TVMS_NODE_SUB, x, reduced_at(&s, &stage, s.greatest));
  tvms_node *log = tvms_te_call(s.te, TVMS_TIR_log, reduced_at(&s, &stage, sum));
  y = build(s.te, TVMS_NODE_SUB, y, log);
  return tvms_legal_return(legal, tvms_te_close(&stage, "compute", y));
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

bool tvms_legalize_matmul(tvms_legal *legal) {
  legal->name = "matmul";
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
  tvms_node *k = tvms_te_reduce(&stage, "k", left.items[left.len - 1]);
  uint32_t batch = shape.len - !row_vector - !column_vector;
  tvms_node *row = row_vector ? NULL : stage.axes.items[batch];
  tvms_node *column = column_vector ? NULL : stage.axes.items[shape.len - 1];
  tvms_node *x = matmul_operand(te, a, b, &stage, batch, row, k);
  tvms_node *y = matmul_operand(te, b, a, &stage, batch, k, column);
  tvms_dtype dtype = tvms_attr_dtype(legal->call, TVMS_ATTR_out_dtype_out_dtype);
  if (!tvms_dtype_is_void(dtype)) {
    x = tvms_build_cast(te->unit, dtype, x, TVMS_NO_SPAN);
    y = tvms_build_cast(te->unit, dtype, y, TVMS_NO_SPAN);
  }
  tvms_node *product = build(te, TVMS_NODE_MUL, x, y);
  return tvms_legal_return(
      legal, tvms_te_close_fold(&stage, "matmul", TVMS_FOLD_SUM, product));
}
