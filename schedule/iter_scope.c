#include "schedule/iter_scope.h"

#include "ir/fold_ops.h"
#include "schedule/bindings.h"

// ---- Conditions ----

// The condition under which a part of a node is reached; NULL: always, or it is not one of iterators.
static tvms_node *TVMS_NULLABLE condition_of(const tvms_node *parent,
                                             const tvms_node *part, tvms_unit *unit) {
  if (parent->kind == TVMS_NODE_IF_THEN_ELSE) {
    const tvms_if_then_else *branch = tvms_as_if_then_else(parent);
    return part == branch->then_case ? branch->condition : NULL;
  }
  if (tvms_call_opcode(parent) != TVMS_TIR_if_then_else) return NULL;
  tvms_list args = tvms_as_call(parent)->args;
  if (args.len != 3 || part == args.items[0]) return NULL;
  return part == args.items[1] ? args.items[0]
                               : tvms_build_negation(unit, args.items[0]);
}

static bool mentions_iterators(const tvms_sched_iter *s, tvms_node *condition) {
  for (uint32_t i = 0; i < s->domains.len; i++)
    if (tvms_sched_uses(s->sched, condition, s->domains.items[i].var)) return true;
  return false;
}

static void enter_part(tvms_rewrite_watch *watch, const tvms_node *parent,
                       const tvms_field *field, const tvms_node *part) {
  tvms_sched_iter *s = (tvms_sched_iter *)(void *)watch;
  s->facts.watch.enter(&s->facts.watch, parent, field, part);
  tvms_node *condition = condition_of(parent, part, s->sched->unit);
  if (condition && mentions_iterators(s, condition))
    tvms_vec_push(&s->sched->context->memory, &s->conditions, condition);
}

static void leave_part(tvms_rewrite_watch *watch, const tvms_node *parent,
                       const tvms_field *field, const tvms_node *part,
                       const tvms_node *TVMS_NULLABLE made) {
  tvms_sched_iter *s = (tvms_sched_iter *)(void *)watch;
  s->facts.watch.leave(&s->facts.watch, parent, field, part, made);
  tvms_node *condition = condition_of(parent, part, s->sched->unit);
  if (condition && mentions_iterators(s, condition)) s->conditions.len--;
}

void tvms_sched_iter_init(tvms_sched_iter *scope, tvms_sched *sched, tvms_rewriter *r) {
  *scope = (tvms_sched_iter){.watch = {.enter = enter_part, .leave = leave_part},
                             .sched = sched};
  tvms_scopes_init(&scope->facts, sched->unit);
  r->watch = &scope->watch;
}

void tvms_sched_iter_fini(tvms_sched_iter *scope) {
  tvms_memory *memory = &scope->sched->context->memory;
  tvms_scopes_fini(&scope->facts);
  tvms_vec_fini(memory, &scope->domains);
  tvms_vec_fini(memory, &scope->conditions);
}

// ---- Iterators ----

static void push(tvms_sched_iter *s, tvms_node *var, tvms_node *min,
                 tvms_node *extent) {
  tvms_iter_domain domain = {var, min, extent};
  tvms_vec_push(&s->sched->context->memory, &s->domains, domain);
  tvms_analyzer_bind_range(s->facts.analyzer, var, min, extent);
}

tvms_node *tvms_sched_iter_loop(tvms_sched_iter *scope, tvms_rewriter *r,
                                tvms_node *node) {
  const tvms_for *loop = tvms_as_for(node);
  push(scope, loop->var, loop->min, loop->extent);
  tvms_node *made = tvms_rewrite_below(r, node);
  scope->domains.len--;
  return made;
}

uint32_t tvms_sched_iter_axes(tvms_sched_iter *scope, const tvms_block *block) {
  uint32_t mark = scope->domains.len;
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(block->iter_vars.items[i]);
    const tvms_range *dom = tvms_as_range(axis->dom);
    push(scope, axis->var, dom->min, dom->extent);
  }
  return mark;
}

void tvms_sched_iter_leave(tvms_sched_iter *scope, uint32_t mark) {
  scope->domains.len = mark;
}

tvms_list tvms_sched_iter_simplify(tvms_sched_iter *scope, tvms_list indices) {
  tvms_unit *unit = scope->sched->unit;
  tvms_node **simple = tvms_arena_array(&unit->arena, tvms_node *, indices.len + 1);
  tvms_node *all = tvms_bool_imm_new(unit, true, TVMS_NO_SPAN);
  for (uint32_t i = 0; i < scope->conditions.len; i++)
    all =
        tvms_sched_build(scope->sched, TVMS_NODE_AND, all, scope->conditions.items[i]);
  if (!tvms_iter_map_simplify(unit, scope->facts.analyzer, scope->domains.items,
                              scope->domains.len, indices.items, indices.len, all,
                              false, simple))
    return indices;
  tvms_list made = tvms_list_copy(unit, indices.items, indices.len);
  for (uint32_t i = 0; i < made.len; i++)
    if (simple[i]->kind != TVMS_NODE_INT_IMM || made.items[i]->kind != TVMS_NODE_VAR)
      made.items[i] = simple[i];
  return made;
}
