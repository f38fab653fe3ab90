// What the arguments of a call get of the gradient of its result: the rows of gradient.def.
//
// A rule builds a tree over the arguments, the result and its gradient. Where an argument was
// broadcast, its part is summed to its shape. TVM: relax/op/_op_gradient.py.
#include "passes/relax/graph/gradient_rules.h"

#include "ir/object.h"
#include "passes/relax/graph/gradient_windows.h"
#include "passes/relax/graph/op_calls.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

#include <string.h>

enum { MOST_AXES = 64 };

typedef bool gradient_rule(tvms_gradient_query *q);

// ---- Building ----

static tvms_node *unary(tvms_gradient_query *q, tvms_opcode opcode, tvms_node *x) {
  return tvms_relax_op_unary(q->m, opcode, x);
}

static tvms_node *binary(tvms_gradient_query *q, tvms_opcode opcode, tvms_node *a,
                         tvms_node *b) {
  return tvms_relax_op_binary(q->m, opcode, a, b);
}

static tvms_node *add(tvms_gradient_query *q, tvms_node *a, tvms_node *b) {
  return binary(q, TVMS_R_add, a, b);
}

static tvms_node *subtract(tvms_gradient_query *q, tvms_node *a, tvms_node *b) {
  return binary(q, TVMS_R_subtract, a, b);
}

static tvms_node *multiply(tvms_gradient_query *q, tvms_node *a, tvms_node *b) {
  return binary(q, TVMS_R_multiply, a, b);
}

static tvms_node *divide(tvms_gradient_query *q, tvms_node *a, tvms_node *b) {
  return binary(q, TVMS_R_divide, a, b);
}

static tvms_node *negative(tvms_gradient_query *q, tvms_node *x) {
  return unary(q, TVMS_R_negative, x);
}

static tvms_node *where(tvms_gradient_query *q, tvms_node *condition, tvms_node *a,
                        tvms_node *b) {
  tvms_node *args[] = {condition, a, b};
  return tvms_relax_op(q->m, TVMS_R_where, args, 3);
}

// A number of the type of `like`.
static tvms_node *number(tvms_gradient_query *q, double value, const tvms_node *like) {
  return tvms_relax_op_scalar(q->m, value, like->sinfo->dtype);
}

static tvms_node *arg(const tvms_gradient_query *q, uint32_t i) {
  return q->call->args.items[i];
}

static bool shape_of(const tvms_node *expr, tvms_list *dims) {
  return tvms_sinfo_is_tensor(expr->sinfo) && tvms_sinfo_dims(expr->sinfo, dims);
}

static tvms_node *shape_value(tvms_gradient_query *q, tvms_list dims) {
  return tvms_sinfo_shape_value_new(q->m->unit, dims.items, dims.len, TVMS_NO_SPAN);
}

static tvms_node *with_shape(tvms_gradient_query *q, tvms_opcode opcode, tvms_node *x,
                             tvms_list dims) {
  tvms_node *args[] = {x, shape_value(q, dims)};
  return tvms_relax_op(q->m, opcode, args, 2);
}

static bool same_shape(tvms_gradient_query *q, tvms_list a, tvms_list b) {
  if (a.len != b.len) return false;
  for (uint32_t i = 0; i < a.len; i++)
    if (!tvms_dim_equal(&q->m->prover, a.items[i], b.items[i])) return false;
  return true;
}

// `part` of the gradient as the part of argument `i`: summed where that was broadcast.
static bool give(tvms_gradient_query *q, uint32_t i, tvms_node *part) {
  tvms_list have, want;
  part = tvms_relax_settle(q->m, part);
  if (!shape_of(part, &have) || !shape_of(arg(q, i), &want)) return false;
  bool fits = same_shape(q, have, want);
  q->partials[i] = fits ? part : with_shape(q, TVMS_R_collapse_sum_to, part, want);
  return true;
}

// The only argument gets all.
static bool give_all(tvms_gradient_query *q, tvms_node *part) {
  q->partials[0] = part;
  return true;
}

// ---- Two arguments ----

static bool gradient_none(tvms_gradient_query *q) {
  (void)q;
  return true;
}

static bool gradient_add(tvms_gradient_query *q) {
  return give(q, 0, q->grad) && give(q, 1, q->grad);
}

static bool gradient_subtract(tvms_gradient_query *q) {
  return give(q, 0, q->grad) && give(q, 1, negative(q, q->grad));
}

static bool gradient_multiply(tvms_gradient_query *q) {
  return give(q, 0, multiply(q, q->grad, arg(q, 1)))
         && give(q, 1, multiply(q, q->grad, arg(q, 0)));
}

static bool gradient_divide(tvms_gradient_query *q) {
  tvms_node *y = arg(q, 1);
  if (!give(q, 0, divide(q, q->grad, y))) return false;
  return give(q, 1, divide(q, multiply(q, negative(q, q->grad), q->result), y));
}

static bool gradient_power(tvms_gradient_query *q) {
  tvms_node *x = arg(q, 0), *y = arg(q, 1);
  tvms_node *less = subtract(q, y, number(q, 1, y));
  tvms_node *slope = multiply(q, q->grad, y);
  slope = multiply(q, slope, binary(q, TVMS_R_power, x, less));
  if (!give(q, 0, slope)) return false;
  tvms_node *scaled = multiply(q, q->grad, q->result);
  return give(q, 1, multiply(q, scaled, unary(q, TVMS_R_log, x)));
}

// The side that was taken gets the gradient.
static bool choose(tvms_gradient_query *q, tvms_opcode first, tvms_opcode second) {
  tvms_node *x = arg(q, 0), *y = arg(q, 1), *zero = number(q, 0, x);
  return give(q, 0, where(q, binary(q, first, x, y), zero, q->grad))
         && give(q, 1, where(q, binary(q, second, x, y), zero, q->grad));
}

static bool gradient_maximum(tvms_gradient_query *q) {
  return choose(q, TVMS_R_less, TVMS_R_greater_equal);
}

static bool gradient_minimum(tvms_gradient_query *q) {
  return choose(q, TVMS_R_greater_equal, TVMS_R_less);
}

static bool gradient_where(tvms_gradient_query *q) {
  tvms_node *condition = arg(q, 0);
  q->partials[1] = where(q, condition, q->grad, number(q, 0, arg(q, 1)));
  q->partials[2] = where(q, condition, number(q, 0, arg(q, 2)), q->grad);
  return true;
}

// ---- One argument ----

static bool gradient_abs(tvms_gradient_query *q) {
  tvms_node *x = arg(q, 0), *one = number(q, 1, x);
  tvms_node *below = binary(q, TVMS_R_less, x, number(q, 0, x));
  return give_all(q, multiply(q, q->grad, where(q, below, negative(q, one), one)));
}

static bool gradient_cos(tvms_gradient_query *q) {
  return give_all(q,
                  multiply(q, negative(q, q->grad), unary(q, TVMS_R_sin, arg(q, 0))));
}

static bool gradient_exp(tvms_gradient_query *q) {
  return give_all(q, multiply(q, q->grad, q->result));
}

static bool gradient_log(tvms_gradient_query *q) {
  return give_all(q, divide(q, q->grad, arg(q, 0)));
}

static bool gradient_negative(tvms_gradient_query *q) {
  return give_all(q, negative(q, q->grad));
}

static bool gradient_sigmoid(tvms_gradient_query *q) {
  tvms_node *rest = subtract(q, number(q, 1, arg(q, 0)), q->result);
  return give_all(q, multiply(q, multiply(q, q->grad, q->result), rest));
}

static bool gradient_sin(tvms_gradient_query *q) {
  return give_all(q, multiply(q, q->grad, unary(q, TVMS_R_cos, arg(q, 0))));
}

static bool gradient_sqrt(tvms_gradient_query *q) {
  tvms_node *half = multiply(q, number(q, 0.5, arg(q, 0)), q->grad);
  return give_all(q, divide(q, half, q->result));
}

static bool gradient_tanh(tvms_gradient_query *q) {
  tvms_node *square = multiply(q, q->result, q->result);
  tvms_node *slope = subtract(q, number(q, 1, arg(q, 0)), square);
  return give_all(q, multiply(q, q->grad, slope));
}

static bool gradient_astype(tvms_gradient_query *q) {
  tvms_node *attr =
      tvms_object_dtype_new(q->m->unit, arg(q, 0)->sinfo->dtype, TVMS_NO_SPAN);
  return give_all(q, tvms_relax_op_with(q->m, TVMS_R_astype, &q->grad, 1, &attr));
}

static bool gradient_triu(tvms_gradient_query *q) {
  tvms_node *args[] = {q->grad, q->call->args.len > 1 ? arg(q, 1) : NULL};
  return give_all(q, tvms_relax_recall(q->m, &q->call->head, args));
}

static bool gradient_relu(tvms_gradient_query *q) {
  tvms_node *x = arg(q, 0), *zero = number(q, 0, x);
  return give_all(q, where(q, binary(q, TVMS_R_less, x, zero), zero, q->grad));
}

static bool gradient_silu(tvms_gradient_query *q) {
  tvms_node *x = arg(q, 0), *sigmoid = unary(q, TVMS_R_sigmoid, x);
  tvms_node *rest = subtract(q, number(q, 1, x), sigmoid);
  tvms_node *slope = add(q, sigmoid, multiply(q, q->result, rest));
  return give_all(q, multiply(q, q->grad, slope));
}

static tvms_node *sum_along(tvms_gradient_query *q, tvms_node *x, int64_t axis) {
  return tvms_relax_op_reduce(q->m, TVMS_R_sum, x, &axis, 1, true);
}

static bool gradient_softmax(tvms_gradient_query *q) {
  int64_t axis = tvms_attr_int(q->call, TVMS_ATTR_axis_axis, -1);
  tvms_node *sum = sum_along(q, multiply(q, q->grad, q->result), axis);
  return give_all(q, multiply(q, subtract(q, q->grad, sum), q->result));
}

static bool gradient_log_softmax(tvms_gradient_query *q) {
  int64_t axis = tvms_attr_int(q->call, TVMS_ATTR_axis_axis, -1);
  tvms_node *e = unary(q, TVMS_R_exp, q->result);
  tvms_node *sum = sum_along(q, q->grad, axis);
  return give_all(q, subtract(q, q->grad, multiply(q, sum, e)));
}

// ---- Reductions ----

// The gradient with the axes back that a reduction has dropped.
static tvms_node *with_axes(tvms_gradient_query *q, tvms_node *grad) {
  tvms_list axes = tvms_attr_list(q->call, TVMS_ATTR_reduction_axis);
  if (tvms_attr_bool(q->call, TVMS_ATTR_reduction_keepdims) || axes.len == 0)
    return grad;
  tvms_node *attr = q->call->attrs.items[TVMS_ATTR_reduction_axis];
  return tvms_relax_op_with(q->m, TVMS_R_expand_dims, &grad, 1, &attr);
}

// How many elements one result of a reduction is made of; false if it is symbolic.
static bool count_reduced(const tvms_gradient_query *q, double *count) {
  tvms_list dims, axes = tvms_attr_list(q->call, TVMS_ATTR_reduction_axis);
  bool all = !tvms_attr(q->call, TVMS_ATTR_reduction_axis);
  if (!shape_of(arg(q, 0), &dims)) return false;
  *count = 1;
  for (uint32_t i = 0; i < (all ? dims.len : axes.len); i++) {
    int64_t axis = all ? i : tvms_attr_item_int(axes.items[i]), length;
    if (axis < 0) axis += dims.len;
    if (axis < 0 || axis >= dims.len) return false;
    if (!tvms_sinfo_dim_int(dims.items[axis], &length)) return false;
    *count *= (double)length;
  }
  return true;
}

static bool spread(tvms_gradient_query *q, tvms_node *grad) {
  tvms_list dims;
  if (!shape_of(arg(q, 0), &dims)) return false;
  return give_all(q, with_shape(q, TVMS_R_broadcast_to, with_axes(q, grad), dims));
}

static bool gradient_sum(tvms_gradient_query *q) {
  return spread(q, q->grad);
}

static bool gradient_mean(tvms_gradient_query *q) {
  double count;
  if (!count_reduced(q, &count)) return false;
  return spread(q, divide(q, q->grad, number(q, count, q->grad)));
}

static bool gradient_variance(tvms_gradient_query *q) {
  double count;
  tvms_node *x = arg(q, 0);
  if (!count_reduced(q, &count)) return false;
  tvms_node *attrs[TVMS_ATTR_reduction_COUNT] = {
      [TVMS_ATTR_reduction_axis] = q->call->attrs.items[TVMS_ATTR_reduction_axis],
      [TVMS_ATTR_reduction_keepdims] =
          tvms_object_bool_new(q->m->unit, true, TVMS_NO_SPAN),
  };
  tvms_node *sum = tvms_relax_op_with(q->m, TVMS_R_sum, &x, 1, attrs);
  tvms_node *own = multiply(q, number(q, 2 / count, x), x);
  tvms_node *mean = multiply(q, number(q, 2 / count / count, x), sum);
  tvms_node *grad = with_axes(q, q->grad);
  return give_all(q, multiply(q, grad, subtract(q, own, mean)));
}

static tvms_node *scan_of(tvms_gradient_query *q, tvms_node *x) {
  tvms_node *attrs[TVMS_ATTR_scan_COUNT] = {
      [TVMS_ATTR_scan_axis] = tvms_attr(q->call, TVMS_ATTR_scan_axis),
      [TVMS_ATTR_scan_exclusive] =
          tvms_object_bool_new(q->m->unit, false, TVMS_NO_SPAN),
  };
  return tvms_relax_op_with(q->m, TVMS_R_cumsum, &x, 1, attrs);
}

// Each element counts in all sums from its own on.
static bool gradient_cumsum(tvms_gradient_query *q) {
  tvms_list dims;
  bool flat = !tvms_attr(q->call, TVMS_ATTR_scan_axis);
  if (!shape_of(arg(q, 0), &dims)) return false;
  tvms_node *attrs[TVMS_ATTR_reduction_COUNT] = {
      [TVMS_ATTR_reduction_keepdims] =
          tvms_object_bool_new(q->m->unit, true, TVMS_NO_SPAN)};
  int64_t axis = tvms_attr_int(q->call, TVMS_ATTR_scan_axis, 0);
  if (!flat) attrs[TVMS_ATTR_reduction_axis] = tvms_relax_op_ints(q->m->unit, &axis, 1);
  tvms_node *total = tvms_relax_op_with(q->m, TVMS_R_sum, &q->grad, 1, attrs);
  tvms_node *own = flat ? unary(q, TVMS_R_flatten, q->grad) : q->grad;
  tvms_node *grad = add(q, subtract(q, total, scan_of(q, q->grad)), own);
  if (flat) grad = with_shape(q, TVMS_R_reshape, grad, dims);
  tvms_node *dtype =
      tvms_object_dtype_new(q->m->unit, arg(q, 0)->sinfo->dtype, TVMS_NO_SPAN);
  if (tvms_attr(q->call, TVMS_ATTR_scan_dtype))
    grad = tvms_relax_op_with(q->m, TVMS_R_astype, &grad, 1, &dtype);
  return give_all(q, grad);
}

// ---- Manipulation ----

static bool gradient_permute_dims(tvms_gradient_query *q) {
  tvms_list axes = tvms_attr_list(q->call, TVMS_ATTR_opt_axes_axes);
  int64_t back[MOST_AXES] = {0};
  if (axes.len > MOST_AXES) return false;
  for (uint32_t i = 0; i < axes.len; i++) {
    int64_t axis = tvms_attr_item_int(axes.items[i]);
    if (axis < 0 || axis >= axes.len) return false;
    back[axis] = i;
  }
  return give_all(
      q, tvms_relax_op_permute(q->m, q->grad, axes.len ? back : NULL, axes.len));
}

static bool gradient_concat(tvms_gradient_query *q) {
  int64_t axis = tvms_attr_int(q->call, TVMS_ATTR_opt_axis_axis, 0), at = 0;
  tvms_list types = tvms_as_sinfo_tuple(arg(q, 0)->sinfo)->fields;
  int64_t *places = tvms_arena_array(&q->m->unit->arena, int64_t, types.len + 1);
  for (uint32_t i = 0; i + 1 < types.len; i++) {
    tvms_list dims;
    int64_t length;
    if (!tvms_sinfo_dims(types.items[i], &dims)) return false;
    int64_t place = axis < 0 ? axis + dims.len : axis;
    if (place < 0 || place >= dims.len) return false;
    if (!tvms_sinfo_dim_int(dims.items[place], &length)) return false;
    places[i] = at += length;
  }
  return give_all(q, tvms_relax_op_split(q->m, q->grad, places, types.len - 1, axis));
}

static bool gradient_split(tvms_gradient_query *q) {
  tvms_node *attr = tvms_object_int_new(
      q->m->unit, tvms_attr_int(q->call, TVMS_ATTR_split_axis, 0), TVMS_NO_SPAN);
  return give_all(q, tvms_relax_op_with(q->m, TVMS_R_concat, &q->grad, 1, &attr));
}

static bool gradient_expand_dims(tvms_gradient_query *q) {
  tvms_node *attr = tvms_attr(q->call, TVMS_ATTR_axis_list_axis);
  return give_all(q, tvms_relax_op_with(q->m, TVMS_R_squeeze, &q->grad, 1, &attr));
}

static bool gradient_reshape(tvms_gradient_query *q) {
  tvms_list dims;
  if (!shape_of(arg(q, 0), &dims)) return false;
  return give_all(q, with_shape(q, TVMS_R_reshape, q->grad, dims));
}

static bool gradient_broadcast_to(tvms_gradient_query *q) {
  tvms_list dims;
  if (!shape_of(arg(q, 0), &dims)) return false;
  return give_all(q, with_shape(q, TVMS_R_collapse_sum_to, q->grad, dims));
}

static bool gradient_take(tvms_gradient_query *q) {
  tvms_node *args[] = {q->grad, arg(q, 0), arg(q, 1)};
  tvms_node *attrs[TVMS_ATTR_take_COUNT] = {
      [TVMS_ATTR_take_axis] = tvms_attr(q->call, TVMS_ATTR_take_axis),
      [TVMS_ATTR_take_mode] = tvms_object_str_new(q->m->unit, "", 0, TVMS_NO_SPAN),
  };
  return give_all(q,
                  tvms_relax_op_with(q->m, TVMS_R_grad_take_backward, args, 3, attrs));
}

// ---- Products ----

static tvms_node *product(tvms_gradient_query *q, tvms_node *a, tvms_node *b) {
  return tvms_relax_op_matmul(q->m, a, b, (tvms_dtype){0});
}

static tvms_node *expanded(tvms_gradient_query *q, tvms_node *x, int64_t axis) {
  return tvms_relax_op_expand_dims(q->m, x, &axis, 1);
}

static bool gradient_matmul(tvms_gradient_query *q) {
  tvms_node *a = arg(q, 0), *b = arg(q, 1), *grad = q->grad, *of_a, *of_b;
  tvms_list a_dims, b_dims;
  if (!shape_of(a, &a_dims) || !shape_of(b, &b_dims)) return false;
  if (a_dims.len > MOST_AXES || b_dims.len > MOST_AXES) return false;
  if (a_dims.len > 1 && b_dims.len > 1) {
    of_a = product(q, grad, tvms_relax_op_transpose(q->m, b, b_dims.len));
    of_b = product(q, tvms_relax_op_transpose(q->m, a, a_dims.len), grad);
  } else if (b_dims.len > 1) {
    tvms_node *column = expanded(q, a, 1), *row = expanded(q, grad, -2);
    of_a = product(q, row, tvms_relax_op_transpose(q->m, b, b_dims.len));
    of_b = product(q, column, row);
  } else if (a_dims.len > 1) {
    int64_t last = -1;
    tvms_node *row = expanded(q, b, 0), *column = expanded(q, grad, -1);
    tvms_node *attr = tvms_relax_op_ints(q->m->unit, &last, 1);
    of_a = product(q, column, row);
    of_b = product(q, tvms_relax_op_transpose(q->m, a, a_dims.len), column);
    of_b = tvms_relax_op_with(q->m, TVMS_R_squeeze, &of_b, 1, &attr);
  } else {
    of_a = multiply(q, grad, b);
    of_b = multiply(q, grad, a);
  }
  return give(q, 0, of_a) && give(q, 1, of_b);
}

// ---- Windows and losses ----

static bool gradient_conv2d(tvms_gradient_query *q) {
  return tvms_relax_gradient_conv2d(q);
}

static bool gradient_pool2d(tvms_gradient_query *q) {
  tvms_node *args[] = {q->grad, arg(q, 0)};
  bool most = tvms_op_called(&q->call->head) == TVMS_R_nn_max_pool2d;
  tvms_opcode back =
      most ? TVMS_R_grad_max_pool2d_backward : TVMS_R_grad_avg_pool2d_backward;
  return give_all(q, tvms_relax_op_with(q->m, back, args, 2, q->call->attrs.items));
}

static bool gradient_cross_entropy(tvms_gradient_query *q) {
  tvms_node *x = arg(q, 0), *y = arg(q, 1), *grad = q->grad;
  tvms_list dims;
  int64_t batch;
  if (!shape_of(x, &dims)) return false;
  if (dims.len > 1) {
    if (!tvms_sinfo_dim_int(dims.items[0], &batch)) return false;
    grad = divide(q, grad, number(q, (double)batch, grad));
  }
  q->partials[0] = multiply(q, negative(q, grad), y);
  q->partials[1] = multiply(q, negative(q, grad), x);
  return true;
}

static bool gradient_nll_loss(tvms_gradient_query *q) {
  tvms_node *args[4] = {q->grad};
  uint32_t count = q->call->args.len;
  for (uint32_t i = 0; i < count && i < 3; i++)
    args[i + 1] = arg(q, i);
  return give_all(q, tvms_relax_op_with(q->m, TVMS_R_grad_nll_loss_backward, args,
                                        count + 1, q->call->attrs.items));
}

static gradient_rule *const rules[TVMS_OP_COUNT + 1] = {
#define GRADIENT(operator, rule) [TVMS_R_##operator] = gradient_##rule,
#include "passes/relax/graph/gradient.def"
};

bool tvms_relax_gradient_ask(tvms_gradient_query *query) {
  gradient_rule *rule = rules[tvms_op_called(&query->call->head)];
  return rule && query->call->args.len <= TVMS_GRADIENT_ARGUMENTS && rule(query);
}
