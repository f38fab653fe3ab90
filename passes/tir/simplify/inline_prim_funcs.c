// Each place gets a copy of its own, so no variable is defined twice.
#include "passes/tir/simplify/inline_prim_funcs.h"

#include "ir/build.h"
#include "ir/clone.h"
#include "ir/equal.h"
#include "ir/object.h"
#include "ir/stmt.h"
#include "ir/walk.h"
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
  const tvms_module *module = state->run->module;
  const tvms_member *member = tvms_module_named(module, name);
  if (!member) return UINT32_MAX;
  uint32_t index = (uint32_t)(member - module->members);
  return state->inlined[index] ? index : UINT32_MAX;
}

static bool same_target(const inliner *state, const tvms_prim_func *callee) {
  const tvms_node *target = tvms_object_map_get(callee->attrs, "target");
  return !target || !state->target
         || tvms_node_equal(state->run->context, target, state->target);
}

// ---- Pointers that are passed ----

// Up to 0.25 a buffer is named by its pointer, so where one is declared over a parameter, that must
// stay a variable: it is bound in front of the declaration. Anything else takes the argument itself.
typedef struct {
  tvms_node_map args;      // VAR that stands for a parameter -> its argument
  tvms_node_map declared;  // BUFFER over one -> itself
  tvms_node_vec loose;     // such VAR of buffers that are not declared
  tvms_memory *memory;
} passing;

static tvms_walk_step find_loose(void *self, tvms_node *node, tvms_field_role role) {
  passing *p = self;
  if (node->kind != TVMS_NODE_BUFFER) return TVMS_WALK_ON;
  tvms_node *data = tvms_as_buffer(node)->data;
  if (!tvms_node_map_get(&p->args, data)) return TVMS_WALK_ON;
  if (role == TVMS_ROLE_DEFINE)
    tvms_node_map_put(&p->declared, node, node);
  else if (!tvms_node_map_get(&p->declared, node))
    tvms_vec_push(p->memory, &p->loose, data);
  return TVMS_WALK_ON;
}

static tvms_node *bind_argument(tvms_unit *unit, const passing *p, tvms_node *var) {
  tvms_bind *bind = tvms_node_make(unit, BIND, TVMS_NO_SPAN);
  bind->var = var;
  bind->value = tvms_node_map_get(&p->args, var);
  return &bind->head;
}

static tvms_node *pass_pointer(tvms_rewriter *r, tvms_node *node) {
  const passing *p = r->self;
  tvms_node *arg = tvms_node_map_get(&p->args, node);
  return arg ? arg : node;
}

static tvms_node *pass_declared(tvms_rewriter *r, tvms_node *node) {
  const passing *p = r->self;
  tvms_node *data = tvms_as_buffer(tvms_as_decl_buffer(node)->buffer)->data;
  if (tvms_node_map_get(&p->args, data))
    tvms_rewrite_emit(r, bind_argument(r->unit, p, data));
  return node;
}

static tvms_node *keep(tvms_rewriter *r, tvms_node *node) {
  (void)r;
  return node;
}

// Puts the arguments for the variables that stand for parameters in the body.
static tvms_node *put_arguments(tvms_unit *unit, passing *p, tvms_node *body) {
  tvms_visitor visitor = {.self = p, .enter = find_loose};
  tvms_walk(p->memory, body, &visitor);
  for (uint32_t i = 0; i < p->loose.len; i++) {
    tvms_node *var = p->loose.items[i];
    if (!tvms_node_map_get(&p->args, var)) continue;
    body = tvms_stmt_pair(unit, bind_argument(unit, p, var), body);
    tvms_node_map_put(&p->args, var, NULL);
  }
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, p);
  r.roles = TVMS_IN(USE) | TVMS_IN(BODY);
  r.enter[TVMS_NODE_VAR] = pass_pointer;
  r.enter[TVMS_NODE_BUFFER] = keep;
  r.enter[TVMS_NODE_DECL_BUFFER] = pass_declared;
  body = tvms_rewrite(&r, body);
  tvms_rewriter_fini(&r);
  return body;
}

// The body of the callee in the unit of the caller, with the arguments for parameters.
static tvms_node *pass_arguments(tvms_unit *unit, const tvms_prim_func *callee,
                                 tvms_list args) {
  passing p = {.memory = &unit->context->memory};
  bool own = tvms_release_has(unit->dialect, TVMS_FACT_buffers_are_variables);
  tvms_node_map known;
  tvms_node_map_init(&known, p.memory);
  tvms_node_map_init(&p.args, p.memory);
  tvms_node_map_init(&p.declared, p.memory);
  for (uint32_t i = 0; i < args.len; i++) {
    tvms_node *param = callee->params.items[i], *arg = args.items[i];
    if (!own && tvms_dtype_is_handle(param->dtype) && arg->kind != TVMS_NODE_VAR) {
      tvms_node *stand_in = tvms_clone(unit, param, NULL);
      tvms_node_map_put(&p.args, stand_in, arg);
      arg = stand_in;
    }
    tvms_node_map_put(&known, param, arg);
  }
  tvms_node *body = tvms_clone(unit, callee->body, &known);
  if (p.args.count) body = put_arguments(unit, &p, body);
  tvms_vec_fini(p.memory, &p.loose);
  tvms_node_map_fini(&p.declared);
  tvms_node_map_fini(&p.args);
  tvms_node_map_fini(&known);
  return body;
}

// ---- Calls ----

static tvms_node *inline_call(tvms_rewriter *r, tvms_node *node) {
  const inliner *state = r->self;
  const tvms_node *value = tvms_as_evaluate(node)->value;
  uint32_t index = callee_of(state, value);
  if (index == UINT32_MAX) return TVMS_REWRITE_BELOW;
  const tvms_prim_func *callee =
      tvms_as_prim_func(state->run->module->members[index].function);
  tvms_list args = tvms_as_call(value)->args;
  if (!same_target(state, callee) || callee->params.len != args.len)
    return TVMS_REWRITE_BELOW;
  return tvms_rewrite(r, pass_arguments(r->unit, callee, args));
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
