// RemoveStoreUndef: stores of T.undef() go, and variables that are bound to it.
//
// Before: A[i] = T.undef(); B[i] = 1.0   After: B[i] = 1.0
//
// A schedule writes T.undef() where padding may hold anything. What computes with it is as
// undefined; it must have no other effect, and no index may depend on it. Then RemoveNoOp
// takes away what has become empty, and no T.undef() may be left. TVM:
// s_tir.transform.RemoveStoreUndef.
#include "arith/analyzer.h"
#include "ir/fold.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "support/diag_ids.h"

typedef struct {
  tvms_memory *memory;
  tvms_node_map undefined;  // variables, to themselves
  bool failed;
} removal;

static tvms_walk_step find_undef(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const removal *s = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  // Undefined indices are looked for where the element is.
  if (node->kind == TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_SKIP;
  bool found =
      tvms_call_opcode(node) == TVMS_TIR_undef
      || (node->kind == TVMS_NODE_VAR && tvms_node_map_get(&s->undefined, node));
  return found ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool is_undefined(removal *s, tvms_node *node) {
  tvms_visitor visitor = {.self = s, .enter = find_undef};
  return !tvms_walk(s->memory, node, &visitor);
}

static void refuse(tvms_rewriter *r, const tvms_node *at, const char *why) {
  removal *s = r->self;
  if (!s->failed) {
    tvms_diag_report(&r->unit->context->diags, TVMS_D_undef_stays, at->span, why);
  }
  s->failed = true;
}

static void check_indices(tvms_rewriter *r, const tvms_node *node, tvms_list indices) {
  for (uint32_t i = 0; i < indices.len; i++) {
    if (is_undefined(r->self, indices.items[i]))
      refuse(r, node, "an index depends on it");
  }
}

// Does what `node` computes go? It must then have no other effect.
static bool goes(tvms_rewriter *r, const tvms_node *node, tvms_node *value) {
  removal *s = r->self;
  if (!is_undefined(s, value)) return false;
  if (tvms_arith_effect_of(s->memory, value) > TVMS_EFFECT_READ)
    refuse(r, node, "a value that depends on it has another effect");
  return true;
}

static tvms_node *leave_load(tvms_rewriter *r, tvms_node *node) {
  check_indices(r, node, tvms_as_buffer_load(node)->indices);
  return node;
}

static tvms_node *leave_store(tvms_rewriter *r, tvms_node *node) {
  const tvms_store *store = tvms_as_store(node);
  check_indices(r, node, store->indices);
  return goes(r, node, store->value) ? tvms_stmt_none(r->unit, node->span) : node;
}

static tvms_node *leave_bind(tvms_rewriter *r, tvms_node *node) {
  removal *s = r->self;
  const tvms_bind *bind = tvms_as_bind(node);
  if (!goes(r, node, bind->value)) return node;
  tvms_node_map_put(&s->undefined, bind->var, bind->var);
  return tvms_stmt_none(r->unit, node->span);
}

static tvms_node *remove_stores(tvms_pass_run *run, tvms_unit *unit,
                                tvms_node *function) {
  removal s = {.memory = &run->context->memory};
  tvms_node_map_init(&s.undefined, s.memory);
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &s);
  r.roles = TVMS_IN(USE) | TVMS_IN(BODY);
  r.leave[TVMS_NODE_BUFFER_LOAD] = leave_load;
  r.leave[TVMS_NODE_STORE] = leave_store;
  r.leave[TVMS_NODE_BIND] = leave_bind;
  tvms_node *changed = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  tvms_node_map_fini(&s.undefined);
  return changed;
}

static tvms_walk_step find_left(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const tvms_node **left = self;
  if (tvms_call_opcode(node) != TVMS_TIR_undef) return TVMS_WALK_ON;
  *left = node;
  return TVMS_WALK_STOP;
}

static void expect_none(tvms_pass_run *run) {
  for (uint32_t i = 0; i < run->module->member_count; i++) {
    tvms_node *function = run->module->members[i].function;
    if (!function || function->kind != TVMS_NODE_PRIM_FUNC) continue;
    const tvms_node *left = NULL;
    tvms_visitor visitor = {.self = &left, .enter = find_left};
    tvms_walk(&run->context->memory, tvms_as_prim_func(function)->body, &visitor);
    if (!left) continue;
    tvms_diag_report(&run->context->diags, TVMS_D_undef_stays, left->span,
                     "it is used for more than the value of a store");
    return;
  }
}

void tvms_pass_remove_store_undef(tvms_pass_run *run) {
  uint32_t errors = run->context->diags.errors;
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, remove_stores);
  if (run->context->diags.errors != errors) return;
  run->part(run, "RemoveNoOp");
  expect_none(run);
}
