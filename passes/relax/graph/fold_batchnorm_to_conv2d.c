// FoldBatchnormToConv2D: scale and shift of a batch_norm behind a convolution go into its weight.
//
// Before: lv = R.nn.conv2d(x, W); lv1 = R.nn.batch_norm(lv, G, B, M, V, axis=1); gv = lv1[0]
// After:  the convolution with W * (G / sqrt(V + epsilon)), plus B - M * G / sqrt(V + epsilon)
//
// The weight and the four vectors must be constants; what is computed of them is left to
// FoldConstant. Kernels are OIHW. Functions with the attribute Primitive stay. TVM asks for no more; with the option exact
// what the batch_norm says of itself must be so, too.
// TVM: relax.transform.FoldBatchnormToConv2D.
#include "passes/relax/analysis/primitive.h"
#include "passes/relax/graph/op_calls.h"
#include "passes/relax/make.h"
#include "passes/relax/pattern/rewrite.h"
#include "structinfo/make.h"

typedef struct {
  tvms_pattern *x, *weight, *conv, *bias, *added, *gamma, *beta, *mean, *variance;
  tvms_pattern *norms[2], *roots[2];  // of the convolution, of its sum with a bias
  bool exact;
} folding;

// A vector along the second of four axes, or along the first.
static tvms_node *along(tvms_relax_mutator *m, tvms_node *vector, const tvms_node *of,
                        uint32_t axis) {
  tvms_list length;
  tvms_node *one = tvms_sinfo_dim_new(m->unit, 1);
  tvms_node *dims[] = {one, one, one, one};
  if (!tvms_sinfo_dims(of->sinfo, &length) || length.len != 1) return NULL;
  dims[axis] = length.items[0];
  return tvms_relax_op_reshape(m, vector, dims, 4);
}

// Does the batch_norm take its own statistics, scale and shift along the channels that the convolution makes?
static bool is_plain(const tvms_relax_mutator *m, const tvms_call *conv,
                     const tvms_call *norm) {
  tvms_bytes layout = tvms_attr_text(conv, TVMS_ATTR_conv2d_out_layout);
  if (!layout.len) layout = tvms_attr_text(conv, TVMS_ATTR_conv2d_data_layout);
  int64_t axis = tvms_attr_int(norm, TVMS_ATTR_batch_norm_axis, 1);
  return tvms_bytes_is(layout, "NCHW") && (axis == 1 || axis == -3)
         && tvms_attr_bool(norm, TVMS_ATTR_batch_norm_scale)
         && tvms_attr_bool(norm, TVMS_ATTR_batch_norm_center)
         && tvms_relax_op_norm_uses_given(m, norm);
}

// Is it a constant for each channel of NCHW?
static bool is_bias(const tvms_node *value) {
  tvms_list dims;
  return tvms_sinfo_dims(value->sinfo, &dims) && (dims.len == 3 || dims.len == 4)
         && tvms_node_is_int(dims.items[dims.len - 1], 1)
         && tvms_node_is_int(dims.items[dims.len - 2], 1)
         && (dims.len == 3 || tvms_node_is_int(dims.items[0], 1));
}

static tvms_node *fold(const tvms_pattern_rule *rule, tvms_relax_mutator *m,
                       const tvms_pattern_match *match, const tvms_pattern *root,
                       tvms_node *value) {
  const folding *f = rule->data;
  bool biased = root == f->roots[1];
  const tvms_node *conv = tvms_relax_pattern_value(match, f->conv);
  const tvms_call *norm =
      tvms_as_call(tvms_relax_pattern_value(match, f->norms[biased]));
  tvms_bytes layout =
      tvms_attr_text(tvms_as_call(conv), TVMS_ATTR_conv2d_kernel_layout);
  tvms_node *gamma = tvms_relax_pattern_value(match, f->gamma);
  tvms_node *beta = tvms_relax_pattern_value(match, f->beta);
  if (!tvms_bytes_is(layout, "OIHW")) return value;
  if (f->exact && !is_plain(m, tvms_as_call(conv), norm)) return value;
  double epsilon = tvms_attr_float(norm, TVMS_ATTR_batch_norm_epsilon, 1e-5);
  tvms_node *scalar = tvms_relax_make_prim_value(
      m->unit,
      tvms_float_imm_new(m->unit, TVMS_DTYPE(FLOAT, 32), epsilon, TVMS_NO_SPAN));
  tvms_node *variance = tvms_relax_op_binary(
      m, TVMS_R_add, tvms_relax_pattern_value(match, f->variance), scalar);
  tvms_node *root_of = tvms_relax_op_unary(m, TVMS_R_sqrt, variance);
  tvms_node *scale = tvms_relax_op_binary(m, TVMS_R_divide, gamma, root_of);
  tvms_node *mean = tvms_relax_op_binary(
      m, TVMS_R_multiply, tvms_relax_pattern_value(match, f->mean), scale);
  tvms_node *shift = tvms_relax_op_binary(m, TVMS_R_subtract, beta, mean);
  tvms_node *of_bias = biased ? along(m, scale, gamma, 1) : NULL;
  scale = along(m, scale, gamma, 0);
  shift = along(m, shift, beta, 1);
  if (!scale || !shift) return value;
  if (of_bias) {
    tvms_node *bias = tvms_relax_pattern_value(match, f->bias);
    if (!is_bias(bias)) return value;
    bias = tvms_relax_op_binary(m, TVMS_R_multiply, bias, of_bias);
    shift = tvms_relax_op_binary(m, TVMS_R_add, shift, bias);
  }
  tvms_node *args[] = {tvms_relax_pattern_expr(match, f->x),
                       tvms_relax_op_binary(m, TVMS_R_multiply,
                                            tvms_relax_pattern_value(match, f->weight),
                                            scale)};
  tvms_node *made = tvms_relax_recall(m, conv, args);
  return tvms_relax_op_binary(m, TVMS_R_add, made, shift);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  folding f = {.exact = TVMS_OPTION(run, FoldBatchnormToConv2D, exact).number};
  if (tvms_relax_is_primitive(function)) return function;
  tvms_pattern_rule rule = {
      .roots = f.roots, .root_count = f.exact ? 2 : 1, .replace = fold, .data = &f};
  tvms_pattern_set *set = &rule.set;
  tvms_relax_pattern_set_init(set, run->context, &unit->arena);
  f.x = tvms_relax_pattern_any(set);
  f.weight = tvms_relax_pattern_constant(set);
  f.conv = tvms_relax_pattern_op(set, TVMS_R_nn_conv2d, 2, f.x, f.weight);
  f.gamma = tvms_relax_pattern_constant(set);
  f.beta = tvms_relax_pattern_constant(set);
  f.mean = tvms_relax_pattern_constant(set);
  f.variance = tvms_relax_pattern_constant(set);
  f.bias = tvms_relax_pattern_constant(set);
  f.added = tvms_relax_pattern_op(set, TVMS_R_add, 2, f.conv, f.bias);
  tvms_pattern *data[] = {f.conv, f.added};
  for (uint32_t i = 0; i < 2; i++) {
    f.norms[i] = tvms_relax_pattern_op(set, TVMS_R_nn_batch_norm, 5, data[i], f.gamma,
                                       f.beta, f.mean, f.variance);
    f.roots[i] = tvms_relax_pattern_item(set, f.norms[i], 0);
  }
  tvms_node *changed = tvms_relax_pattern_rewrite(run, unit, function, &rule);
  tvms_relax_pattern_set_fini(set);
  return changed;
}

void tvms_pass_fold_batchnorm_to_conv2d(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
