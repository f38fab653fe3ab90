// Rewriting what looks like a pattern, until nothing does.
//
// A round looks at the bindings of a block first and notes what replaces each, then puts that in
// their place. A binding that is replaced is opaque to the patterns for the rest of the round.
#include "passes/relax/pattern/rewrite.h"

#include "ir/equal.h"
#include "passes/relax/graph/canonicalize_bindings.h"
#include "passes/relax/graph/dead_code_elimination.h"
#include "passes/relax/graph/eliminate_common_subexpr.h"
#include "structinfo/definitions.h"
#include "structinfo/infer.h"

// No program needs as many; a rule that undoes its own work must not go on for ever.
enum { MOST_ROUNDS = 1000 };

typedef struct {
  tvms_relax_mutator m;
  const tvms_pattern_rule *rule;
  tvms_pattern_match match;
  tvms_node_map
      lookup;  // VAR → value, of the bindings that patterns look through; never another VAR of it
  tvms_node_map replaced;  // VAR → tree for its binding
} round_state;

static round_state *state_of(const tvms_rewriter *r) {
  const tvms_relax_mutator *m = r->self;
  return m->self;
}

// Can patterns reach over this binding of a block with effects?
static bool is_dataflow(const round_state *s, const tvms_node *value) {
  if (value->kind == TVMS_NODE_IF) return false;
  return value->kind != TVMS_NODE_CALL
         || tvms_infer_call_is_pure(s->m.run->module, tvms_as_call(value));
}

static void try_binding(round_state *s, const tvms_pattern *root, tvms_node *binding) {
  tvms_node *var = tvms_relax_binding_var(binding);
  tvms_node *value = tvms_relax_binding_value(binding);
  if (tvms_node_map_get(&s->replaced, var)) return;
  if (tvms_relax_pattern_match(&s->match, root, value, &s->lookup)) {
    tvms_node *made = s->rule->replace(s->rule, &s->m, &s->match, root, value);
    if (made != value) {
      tvms_node_map_put(&s->replaced, var, made);
      return;
    }
  }
  tvms_node_map_put(&s->lookup, var, tvms_relax_pattern_unwrap(&s->lookup, value));
}

static void try_segment(round_state *s, tvms_node *const *bindings, uint32_t count) {
  for (uint32_t k = 0; k < s->rule->root_count; k++) {
    tvms_node_map_clear(&s->lookup);
    for (uint32_t i = 0; i < count; i++)
      try_binding(s, s->rule->roots[k], bindings[i]);
  }
}

static tvms_node *enter_block(tvms_rewriter *r, tvms_node *node) {
  round_state *s = state_of(r);
  tvms_list bindings = tvms_as_binding_block(node)->bindings;
  bool dataflow = node->flags & TVMS_FLAG_DATAFLOW;
  uint32_t first = 0;
  for (uint32_t i = 0; i <= bindings.len; i++) {
    bool end =
        i == bindings.len
        || (!dataflow && !is_dataflow(s, tvms_relax_binding_value(bindings.items[i])));
    if (!end) continue;
    try_segment(s, bindings.items + first, i - first);
    first = i + 1;
  }
  return TVMS_REWRITE_BELOW;
}

static tvms_node *enter_binding(tvms_rewriter *r, tvms_node *binding) {
  round_state *s = state_of(r);
  tvms_node *made = tvms_node_map_get(&s->replaced, tvms_relax_binding_var(binding));
  if (!made) return TVMS_REWRITE_BELOW;
  made = tvms_relax_settle(&s->m, tvms_rewrite(r, made));
  if (binding->kind == TVMS_NODE_VAR_BINDING)
    return tvms_relax_rebind(&s->m, binding, made);
  tvms_node *cast = tvms_node_copy(s->m.unit, binding);
  tvms_as_match_cast(cast)->value = tvms_relax_settle_leaf(&s->m, made);
  return cast;
}

static tvms_node *rewrite_once(tvms_pass_run *run, tvms_unit *unit, tvms_node *function,
                               const tvms_pattern_rule *rule) {
  round_state s = {.rule = rule};
  tvms_relax_mutator_init(&s.m, run, unit, &s);
  tvms_node_map_init(&s.lookup, &run->context->memory);
  tvms_node_map_init(&s.replaced, &run->context->memory);
  tvms_relax_pattern_match_init(&s.match, &rule->set);
  s.m.rewriter.enter[TVMS_NODE_BINDING_BLOCK] = enter_block;
  s.m.rewriter.enter[TVMS_NODE_VAR_BINDING] = enter_binding;
  s.m.rewriter.enter[TVMS_NODE_MATCH_CAST] = enter_binding;
  tvms_node *changed = tvms_relax_mutate(&s.m, function);
  tvms_relax_pattern_match_fini(&s.match);
  tvms_node_map_fini(&s.replaced);
  tvms_node_map_fini(&s.lookup);
  tvms_relax_mutator_fini(&s.m);
  return changed;
}

// What is equal may only be seen when names are gone, and names when what is equal is.
tvms_node *tvms_relax_pattern_tidy(tvms_pass_run *run, tvms_unit *unit,
                                   tvms_node *function) {
  for (uint32_t i = 0; i < MOST_ROUNDS; i++) {
    tvms_node *next = tvms_relax_canonicalize(run, unit, function);
    next = tvms_relax_share_values(run, unit, next, true);
    next = tvms_dead_code_clean(run, unit, next);
    bool same = next == function || tvms_node_equal(run->context, next, function);
    function = next;
    if (same) break;
  }
  return function;
}

bool tvms_relax_pattern_tidies(const tvms_node *function) {
  const tvms_node *body = tvms_as_function(function)->body;
  if (!body || body->kind != TVMS_NODE_SEQ_EXPR) return false;
  tvms_list blocks = tvms_as_seq_expr(body)->blocks;
  for (uint32_t i = 0; i < blocks.len; i++)
    if (!(blocks.items[i]->flags & TVMS_FLAG_DATAFLOW)) return true;
  return false;
}

tvms_node *tvms_relax_pattern_rewrite(tvms_pass_run *run, tvms_unit *unit,
                                      tvms_node *function,
                                      const tvms_pattern_rule *rule) {
  bool tidies = tvms_relax_pattern_tidies(function);
  for (uint32_t i = 0; i < MOST_ROUNDS; i++) {
    tvms_node *next = rewrite_once(run, unit, function, rule);
    bool same = next == function || tvms_node_equal(run->context, next, function);
    if (same && (i > 0 || !tidies)) break;
    next = tvms_relax_pattern_tidy(run, unit, next);
    if (tvms_node_equal(run->context, next, function)) break;
    function = next;
  }
  return function;
}
