// OptimizeLayoutTransform: a layout_transform that undoes another goes with it.
//
// Before: lv = R.layout_transform(x, …); gv = R.layout_transform(lv, …)   with the shape of x
// After:  x
//
// Between the two may be a call_tir of a function whose attribute operator_name is
// "remove_pad". Whether the second undoes the first is told by the shapes, as in TVM. Functions
// with the attribute Primitive stay. TVM: relax.transform.OptimizeLayoutTransform.
#include "ir/equal.h"
#include "ir/object.h"
#include "passes/relax/analysis/primitive.h"
#include "passes/relax/pattern/rewrite.h"
#include "structinfo/sinfo.h"

#include <string.h>

typedef struct {
  tvms_pass_run *run;
  tvms_pattern *x, *callee;
  tvms_pattern *roots[2];  // two in a row, a call between them
} optimization;

static bool removes_pad(const optimization *o, const tvms_node *callee) {
  const tvms_member *member =
      tvms_module_function_named(o->run->module, callee, TVMS_NODE_PRIM_FUNC);
  if (!member) return false;
  const tvms_node *attrs = tvms_as_prim_func(member->function)->attrs;
  const char *name = tvms_object_as_text(tvms_object_map_get(attrs, "operator_name"));
  return name && strcmp(name, "remove_pad") == 0;
}

static tvms_node *undo(const tvms_pattern_rule *rule, tvms_relax_mutator *m,
                       const tvms_pattern_match *match, const tvms_pattern *root,
                       tvms_node *value) {
  const optimization *o = rule->data;
  tvms_node *x = tvms_relax_pattern_expr(match, o->x);
  if (root == o->roots[1]
      && !removes_pad(o, tvms_relax_pattern_value(match, o->callee)))
    return value;
  if (!tvms_sinfo_is_tensor(x->sinfo) || !tvms_sinfo_is_tensor(value->sinfo))
    return value;
  const tvms_node *a = tvms_as_sinfo_tensor(x->sinfo)->shape;
  const tvms_node *b = tvms_as_sinfo_tensor(value->sinfo)->shape;
  return a && b && tvms_node_equal(m->unit->context, a, b) ? x : value;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  optimization o = {.run = run};
  if (tvms_relax_is_primitive(function)) return function;
  tvms_pattern_rule rule = {
      .roots = o.roots, .root_count = 2, .replace = undo, .data = &o};
  tvms_relax_pattern_set_init(&rule.set, run->context, &unit->arena);
  o.x = tvms_relax_pattern_any(&rule.set);
  o.callee = tvms_relax_pattern_any(&rule.set);
  tvms_pattern *moved =
      tvms_relax_pattern_op(&rule.set, TVMS_R_layout_transform, 1, o.x);
  tvms_pattern *args = tvms_relax_pattern_tuple(&rule.set, &moved, 1);
  tvms_pattern *call =
      tvms_relax_pattern_op(&rule.set, TVMS_R_call_tir, 2, o.callee, args);
  o.roots[0] = tvms_relax_pattern_op(&rule.set, TVMS_R_layout_transform, 1, moved);
  o.roots[1] = tvms_relax_pattern_op(&rule.set, TVMS_R_layout_transform, 1, call);
  tvms_node *changed = tvms_relax_pattern_rewrite(run, unit, function, &rule);
  tvms_relax_pattern_set_fini(&rule.set);
  return changed;
}

void tvms_pass_optimize_layout_transform(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
