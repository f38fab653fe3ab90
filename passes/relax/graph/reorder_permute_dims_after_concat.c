// ReorderPermuteDimsAfterConcat: tensors are joined first and transposed together.
//
// Before: lv = R.permute_dims(a); lv1 = R.permute_dims(b); gv = R.concat((lv, lv1), axis=1)
// After:  lv = R.concat((a, b), axis=0); gv = R.permute_dims(lv)
//
// From 2 to 11 tensors, all transposed alike. TVM: relax.transform.ReorderPermuteDimsAfterConcat.
#include "ir/object.h"
#include "passes/relax/graph/op_calls.h"
#include "passes/relax/pattern/rewrite.h"
#include "structinfo/sinfo.h"

enum { LEAST_TENSORS = 2, MOST_TENSORS = 11, MOST_AXES = 64 };

typedef struct {
  tvms_pattern *tensors[MOST_TENSORS];
  tvms_pattern *transposed[MOST_TENSORS];
  tvms_pattern *roots[MOST_TENSORS - LEAST_TENSORS + 1];
} reordering;

// Where axis `i` of the result comes from, or -1.
static int64_t axis_of(const tvms_node *permute, int64_t i) {
  const tvms_call *call = tvms_as_call(permute);
  tvms_list axes = tvms_attr_list(call, TVMS_ATTR_opt_axes_axes);
  if (tvms_attr(call, TVMS_ATTR_opt_axes_axes))
    return i < axes.len ? tvms_attr_item_int(axes.items[i]) : -1;
  int64_t ndim = tvms_as_sinfo_tensor(call->args.items[0]->sinfo)->ndim;
  return i < ndim ? ndim - i - 1 : -1;
}

static bool same_axes(const tvms_node *a, const tvms_node *b) {
  int64_t i = 0;
  while (i < MOST_AXES && axis_of(a, i) >= 0 && axis_of(a, i) == axis_of(b, i))
    i++;
  return axis_of(a, i) == axis_of(b, i);
}

static tvms_node *join_first(const tvms_pattern_rule *rule, tvms_relax_mutator *m,
                             const tvms_pattern_match *match, const tvms_pattern *root,
                             tvms_node *value) {
  const reordering *r = rule->data;
  uint32_t count = root->parts[0]->count;
  tvms_node *tensors[MOST_TENSORS];
  const tvms_node *first = tvms_relax_pattern_value(match, r->transposed[0]);
  for (uint32_t i = 0; i < count; i++) {
    tensors[i] = tvms_relax_pattern_expr(match, r->tensors[i]);
    if (!tvms_sinfo_is_tensor(tensors[i]->sinfo)) return value;
    if (!same_axes(first, tvms_relax_pattern_value(match, r->transposed[i])))
      return value;
  }
  int64_t ndim = 0;
  while (ndim < MOST_AXES && axis_of(first, ndim) >= 0)
    ndim++;
  int64_t axis = tvms_attr_int(tvms_as_call(tvms_relax_pattern_value(match, root)),
                               TVMS_ATTR_opt_axis_axis, 0);
  axis = axis_of(first, axis < 0 ? axis + ndim : axis);
  if (axis < 0) return value;
  tvms_node *joined = tvms_relax_op_concat(m, tensors, count, axis);
  return tvms_relax_op_with(m, TVMS_R_permute_dims, &joined, 1,
                            tvms_as_call(first)->attrs.items);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  reordering r;
  tvms_pattern_rule rule = {.roots = r.roots,
                            .root_count = MOST_TENSORS - LEAST_TENSORS + 1,
                            .replace = join_first,
                            .data = &r};
  tvms_relax_pattern_set_init(&rule.set, run->context, &unit->arena);
  for (uint32_t i = 0; i < MOST_TENSORS; i++) {
    r.tensors[i] = tvms_relax_pattern_any(&rule.set);
    r.transposed[i] =
        tvms_relax_pattern_op(&rule.set, TVMS_R_permute_dims, 1, r.tensors[i]);
  }
  for (uint32_t i = LEAST_TENSORS; i <= MOST_TENSORS; i++) {
    tvms_pattern *tuple = tvms_relax_pattern_tuple(&rule.set, r.transposed, i);
    r.roots[i - LEAST_TENSORS] =
        tvms_relax_pattern_op(&rule.set, TVMS_R_concat, 1, tuple);
  }
  tvms_node *changed = tvms_relax_pattern_rewrite(run, unit, function, &rule);
  tvms_relax_pattern_set_fini(&rule.set);
  return changed;
}

void tvms_pass_reorder_permute_dims_after_concat(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
