// Attention: softmax(q k^T * scale + bias) v, head by head.
//
// Batch and heads become one axis, on which two batched products work. A causal mask is cut
// into the scores before and after the exponential; then the softmax is written out.
#include "ir/object.h"
#include "te/element.h"
#include "te/legalizers.h"
#include "te/softmax.h"

#include <string.h>

typedef struct {
  tvms_te *te;
  tvms_node *batch, *heads, *queries, *keys;  // dimensions
  tvms_node *joined;                          // batch * heads
} attention;

static tvms_list dims_of(tvms_te *te, tvms_node *a, tvms_node *b, tvms_node *c,
                         tvms_node *TVMS_NULLABLE d) {
  tvms_node *dims[] = {a, b, c, d};
  return tvms_list_copy(te->unit, dims, d ? 4 : 3);
}

// The two axes in the middle change places.
static tvms_node *transposed(tvms_te *te, tvms_node *x) {
  tvms_list from = tvms_te_shape(x);
  tvms_stage stage;
  tvms_te_open(te, &stage,
               dims_of(te, from.items[0], from.items[2], from.items[1], from.items[3]),
               "ax");
  tvms_node *const *axes = stage.axes.items;
  tvms_node *indices[] = {axes[0], axes[2], axes[1], axes[3]};
  return tvms_te_close(&stage, "T_transpose", tvms_te_load(te, x, indices, 4));
}

// An operand with batch and heads as one axis.
static tvms_node *operand(const attention *a, tvms_node *x) {
  tvms_list from = tvms_te_shape(x);
  tvms_list to = dims_of(a->te, a->joined, from.items[1], from.items[3], NULL);
  return tvms_te_reshape(a->te, transposed(a->te, x), to);
}

// x y, or x y^T, for each element of the first axis. The layout of `y` is free to choose.
static tvms_node *batch_matmul(const attention *a, tvms_node *x, tvms_node *y,
                               bool transpose, tvms_node *columns) {
  static const char *const names[] = {"b", "i", "j"};
  tvms_te *te = a->te;
  if (!x || !y) return NULL;
  tvms_stage stage;
  tvms_te_open_named(te, &stage, dims_of(te, a->joined, a->queries, columns, NULL),
                     names);
  tvms_node *k = tvms_te_reduce(&stage, "k", tvms_te_shape(x).items[2]);
  tvms_node *const *axes = stage.axes.items;
  bool first = tvms_node_is_int(a->joined, 1);
  tvms_node *batch = first ? INDEX(0) : axes[0];
  tvms_node *left[] = {batch, axes[1], k};
  tvms_node *right[] = {batch, transpose ? axes[2] : k, transpose ? k : axes[2]};
  tvms_dtype dtype = tvms_te_dtype(x);
  tvms_node *product = MUL(tvms_te_convert(te, dtype, tvms_te_load(te, x, left, 3)),
                           tvms_te_convert(te, dtype, tvms_te_load(te, y, right, 3)));
  tvms_node *free_layouts = tvms_object_array_new(te->unit, &y, 1, TVMS_NO_SPAN);
  stage.annotations =
      tvms_object_map_with(te->unit, NULL, "layout_free_placeholders", free_layouts);
  return tvms_te_close_fold(&stage,
                            transpose ? "T_batch_matmul_NT" : "T_batch_matmul_NN",
                            TVMS_FOLD_SUM, product);
}

// Keys up to that of the query, `offset` further on, and zeros behind.
static tvms_node *lower_triangle(tvms_te *te, tvms_node *x, tvms_node *offset) {
  if (!x) return NULL;
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_te_shape(x), "i");
  tvms_node *const *axes = stage.axes.items;
  tvms_node *seen = GE(axes[1], SUB(axes[2], offset));
  tvms_node *value = tvms_te_load(te, x, axes, 3);
  value = tvms_te_select(te, seen, value, tvms_te_const(te, value->dtype, 0));
  return tvms_te_close(&stage, "trilu", value);
}

static tvms_node *exp_of(tvms_te *te, tvms_node *x) {
  return tvms_te_call(te, TVMS_TIR_exp, x);
}

static tvms_node *masked_softmax(tvms_te *te, tvms_node *scores, tvms_node *offset) {
  static const bool last[] = {false, false, true};
  scores = lower_triangle(te, scores, offset);
  tvms_node *greatest = tvms_te_reduce_axes(te, scores, last, true, TVMS_FOLD_MAX);
  tvms_node *power = tvms_te_subtract(te, scores, greatest);
  power = tvms_te_map(te, power, "compute", "i", exp_of);
  power = lower_triangle(te, power, offset);
  tvms_node *sum = tvms_te_reduce_axes(te, power, last, true, TVMS_FOLD_SUM);
  return tvms_te_divide(te, power, sum);
}

// Where the mask's diagonal begins; NULL for a mask that is not known.
static tvms_node *mask_offset(const attention *a, tvms_bytes mask) {
  tvms_te *te = a->te;
  if (tvms_bytes_is(mask, "TopLeft")) return INT32(0);
  if (!tvms_bytes_is(mask, "BottomRight")) return NULL;
  tvms_node *away = SUB(a->queries, a->keys);
  away = away ? tvms_build_abs(te->unit, away, TVMS_NO_SPAN) : NULL;
  return tvms_te_convert(te, TVMS_DTYPE(INT, 32), away);
}

static tvms_node *scaled(const attention *a, tvms_node *scores, tvms_node *q,
                         const tvms_call *call) {
  tvms_te *te = a->te;
  if (tvms_attr(call, TVMS_ATTR_attention_scale)) {
    double scale = tvms_attr_float(call, TVMS_ATTR_attention_scale, 1);
    return tvms_te_multiply(te, scores,
                            tvms_te_const(te, TVMS_DTYPE(FLOAT, 32), scale));
  }
  if (!scores) return NULL;
  tvms_node *width =
      tvms_te_convert(te, tvms_te_dtype(scores), tvms_te_shape(q).items[3]);
  return width ? tvms_te_divide(te, scores, tvms_te_call(te, TVMS_TIR_sqrt, width))
               : NULL;
}

static bool attend(tvms_legal *legal, const char *name, bool has_bias) {
  legal->name = name;
  tvms_te *te = &legal->te;
  const tvms_call *call = legal->call;
  // Sliding windows have no description in TVM either.
  if (tvms_attr(call, TVMS_ATTR_attention_window_size)) return false;
  tvms_node *q = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_node *k = tvms_legal_tensor(legal, tvms_legal_arg(legal, 1));
  tvms_node *v = tvms_legal_tensor(legal, tvms_legal_arg(legal, 2));
  tvms_node *bias =
      has_bias ? tvms_legal_tensor(legal, tvms_legal_arg(legal, 3)) : NULL;
  tvms_list dims = tvms_te_shape(q);
  attention a = {te,
                 dims.items[0],
                 dims.items[2],
                 dims.items[1],
                 tvms_te_shape(v).items[1],
                 MUL(dims.items[0], dims.items[2])};
  tvms_node *left = operand(&a, q);
  tvms_node *scores = batch_matmul(&a, left, operand(&a, k), true, a.keys);
  scores = scaled(&a, scores, q, call);
  if (bias) {
    tvms_list apart = dims_of(te, a.batch, a.heads, a.queries, a.keys);
    scores = tvms_te_add(te, tvms_te_reshape(te, scores, apart), bias);
    tvms_list joined = dims_of(te, a.joined, a.queries, a.keys, NULL);
    scores = tvms_te_reshape(te, scores, joined);
  }
  if (tvms_attr(call, TVMS_ATTR_attention_causal_mask)) {
    tvms_bytes mask = tvms_attr_text(call, TVMS_ATTR_attention_causal_mask);
    tvms_node *offset = mask_offset(&a, mask);
    if (!offset) return false;
    scores = masked_softmax(te, scores, offset);
  } else {
    scores = tvms_te_softmax(te, scores, 2);
  }
  tvms_node *width = tvms_te_shape(v).items[3];
  tvms_node *y = batch_matmul(&a, scores, operand(&a, v), false, width);
  y = tvms_te_reshape(te, y, dims_of(te, a.batch, a.heads, a.queries, width));
  return y && tvms_legal_return(legal, transposed(te, y));
}

bool tvms_legalize_attention(tvms_legal *legal) {
  return attend(legal, "attention", false);
}

bool tvms_legalize_attention_bias(tvms_legal *legal) {
  return attend(legal, "attention_bias", true);
}
