// Descriptions of losses and of the gradient of one.
//
// nll_loss takes from each row the element that its target names, weighted by the target's
// class; a mean divides by the sum of the weights. The gradient is zero but at the target.
#include "te/element.h"
#include "te/legalizers.h"

typedef struct {
  tvms_te *te;
  tvms_node *predictions, *targets, *weights;
  int64_t ignored;
} loss;

// A weight of 1 for every class.
static tvms_node *equal_weights(tvms_te *te, tvms_node *predictions) {
  tvms_list shape = tvms_te_shape(predictions);
  tvms_node *classes = shape.items[shape.len > 1 ? 1 : 0];
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_list_copy(te->unit, &classes, 1), "ax");
  tvms_node *one = tvms_te_const(te, tvms_te_dtype(predictions), 1);
  return tvms_te_close(&stage, "T_full", one);
}

// Reads predictions, targets and weights, which may be missing.
static loss read_loss(tvms_legal *legal, uint32_t first) {
  const tvms_call *call = legal->call;
  loss l = {.te = &legal->te};
  l.ignored = tvms_attr_int(call, TVMS_ATTR_nll_loss_ignore_index, -100);
  l.predictions = tvms_legal_tensor(legal, tvms_legal_arg(legal, first));
  l.targets = tvms_legal_tensor(legal, tvms_legal_arg(legal, first + 1));
  l.weights = call->args.len > first + 2
                  ? tvms_legal_tensor(legal, tvms_legal_arg(legal, first + 2))
                  : equal_weights(l.te, l.predictions);
  return l;
}

static tvms_node *sum_of_all(tvms_te *te, tvms_node *x) {
  bool *all = tvms_arena_array(&te->unit->arena, bool, tvms_te_shape(x).len + 1);
  for (uint32_t i = 0; i < tvms_te_shape(x).len; i++)
    all[i] = true;
  return tvms_te_reduce_axes(te, x, all, false, TVMS_FOLD_SUM);
}

// What each target costs, or the weight of its class; ignored targets have none.
static tvms_node *per_target(const loss *l, bool weight_only) {
  tvms_te *te = l->te;
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_te_shape(l->targets), "ax");
  tvms_node *const *axes = stage.axes.items;
  uint32_t rank = stage.shape.len;
  tvms_node *target = tvms_te_load(te, l->targets, axes, rank);
  tvms_node *value = tvms_te_load(te, l->weights, &target, 1);
  if (!weight_only) {
    tvms_node **at = tvms_arena_array(&te->unit->arena, tvms_node *, rank + 1);
    at[0] = target;
    for (uint32_t i = 0; i < rank; i++)
      at[i ? i + 1 : 0] = axes[i];
    if (rank) at[1] = target;
    tvms_node *p = tvms_te_load(te, l->predictions, at, rank + 1);
    value = MUL(tvms_build_neg(te->unit, p, TVMS_NO_SPAN), value);
  }
  tvms_node *counts = NE(target, INT32(l->ignored));
  tvms_node *zero = tvms_te_const(te, tvms_te_dtype(l->predictions), 0);
  return tvms_te_close(&stage, "nll_loss", tvms_te_select(te, counts, value, zero));
}

bool tvms_legalize_nll_loss(tvms_legal *legal) {
  legal->name = legal->call->args.len > 2 ? "nll_loss" : "nll_loss_without_weight";
  loss l = read_loss(legal, 0);
  bool batched = tvms_te_shape(l.predictions).len > 1;
  tvms_bytes how = tvms_attr_text(legal->call, TVMS_ATTR_nll_loss_reduction);
  tvms_node *y = per_target(&l, false);
  if (!y) return false;
  bool mean = tvms_bytes_is(how, "mean");
  if (batched && (mean || tvms_bytes_is(how, "sum"))) y = sum_of_all(l.te, y);
  if (mean) {
    tvms_node *weight = per_target(&l, true);
    if (weight && batched) weight = sum_of_all(l.te, weight);
    y = tvms_te_divide(l.te, y, weight);
  }
  return tvms_legal_return(legal, y);
}

// ---- The gradient ----

// Weights with that of the ignored class set to zero.
static tvms_node *without_ignored(const loss *l) {
  static const char *const names[] = {"i"};
  tvms_te *te = l->te;
  if (l->ignored < 0) return l->weights;
  tvms_stage stage;
  tvms_te_open_named(te, &stage, tvms_te_shape(l->weights), names);
  tvms_node *value = tvms_te_load(te, l->weights, stage.axes.items, 1);
  tvms_node *here = EQ(stage.axes.items[0], INT32(l->ignored));
  tvms_node *zero = tvms_te_const(te, value->dtype, 0);
  return tvms_te_close(&stage, "weights_new", tvms_te_select(te, here, zero, value));
}

static tvms_node *spread(tvms_te *te, tvms_node *x, tvms_list shape) {
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "ax");
  tvms_node *value = tvms_te_broadcast_load(te, x, shape, stage.axes.items);
  return tvms_te_close(&stage, "T_broadcast_to", value);
}

bool tvms_legalize_nll_loss_backward(tvms_legal *legal) {
  static const char *const names[] = {"i"};
  legal->name = legal->call->args.len > 3 ? "nll_loss_backward"
                                          : "te_nll_loss_backward_no_weight";
  tvms_te *te = &legal->te;
  tvms_node *gradient = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  loss l = read_loss(legal, 1);
  l.weights = without_ignored(&l);
  tvms_list shape = tvms_te_shape(l.targets), from = tvms_te_shape(l.predictions);
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "i");
  tvms_node *target = tvms_te_load(te, l.targets, stage.axes.items, shape.len);
  tvms_node *weight =
      tvms_te_close(&stage, "all_weights", tvms_te_load(te, l.weights, &target, 1));
  tvms_bytes how = tvms_attr_text(legal->call, TVMS_ATTR_nll_loss_reduction);
  bool mean = tvms_bytes_is(how, "mean");
  if (mean || tvms_bytes_is(how, "sum")) gradient = spread(te, gradient, shape);
  if (mean) {
    tvms_node *sum = shape.len ? sum_of_all(te, weight) : weight;
    gradient = tvms_te_divide(te, gradient, sum);
  }
  bool batched = from.len > 1;
  if (batched) {
    tvms_te_open(te, &stage, from, "i");
  } else {
    tvms_te_open_named(te, &stage, from, names);
  }
  tvms_list at = tvms_list_copy(te->unit, stage.axes.items, from.len);
  // The targets have no axis for the class.
  for (uint32_t i = 1; i + 1 < from.len; i++)
    at.items[i] = stage.axes.items[i + 1];
  target = tvms_te_load(te, l.targets, at.items, shape.len);
  tvms_node *here = EQ(stage.axes.items[batched ? 1 : 0], target);
  tvms_node *scale = MUL(tvms_te_load(te, weight, at.items, shape.len), INT32(-1));
  tvms_node *value = MUL(scale, tvms_te_load(te, gradient, at.items, shape.len));
  tvms_node *zero = tvms_te_const(te, tvms_te_dtype(l.predictions), 0);
  return tvms_legal_return(
      legal, tvms_te_close(&stage, "pred_grad", tvms_te_select(te, here, value, zero)));
}

// ---- Cross entropy ----

bool tvms_legalize_cross_entropy(tvms_legal *legal) {
  legal->name = "cross_entropy_with_logits";
  tvms_te *te = &legal->te;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_node *y = tvms_legal_tensor(legal, tvms_legal_arg(legal, 1));
  tvms_list shape = tvms_te_shape(x);
  tvms_node *product = tvms_te_multiply(te, x, y);
  tvms_node *sum = product ? sum_of_all(te, product) : NULL;
  tvms_node *result = tvms_te_multiply(te, sum, INT32(-1));
  if (shape.len > 1) result = tvms_te_divide(te, result, shape.items[0]);
  return tvms_legal_return(legal, result);
}
