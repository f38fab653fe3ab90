// ReorderTakeAfterMatmul: columns are taken from a product instead of from its right side.
//
// Before: lv = R.take(w, indices, axis=1); gv = R.matmul(x, lv)
// After:  lv = R.matmul(x, w); gv = R.take(lv, indices, axis=1)
//
// For one list of indices along the last axis of the right side, or along the first of three,
// where each row of a batch has its own matrix. The table must then be written out in shape.
// TVM: relax.transform.ReorderTakeAfterMatmul.
#include "ir/object.h"
#include "passes/relax/graph/op_calls.h"
#include "passes/relax/pattern/rewrite.h"
#include "structinfo/make.h"

typedef struct {
  tvms_pattern *x, *weights, *indices, *taken, *root;
} reordering;

static int64_t ndim_of(const tvms_node *node) {
  const tvms_node *type = node->sinfo;
  return tvms_sinfo_is_tensor(type) ? tvms_as_sinfo_tensor(type)->ndim : -1;
}

// Each row of a batch multiplies with one matrix of a table: all products are computed, and
// those of the row's own matrix taken.
static tvms_node *take_of_batch(tvms_relax_mutator *m, tvms_node *x, tvms_node *weights,
                                tvms_node *indices, tvms_list x_dims,
                                tvms_list w_dims) {
  static const int64_t axes[] = {1, 0, 2};
  tvms_node *width =
      tvms_dim_binary(&m->prover, TVMS_NODE_MUL, w_dims.items[0], w_dims.items[2]);
  tvms_node *flat[] = {w_dims.items[1], width};
  tvms_node *full[] = {x_dims.items[0], x_dims.items[1], w_dims.items[0],
                       w_dims.items[2]};
  tvms_node *table = tvms_relax_op_permute(m, weights, axes, 3);
  table = tvms_relax_op_reshape(m, table, flat, 2);
  tvms_node *products = tvms_relax_op_matmul(m, x, table, (tvms_dtype){0});
  products = tvms_relax_op_reshape(m, products, full, 4);
  tvms_node *taken = tvms_relax_op_take(m, products, indices, 2, "fast");
  tvms_node *operands = tvms_relax_make_tuple(m, &taken, 1);
  tvms_node *subscripts = tvms_object_str_new(m->unit, "ijik->ijk", 9, TVMS_NO_SPAN);
  return tvms_relax_op_with(m, TVMS_R_einsum, &operands, 1, &subscripts);
}

static tvms_node *take_last(const tvms_pattern_rule *rule, tvms_relax_mutator *m,
                            const tvms_pattern_match *match, const tvms_pattern *root,
                            tvms_node *value) {
  const reordering *r = rule->data;
  (void)root;
  tvms_node *x = tvms_relax_pattern_expr(match, r->x);
  tvms_node *weights = tvms_relax_pattern_expr(match, r->weights);
  tvms_node *indices = tvms_relax_pattern_expr(match, r->indices);
  const tvms_call *take = tvms_as_call(tvms_relax_pattern_value(match, r->taken));
  if (!tvms_attr(take, TVMS_ATTR_take_axis)) return value;
  int64_t axis = tvms_attr_int(take, TVMS_ATTR_take_axis, 0);
  bool known = ndim_of(x) >= 0 && ndim_of(weights) >= 0 && ndim_of(value) >= 0;
  if (!known || ndim_of(indices) != 1) return value;
  if (axis + 1 == ndim_of(weights)) {
    tvms_node *table = tvms_relax_op_matmul(m, x, weights, (tvms_dtype){0});
    return tvms_relax_op_take(m, table, indices, ndim_of(value) - 1, "fast");
  }
  tvms_list x_dims, w_dims;
  bool batch = ndim_of(x) == 3 && ndim_of(weights) == 3 && axis == 0
               && tvms_sinfo_dims(x->sinfo, &x_dims)
               && tvms_sinfo_dims(weights->sinfo, &w_dims);
  return batch ? take_of_batch(m, x, weights, indices, x_dims, w_dims) : value;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  reordering r;
  tvms_pattern_rule rule = {
      .roots = &r.root, .root_count = 1, .replace = take_last, .data = &r};
  tvms_relax_pattern_set_init(&rule.set, run->context, &unit->arena);
  r.x = tvms_relax_pattern_any(&rule.set);
  r.weights = tvms_relax_pattern_any(&rule.set);
  r.indices = tvms_relax_pattern_any(&rule.set);
  r.taken = tvms_relax_pattern_op(&rule.set, TVMS_R_take, 2, r.weights, r.indices);
  r.root = tvms_relax_pattern_op(&rule.set, TVMS_R_matmul, 2, r.x, r.taken);
  tvms_node *changed = tvms_relax_pattern_rewrite(run, unit, function, &rule);
  tvms_relax_pattern_set_fini(&rule.set);
  return changed;
}

void tvms_pass_reorder_take_after_matmul(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
