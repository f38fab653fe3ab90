// DecomposeOpsForInference, DecomposeOpsForTraining: norms become arithmetic.
//
// Before: lv = R.nn.batch_norm(x, gamma, beta, mean, var, axis=1, epsilon=e, …)
// After:  (x - mean) / sqrt(var + e) * gamma + beta, step by step, in a tuple with mean and var
//
// Both take batch_norm and tensor_to_shape apart, the latter into a packed call whose result is
// matched with symbolic dimensions. For training, batch_norm uses the statistics of its argument
// and updates the moving ones, and layer_norm is taken apart too. The option func_name restricts
// the pass to one function. For inference TVM takes the given statistics whatever `training` says;
// with the option exact a batch_norm that takes those of its argument stays. With scales, one whose vectors are
// all constants is a scale and a shift, which are computed of them: x * s + (beta - mean * s) with
// s = gamma / sqrt(var + e), so that nothing is divided where it runs.
// TVM: relax.transform.DecomposeOpsForInference, …ForTraining.
#include "ir/object.h"
#include "passes/relax/graph/op_calls.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

#include <string.h>

enum { MOST_AXES = 64 };

typedef struct {
  tvms_relax_mutator m;
  const char *only;  // name of the one function to change; empty: all
  bool training;
  bool exact;   // only what computes the same
  bool scales;  // one scale and one shift where the vectors are constants
} decomposer;

static decomposer *decomposer_of(const tvms_rewriter *r) {
  const tvms_relax_mutator *m = r->self;
  return m->self;
}

// The number of axes of the first argument, or -1.
static int64_t ndim_of(const tvms_call *call) {
  const tvms_node *type = call->args.items[0]->sinfo;
  int64_t ndim = tvms_sinfo_is_tensor(type) ? tvms_as_sinfo_tensor(type)->ndim : -1;
  return ndim <= MOST_AXES ? ndim : -1;
}

// A vector along `axis` of a tensor with `ndim` axes.
static tvms_node *widen(tvms_relax_mutator *m, tvms_node *vector, int64_t ndim,
                        int64_t axis) {
  int64_t axes[MOST_AXES];
  uint32_t count = 0;
  for (int64_t i = 0; i < ndim; i++)
    if (i != (axis < 0 ? axis + ndim : axis)) axes[count++] = i;
  return tvms_relax_op_expand_dims(m, vector, axes, count);
}

// (x - mean) / sqrt(var + epsilon)
static tvms_node *normalized(tvms_relax_mutator *m, tvms_node *x, tvms_node *mean,
                             tvms_node *variance, double epsilon) {
  tvms_node *scalar = tvms_relax_op_scalar(m, epsilon, x->sinfo->dtype);
  tvms_node *sum = tvms_relax_op_binary(m, TVMS_R_add, variance, scalar);
  tvms_node *root = tvms_relax_op_unary(m, TVMS_R_sqrt, sum);
  tvms_node *centered = tvms_relax_op_binary(m, TVMS_R_subtract, x, mean);
  return tvms_relax_op_binary(m, TVMS_R_divide, centered, root);
}

// The statistics that come out of a batch_norm: those that went in, or what the call itself makes of them, which is dead
// code where nobody asks for it.
static void put_statistics(tvms_relax_mutator *m, const tvms_call *call, bool exact,
                           tvms_node **fields) {
  tvms_node *const *args = call->args.items;
  bool moved = exact && tvms_attr_bool(call, TVMS_ATTR_batch_norm_training);
  tvms_node *norm = moved ? tvms_relax_recall(m, &call->head, args) : NULL;
  for (uint32_t i = 1; i < 3; i++)
    fields[i] = norm ? tvms_relax_make_item(m, norm, i) : args[2 + i];
}

static bool are_constants(const tvms_call *call) {
  bool constant = true;
  for (uint32_t i = 1; i < 5; i++)
    constant &= call->args.items[i]->kind == TVMS_NODE_CONSTANT;
  return constant;
}

// The result of a batch_norm as a product and a sum with vectors that are computed of its own.
static tvms_node *scaled(tvms_relax_mutator *m, const tvms_call *call) {
  tvms_node *const *args = call->args.items;
  int64_t ndim = ndim_of(call),
          axis = tvms_attr_int(call, TVMS_ATTR_batch_norm_axis, 1);
  double epsilon = tvms_attr_float(call, TVMS_ATTR_batch_norm_epsilon, 1e-5);
  tvms_node *scalar = tvms_relax_op_scalar(m, epsilon, args[4]->sinfo->dtype);
  tvms_node *sum = tvms_relax_op_binary(m, TVMS_R_add, args[4], scalar);
  tvms_node *root = tvms_relax_op_unary(m, TVMS_R_sqrt, sum);
  bool scales = tvms_attr_bool(call, TVMS_ATTR_batch_norm_scale);
  bool centers = tvms_attr_bool(call, TVMS_ATTR_batch_norm_center);
  tvms_node *one = tvms_relax_op_scalar(m, 1, args[4]->sinfo->dtype);
  tvms_node *scale =
      tvms_relax_op_binary(m, TVMS_R_divide, scales ? args[1] : one, root);
  tvms_node *moved = tvms_relax_op_binary(m, TVMS_R_multiply, args[3], scale);
  tvms_node *zero = tvms_relax_op_scalar(m, 0, args[4]->sinfo->dtype);
  tvms_node *shift =
      tvms_relax_op_binary(m, TVMS_R_subtract, centers ? args[2] : zero, moved);
  tvms_node *out =
      tvms_relax_op_binary(m, TVMS_R_multiply, args[0], widen(m, scale, ndim, axis));
  return tvms_relax_op_binary(m, TVMS_R_add, out, widen(m, shift, ndim, axis));
}

// The result of a batch_norm step by step.
static tvms_node *stepwise(tvms_relax_mutator *m, const tvms_call *call) {
  tvms_node *const *args = call->args.items;
  int64_t ndim = ndim_of(call),
          axis = tvms_attr_int(call, TVMS_ATTR_batch_norm_axis, 1);
  tvms_node *mean = widen(m, args[3], ndim, axis);
  tvms_node *variance = widen(m, args[4], ndim, axis);
  double epsilon = tvms_attr_float(call, TVMS_ATTR_batch_norm_epsilon, 1e-5);
  tvms_node *out = normalized(m, args[0], mean, variance, epsilon);
  if (tvms_attr_bool(call, TVMS_ATTR_batch_norm_scale))
    out = tvms_relax_op_binary(m, TVMS_R_multiply, out, widen(m, args[1], ndim, axis));
  if (tvms_attr_bool(call, TVMS_ATTR_batch_norm_center))
    out = tvms_relax_op_binary(m, TVMS_R_add, out, widen(m, args[2], ndim, axis));
  return out;
}

static tvms_node *decompose_batch_norm(tvms_relax_mutator *m, const tvms_call *call) {
  const decomposer *d = m->self;
  if (d->exact && !tvms_relax_op_norm_uses_given(m, call)) return NULL;
  bool scales = d->scales && are_constants(call);
  tvms_node *fields[3] = {scales ? scaled(m, call) : stepwise(m, call)};
  put_statistics(m, call, d->exact, fields);
  return tvms_relax_make_tuple(m, fields, 3);
}

// (1 - momentum) * old + momentum * new
static tvms_node *moved(tvms_relax_mutator *m, tvms_node *old, tvms_node *fresh,
                        double momentum, tvms_dtype dtype) {
  tvms_node *keeps = tvms_relax_op_scalar(m, 1 - momentum, dtype);
  tvms_node *takes = tvms_relax_op_scalar(m, momentum, dtype);
  keeps = tvms_relax_op_binary(m, TVMS_R_multiply, keeps, old);
  takes = tvms_relax_op_binary(m, TVMS_R_multiply, takes, fresh);
  return tvms_relax_op_binary(m, TVMS_R_add, keeps, takes);
}

// batch_norm with the statistics of its argument, and the moving ones updated.
static tvms_node *train_batch_norm(tvms_relax_mutator *m, const tvms_call *call) {
  tvms_node *const *args = call->args.items;
  int64_t ndim = ndim_of(call),
          axis = tvms_attr_int(call, TVMS_ATTR_batch_norm_axis, 1);
  int64_t axes[MOST_AXES];
  uint32_t count = 0;
  for (int64_t i = 0; i < ndim; i++)
    if (i != axis) axes[count++] = i;
  tvms_node *mean = tvms_relax_op_reduce(m, TVMS_R_mean, args[0], axes, count, false);
  tvms_node *variance =
      tvms_relax_op_reduce(m, TVMS_R_variance, args[0], axes, count, false);
  mean = tvms_relax_settle_leaf(m, mean);
  variance = tvms_relax_settle_leaf(m, variance);
  double momentum = tvms_attr_float(call, TVMS_ATTR_batch_norm_momentum, 0.1);
  tvms_dtype dtype = args[0]->sinfo->dtype;
  tvms_node *norm_args[] = {args[0], args[1], args[2], mean, variance};
  tvms_node *norm = tvms_relax_recall(m, &call->head, norm_args);
  tvms_node *fields[] = {tvms_relax_make_item(m, norm, 0),
                         moved(m, args[3], mean, momentum, dtype),
                         moved(m, args[4], variance, momentum, dtype)};
  return tvms_relax_make_tuple(m, fields, 3);
}

static tvms_node *decompose_layer_norm(tvms_relax_mutator *m, const tvms_call *call) {
  tvms_node *const *args = call->args.items;
  tvms_list list = tvms_attr_list(call, TVMS_ATTR_layer_norm_axes);
  int64_t axes[MOST_AXES];
  uint32_t count = 0;
  for (uint32_t i = 0; i < list.len && i < MOST_AXES; i++)
    axes[count++] = tvms_attr_item_int(list.items[i]);
  tvms_node *mean = tvms_relax_op_reduce(m, TVMS_R_mean, args[0], axes, count, true);
  tvms_node *variance =
      tvms_relax_op_reduce(m, TVMS_R_variance, args[0], axes, count, true);
  double epsilon = tvms_attr_float(call, TVMS_ATTR_layer_norm_epsilon, 1e-5);
  tvms_node *out = normalized(m, args[0], mean, variance, epsilon);
  if (tvms_attr_bool(call, TVMS_ATTR_layer_norm_scale))
    out = tvms_relax_op_binary(m, TVMS_R_multiply, out, args[1]);
  if (tvms_attr_bool(call, TVMS_ATTR_layer_norm_center))
    out = tvms_relax_op_binary(m, TVMS_R_add, out, args[2]);
  return out;
}

// ---- tensor_to_shape ----

static tvms_node *shape_symbol(tvms_unit *unit) {
  tvms_sym name = tvms_symbol_intern(unit->context, "x", 1);
  return tvms_var_new(unit, name, TVMS_DTYPE(INT, 64), TVMS_NO_SPAN);
}

// The shape is computed by the virtual machine; its dimensions get names, for operators that
// need them one by one.
static tvms_node *decompose_to_shape(tvms_relax_mutator *m, const tvms_call *call) {
  tvms_unit *unit = m->unit;
  int64_t ndim = tvms_as_sinfo_shape(call->head.sinfo)->ndim;
  if (ndim < 0 || ndim > MOST_AXES) return NULL;
  tvms_extern_func *callee = tvms_node_make(unit, EXTERN_FUNC, TVMS_NO_SPAN);
  static const char name[] = "vm.builtin.tensor_to_shape";
  callee->symbol = tvms_bytes_copy(unit, name, sizeof name - 1);
  tvms_node *args[] = {&callee->head, call->args.items[0]};
  tvms_node *op = tvms_op_operator_new(unit, TVMS_R_call_pure_packed);
  tvms_node *packed = tvms_call_new(unit, (tvms_dtype){0}, op, args, 2, TVMS_NO_SPAN);
  tvms_node *type = tvms_sinfo_shape_new_ndim(unit, ndim);
  tvms_as_call(packed)->type_args = tvms_list_copy(unit, &type, 1);
  packed->sinfo = type;
  packed = tvms_relax_settle_leaf(m, packed);
  tvms_node *dims[MOST_AXES];
  for (uint32_t i = 0; i < ndim; i++)
    dims[i] = shape_symbol(unit);
  tvms_match_cast *cast = tvms_node_make(unit, MATCH_CAST, TVMS_NO_SPAN);
  cast->value = packed;
  cast->type = tvms_sinfo_shape_new(unit, dims, (uint32_t)ndim);
  cast->var = tvms_var_new(unit, tvms_symbol_intern(unit->context, "y", 1),
                           (tvms_dtype){0}, TVMS_NO_SPAN);
  cast->var->sinfo = cast->type;
  if (tvms_relax_in_dataflow(m)) cast->var->flags |= TVMS_FLAG_DATAFLOW;
  tvms_rewrite_emit(&m->rewriter, &cast->head);
  return tvms_sinfo_shape_value_new(unit, dims, (uint32_t)ndim, TVMS_NO_SPAN);
}

// ---- The passes ----

static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  decomposer *d = decomposer_of(r);
  node = tvms_relax_leave_call(r, node);
  const tvms_call *call = tvms_as_call(node);
  tvms_node *made = NULL;
  switch ((int)tvms_op_called(node)) {
  case TVMS_R_nn_batch_norm:
    if (ndim_of(call) >= 0)
      made = d->training ? train_batch_norm(&d->m, call)
                         : decompose_batch_norm(&d->m, call);
    break;
  case TVMS_R_nn_layer_norm:
    if (d->training && ndim_of(call) >= 0) made = decompose_layer_norm(&d->m, call);
    break;
  case TVMS_R_tensor_to_shape: made = decompose_to_shape(&d->m, call); break;
  default: break;
  }
  return made ? tvms_relax_settle(&d->m, made) : node;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  decomposer *d = run->state;
  const char *name = tvms_symbol_text(run->context, tvms_as_function(function)->name);
  if (d->only[0] && strcmp(name, d->only) != 0) return function;
  tvms_relax_mutator_init(&d->m, run, unit, d);
  d->m.rewriter.leave[TVMS_NODE_CALL] = leave_call;
  tvms_node *changed = tvms_relax_mutate(&d->m, function);
  tvms_relax_mutator_fini(&d->m);
  return changed;
}

// For training, batch_norm takes the statistics of its argument first.
static void decompose(tvms_pass_run *run, decomposer d) {
  void *outer = run->state;
  if (strcmp(d.only, "None") == 0) d.only = "";
  run->state = &d;
  if (d.training) tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
  d.training = false;
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
  run->state = outer;
}

void tvms_pass_decompose_ops_for_inference(tvms_pass_run *run) {
  decompose(run,
            (decomposer){
                .only = TVMS_OPTION(run, DecomposeOpsForInference, func_name).text,
                .exact = TVMS_OPTION(run, DecomposeOpsForInference, exact).number,
                .scales = TVMS_OPTION(run, DecomposeOpsForInference, scales).number,
            });
}

void tvms_pass_decompose_ops_for_training(tvms_pass_run *run) {
  decompose(run, (decomposer){
                     .only = TVMS_OPTION(run, DecomposeOpsForTraining, func_name).text,
                     .training = true,
                 });
}
