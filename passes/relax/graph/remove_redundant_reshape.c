// RemoveRedundantReshape: of two reshapes the second is enough, and one that changes nothing goes.
//
// Before: lv = R.reshape(x, R.shape([6, 4])); gv = R.reshape(lv, R.shape([24]))
// After:  gv = R.reshape(x, R.shape([24]))
//
// With broadcasts=true a broadcast_to to the shape that its argument has goes, too: front ends write
// one for each operand of a product, and computed it would be a copy. Functions with the attribute
// Primitive stay. TVM: relax.transform.RemoveRedundantReshape.
#include "ir/equal.h"
#include "passes/relax/analysis/primitive.h"
#include "passes/relax/pattern/rewrite.h"
#include "structinfo/sinfo.h"

typedef struct {
  tvms_pattern *x;
  tvms_pattern *roots[3];  // two reshapes, one, a broadcast
} removal;

static tvms_node *reshape_once(const tvms_pattern_rule *rule, tvms_relax_mutator *m,
                               const tvms_pattern_match *match,
                               const tvms_pattern *root, tvms_node *value) {
  const removal *r = rule->data;
  tvms_node *x = tvms_relax_pattern_expr(match, r->x);
  // The value may be another name of the call.
  tvms_node *call = tvms_relax_pattern_value(match, root);
  tvms_node *args[] = {x, tvms_as_call(call)->args.items[1]};
  if (root == r->roots[0]) return tvms_relax_recall(m, call, args);
  if (!tvms_sinfo_is_tensor(x->sinfo)) return value;
  const tvms_node *shape = tvms_as_sinfo_tensor(x->sinfo)->shape;
  bool same = shape && tvms_node_equal(m->unit->context, shape, args[1]);
  return same ? x : value;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  removal r;
  if (tvms_relax_is_primitive(function)) return function;
  tvms_pattern_rule rule = {
      .roots = r.roots, .root_count = 2, .replace = reshape_once, .data = &r};
  if (TVMS_OPTION(run, RemoveRedundantReshape, broadcasts).number) rule.root_count = 3;
  tvms_relax_pattern_set_init(&rule.set, run->context, &unit->arena);
  r.x = tvms_relax_pattern_any(&rule.set);
  tvms_pattern *shapes[] = {tvms_relax_pattern_any(&rule.set),
                            tvms_relax_pattern_any(&rule.set)};
  r.roots[1] = tvms_relax_pattern_op(&rule.set, TVMS_R_reshape, 2, r.x, shapes[0]);
  r.roots[0] =
      tvms_relax_pattern_op(&rule.set, TVMS_R_reshape, 2, r.roots[1], shapes[1]);
  r.roots[2] = tvms_relax_pattern_op(&rule.set, TVMS_R_broadcast_to, 2, r.x, shapes[0]);
  tvms_node *changed = tvms_relax_pattern_rewrite(run, unit, function, &rule);
  tvms_relax_pattern_set_fini(&rule.set);
  return changed;
}

void tvms_pass_remove_redundant_reshape(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
