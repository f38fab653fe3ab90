// ExpandMatmulOfSum: a product with a sum becomes a sum of products.
//
// Before: lv = R.add(a, b); gv = R.matmul(x, lv)
// After:  lv = R.matmul(x, a); lv1 = R.matmul(x, b); gv = R.add(lv, lv1)
//
// The sum may be transposed before the product: then both parts are. Where both parts are
// weights (parameters behind the first num_input), the sum stays, since it can be computed
// beforehand. TVM: relax.transform.ExpandMatmulOfSum.
#include "passes/relax/analysis/compile_time.h"
#include "passes/relax/graph/op_calls.h"
#include "passes/relax/pattern/rewrite.h"

typedef struct {
  tvms_node_map compile_time;
  tvms_pattern *x, *a, *b, *transposed, *root;
} expansion;

static bool is_weight(const expansion *e, const tvms_pattern_match *match,
                      const tvms_pattern *part) {
  const tvms_node *value = tvms_relax_pattern_value(match, part);
  return value->kind == TVMS_NODE_VAR && tvms_node_map_get(&e->compile_time, value);
}

static tvms_node *expand(const tvms_pattern_rule *rule, tvms_relax_mutator *m,
                         const tvms_pattern_match *match, const tvms_pattern *root,
                         tvms_node *value) {
  const expansion *e = rule->data;
  (void)root;
  if (is_weight(e, match, e->a) && is_weight(e, match, e->b)) return value;
  tvms_node *x = tvms_relax_pattern_expr(match, e->x);
  tvms_node *parts[] = {tvms_relax_pattern_expr(match, e->a),
                        tvms_relax_pattern_expr(match, e->b)};
  const tvms_node *transposed = tvms_relax_pattern_value(match, e->transposed);
  for (uint32_t i = 0; i < 2; i++) {
    tvms_list attrs = transposed ? tvms_as_call(transposed)->attrs : (tvms_list){0};
    if (transposed)
      parts[i] = tvms_relax_op_with(m, TVMS_R_permute_dims, &parts[i], 1, attrs.items);
    parts[i] = tvms_relax_op_matmul(m, x, parts[i], (tvms_dtype){0});
  }
  return tvms_relax_op_binary(m, TVMS_R_add, parts[0], parts[1]);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  expansion e;
  tvms_pattern_rule rule = {
      .roots = &e.root, .root_count = 1, .replace = expand, .data = &e};
  tvms_node_map_init(&e.compile_time, &run->context->memory);
  tvms_relax_compile_time(&e.compile_time, function);
  tvms_relax_pattern_set_init(&rule.set, run->context, &unit->arena);
  e.x = tvms_relax_pattern_any(&rule.set);
  e.a = tvms_relax_pattern_any(&rule.set);
  e.b = tvms_relax_pattern_any(&rule.set);
  tvms_pattern *sum = tvms_relax_pattern_op(&rule.set, TVMS_R_add, 2, e.a, e.b);
  e.transposed = tvms_relax_pattern_op(&rule.set, TVMS_R_permute_dims, 1, sum);
  tvms_pattern *right = tvms_relax_pattern_either(&rule.set, sum, e.transposed);
  e.root = tvms_relax_pattern_op(&rule.set, TVMS_R_matmul, 2, e.x, right);
  tvms_node *changed = tvms_relax_pattern_rewrite(run, unit, function, &rule);
  tvms_relax_pattern_set_fini(&rule.set);
  tvms_node_map_fini(&e.compile_time);
  return changed;
}

void tvms_pass_expand_matmul_of_sum(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
