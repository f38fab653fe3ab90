// StmtSimplify, Simplify: every expression in its simplest form.
//
// Before: if i < n: A[i * 1 + 0] = B[i] inside for i in range(n)   After: A[i] = B[i]
//
// Loops, conditions and bound variables around an expression are facts for it. Branches
// that cannot be taken go, and stores of what a buffer holds already. Definitions of
// buffers and annotations stay as they are written. TVM: tirx.transform.StmtSimplify, up to
// 0.24 Simplify.
#include "passes/tir/simplify/stmt_simplify.h"

#include "arith/scopes.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/walk.h"
#include "passes/functions.h"

typedef struct {
  tvms_unit *unit;
  tvms_scopes scopes;
  tvms_node_map bound;       // variables of pure T.bind: their values
  tvms_node_map in_buffers;  // variables in what buffers are defined with
} simplifier;

static tvms_memory *memory_of(simplifier *s) {
  return &s->unit->context->memory;
}

static tvms_node *simplify(tvms_rewriter *r, tvms_node *node) {
  simplifier *s = r->self;
  bool scalar = !tvms_dtype_is_void(node->dtype) && !tvms_dtype_is_handle(node->dtype);
  if (!scalar || r->role == TVMS_ROLE_DEFINE) return TVMS_REWRITE_BELOW;
  return tvms_analyzer_simplify(s->scopes.analyzer, node);
}

// A branch that is always or never taken, with bound variables known by their values.
static tvms_node *enter_if(tvms_rewriter *r, tvms_node *node) {
  simplifier *s = r->self;
  const tvms_if_then_else *branch = tvms_as_if_then_else(node);
  tvms_node *condition = tvms_substitute(s->unit, branch->condition, &s->bound);
  condition = tvms_analyzer_simplify(s->scopes.analyzer, condition);
  if (!tvms_node_is_int_imm(condition)) return TVMS_REWRITE_BELOW;
  tvms_node *taken =
      tvms_node_is_true(condition) ? branch->then_case : branch->else_case;
  return taken ? tvms_rewrite(r, taken) : tvms_stmt_none(s->unit, node->span);
}

static bool same_places(tvms_list a, tvms_list b) {
  if (a.len != b.len) return false;
  for (uint32_t i = 0; i < a.len; i++) {
    if (!tvms_node_same_expr(a.items[i], b.items[i])) return false;
  }
  return true;
}

static tvms_node *leave_store(tvms_rewriter *r, tvms_node *node) {
  node = tvms_scopes_keep_predicate(r, node);
  const tvms_store *store = tvms_as_store(node);
  if (!tvms_stmt_is_plain_load(r->unit, store->value)) return node;
  const tvms_buffer_load *load = tvms_as_buffer_load(store->value);
  bool same =
      load->buffer == store->buffer && same_places(load->indices, store->indices);
  return same ? tvms_stmt_none(r->unit, node->span) : node;
}

// ---- Up to 0.23: bindings that go ----

static tvms_walk_step note_shape(void *self, tvms_node *node, tvms_field_role role) {
  simplifier *s = self;
  if (node->kind == TVMS_NODE_VAR && role == TVMS_ROLE_TYPE)
    tvms_node_map_put(&s->in_buffers, node, node);
  return TVMS_WALK_ON;
}

static bool goes(simplifier *s, const tvms_node *value) {
  if (value->kind == TVMS_NODE_INT_IMM || value->kind == TVMS_NODE_FLOAT_IMM
      || value->kind == TVMS_NODE_VAR) {
    return true;
  }
  tvms_node *expr = (tvms_node *)(uintptr_t)value;
  return tvms_dtype_is_int(value->dtype)
         && tvms_arith_effect_of(memory_of(s), expr) <= TVMS_EFFECT_PURE;
}

// A variable of an integer is replaced by its value everywhere, so its binding goes; but
// buffers keep what they are defined with.
static tvms_node *TVMS_NULLABLE inline_bind(tvms_rewriter *r, tvms_node *node) {
  simplifier *s = r->self;
  const tvms_bind *bind = tvms_as_bind(node);
  if (goes(s, tvms_as_bind(r->old)->value)) {
    tvms_analyzer_bind(s->scopes.analyzer, bind->var, bind->value);
    return tvms_node_map_get(&s->in_buffers, bind->var) ? node : NULL;
  }
  if (tvms_arith_effect_of(memory_of(s), bind->value) <= TVMS_EFFECT_PURE)
    tvms_node_map_put(&s->bound, bind->var, bind->value);
  return node;
}

static tvms_node *leave_bind(tvms_rewriter *r, tvms_node *node) {
  simplifier *s = r->self;
  const tvms_bind *bind = tvms_as_bind(node);
  if (tvms_arith_effect_of(memory_of(s), bind->value) <= TVMS_EFFECT_PURE)
    tvms_node_map_put(&s->bound, bind->var, bind->value);
  return node;
}

tvms_node *tvms_stmt_simplify(tvms_unit *unit, tvms_node *function,
                              uint32_t extensions) {
  simplifier s = {.unit = unit};
  tvms_node_map_init(&s.bound, &unit->context->memory);
  tvms_node_map_init(&s.in_buffers, &unit->context->memory);
  tvms_scopes_init(&s.scopes, unit);
  s.scopes.loop_conditions = true;
  tvms_analyzer_extend(s.scopes.analyzer, extensions);
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &s);
  r.watch = &s.scopes.watch;
  // Ranges of block variables are simplified, too; buffers stay as they are defined.
  r.roles = TVMS_IN(USE) | TVMS_IN(BODY) | TVMS_IN(ACCESS) | TVMS_IN(DEFINE);
  tvms_rewriter_enter_class(&r, TVMS_CLASS_EXPR, simplify);
  r.enter[TVMS_NODE_IF_THEN_ELSE] = enter_if;
  r.leave[TVMS_NODE_STORE] = leave_store;
  r.leave[TVMS_NODE_BIND] = leave_bind;
  if (tvms_release_has(unit->dialect, TVMS_FACT_simplify_inlines_bindings)) {
    tvms_visitor visitor = {.self = &s, .enter = note_shape};
    tvms_walk(&unit->context->memory, tvms_as_prim_func(function)->body, &visitor);
    s.scopes.ignores_bindings = true;
    r.leave[TVMS_NODE_BIND] = inline_bind;
  }
  tvms_node *changed = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  tvms_scopes_fini(&s.scopes);
  tvms_node_map_fini(&s.bound);
  tvms_node_map_fini(&s.in_buffers);
  return changed;
}

static uint32_t extensions_of(const tvms_pass_run *run) {
  const tvms_pass_value *chains =
      &TVMS_OPTION(run, StmtSimplify, transitively_prove_inequalities);
  const tvms_pass_value *forms =
      &TVMS_OPTION(run, StmtSimplify, convert_boolean_to_and_of_ors);
  const tvms_pass_value *branches =
      &TVMS_OPTION(run, StmtSimplify, apply_constraints_to_boolean_branches);
  return (chains->number ? TVMS_PROVE_TRANSITIVELY : 0U)
         | (forms->number ? TVMS_CONVERT_TO_AND_OF_ORS : 0U)
         | (branches->number ? TVMS_CONSTRAIN_BRANCHES : 0U);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  return tvms_stmt_simplify(unit, function, extensions_of(run));
}

void tvms_pass_stmt_simplify(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
