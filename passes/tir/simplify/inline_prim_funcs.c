// Each place gets a copy of its own, so no variable is defined twice.
#include "passes/tir/simplify/inline_prim_funcs.h"

#include "ir/clone.h"
#include "ir/equal.h"
#include "ir/object.h"
#include "passes/relax/analysis/call_graph.h"

#include <string.h>

typedef struct {
  tvms_pass_run *run;
  bool *inlined;                          // by member
  bool *kept;                             // by member: some call of it stays
  const tvms_node *TVMS_NULLABLE target;  // of the function at hand
} inliner;

static bool can_be_inlined(const tvms_node *TVMS_NULLABLE function) {
  if (!function || function->kind != TVMS_NODE_PRIM_FUNC) return false;
  if (!(function->flags & TVMS_FLAG_PRIVATE)) return false;
  const tvms_prim_func *prim = tvms_as_prim_func(function);
  for (uint32_t i = 0; i < prim->buffers.len; i++) {
    if (prim->buffers.items[i]) return false;
  }
  return prim->body->kind != TVMS_NODE_BLOCK_REALIZE;
}

// The member that a call calls, if it is one that is inlined; UINT32_MAX otherwise.
static uint32_t callee_of(const inliner *state, const tvms_node *value) {
  if (value->kind != TVMS_NODE_CALL) return UINT32_MAX;
  const tvms_node *name = tvms_as_call(value)->callee;
  if (name->kind != TVMS_NODE_GLOBAL_VAR) return UINT32_MAX;
  const tvms_module *module = state->run->module;
  const tvms_member *member = tvms_module_find(module, tvms_as_global_var(name)->name);
  if (!member) return UINT32_MAX;
  uint32_t index = (uint32_t)(member - module->members);
  return state->inlined[index] ? index : UINT32_MAX;
}

static bool same_target(const inliner *state, const tvms_prim_func *callee) {
  const tvms_node *target = tvms_object_map_get(callee->attrs, "target");
  return !target || !state->target
         || tvms_node_equal(state->run->context, target, state->target);
}

// Up to 0.25 a buffer is named by its pointer, so that must stay a variable.
static bool fits(const tvms_unit *unit, const tvms_prim_func *callee, tvms_list args) {
  if (callee->params.len != args.len) return false;
  if (tvms_release_has(unit->dialect, TVMS_FACT_buffers_are_variables)) return true;
  for (uint32_t i = 0; i < args.len; i++) {
    bool pointer = tvms_dtype_is_handle(callee->params.items[i]->dtype);
    if (pointer && args.items[i]->kind != TVMS_NODE_VAR) return false;
  }
  return true;
}

static tvms_node *inline_call(tvms_rewriter *r, tvms_node *node) {
  const inliner *state = r->self;
  const tvms_node *value = tvms_as_evaluate(node)->value;
  uint32_t index = callee_of(state, value);
  if (index == UINT32_MAX) return TVMS_REWRITE_BELOW;
  const tvms_prim_func *callee =
      tvms_as_prim_func(state->run->module->members[index].function);
  tvms_list args = tvms_as_call(value)->args;
  if (!same_target(state, callee) || !fits(r->unit, callee, args))
    return TVMS_REWRITE_BELOW;
  tvms_node_map known;
  tvms_node_map_init(&known, &r->unit->context->memory);
  for (uint32_t i = 0; i < args.len; i++)
    tvms_node_map_put(&known, callee->params.items[i], args.items[i]);
  tvms_node *body = tvms_clone(r->unit, callee->body, &known);
  tvms_node_map_fini(&known);
  return tvms_rewrite(r, body);
}

static tvms_node *note_call(tvms_rewriter *r, tvms_node *node) {
  const inliner *state = r->self;
  uint32_t index = callee_of(state, node);
  if (index != UINT32_MAX) state->kept[index] = true;
  return node;
}

static tvms_node *inline_into(tvms_pass_run *run, tvms_unit *unit,
                              tvms_node *function) {
  inliner *state = run->state;
  state->target = tvms_object_map_get(tvms_as_prim_func(function)->attrs, "target");
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, state);
  rewriter.enter[TVMS_NODE_EVALUATE] = inline_call;
  rewriter.leave[TVMS_NODE_CALL] = note_call;
  tvms_node *result = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  return result;
}

void tvms_functions_inline_prim_funcs(tvms_pass_run *run) {
  const tvms_module *module = run->module;
  uint32_t count = module->member_count;
  tvms_arena arena;
  tvms_arena_init(&arena, &run->context->memory);
  inliner state = {.run = run,
                   .inlined = tvms_arena_array(&arena, bool, count),
                   .kept = tvms_arena_array(&arena, bool, count)};
  tvms_relax_call_graph graph;
  tvms_relax_call_graph_init(&graph, module);
  tvms_relax_call_graph_recursive(&graph, state.inlined);
  tvms_relax_call_graph_fini(&graph);
  for (uint32_t i = 0; i < count; i++)
    state.inlined[i] = !state.inlined[i] && can_be_inlined(module->members[i].function);
  run->state = &state;
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, inline_into);
  bool *dead = tvms_arena_array(&arena, bool, count);
  for (uint32_t i = 0; i < count && run->changed; i++)
    dead[i] = state.inlined[i] && !state.kept[i];
  if (run->changed) tvms_functions_remove(run, dead);
  tvms_arena_fini(&arena);
}
