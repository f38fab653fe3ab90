// ComputePrimValue: scalars are computed in PrimFuncs, which the run time can call.
//
// Before: a: T.int64 = n * m + k
// After:  a: T.int64 = cls.compute_symbolic_expr(n, m, k), and a private PrimFunc that
//         returns n * m + k
//
// Variables and integer constants stay; so do the sizes in shapes, which VMShapeLower
// computes. Equal expressions share a function. TVM: relax.transform.ComputePrimValue.
#include "ir/clone.h"
#include "ir/object.h"
#include "ir/stmt.h"
#include "ir/walk.h"
#include "passes/relax/binder.h"
#include "passes/relax/make.h"
#include "structinfo/make.h"

typedef struct {
  tvms_relax_binder binder;
  tvms_pass_run *run;
} lifter;

typedef struct {
  tvms_memory *memory;
  tvms_node_vec vars;     // that are free, in order of their first use
  tvms_node_map defined;  // in the expression itself
} collector;

static tvms_walk_step collect(void *self, tvms_node *node, tvms_field_role role) {
  collector *c = self;
  if (node->kind != TVMS_NODE_VAR || tvms_node_map_get(&c->defined, node))
    return TVMS_WALK_ON;
  tvms_node_map_put(&c->defined, node, node);
  if (role == TVMS_ROLE_USE) tvms_vec_push(c->memory, &c->vars, node);
  return TVMS_WALK_ON;
}

static tvms_list free_variables(tvms_unit *unit, tvms_node *value) {
  collector c = {.memory = &unit->context->memory};
  tvms_node_map_init(&c.defined, c.memory);
  tvms_visitor visitor = {.self = &c, .enter = collect};
  tvms_walk(c.memory, value, &visitor);
  tvms_list vars = tvms_list_copy(unit, c.vars.items, c.vars.len);
  tvms_vec_fini(c.memory, &c.vars);
  tvms_node_map_fini(&c.defined);
  return vars;
}

// The attributes that say: runs on the host.
static tvms_node *host_attrs(tvms_unit *unit) {
  const char *key = tvms_release_has(unit->dialect, TVMS_FACT_tir_is_tirx)
                        ? "tirx.is_host_func"
                        : "tir.is_host_func";
  return tvms_object_map_with(unit, NULL, key,
                              tvms_object_bool_new(unit, true, TVMS_NO_SPAN));
}

// The PrimFunc that returns `value`, in a unit of its own; its name as a member.
static tvms_sym add_function(lifter *state, tvms_node *value, tvms_list vars) {
  tvms_unit *unit = tvms_functions_open_unit(state->run);
  tvms_node_map known;
  tvms_node_map_init(&known, &unit->context->memory);
  tvms_list params = tvms_list_copy(unit, vars.items, vars.len);
  tvms_list buffers = tvms_list_copy(unit, vars.items, vars.len);
  for (uint32_t i = 0; i < vars.len; i++) {
    const tvms_var *var = tvms_as_var(vars.items[i]);
    params.items[i] = tvms_var_new(unit, var->name, var->head.dtype, TVMS_NO_SPAN);
    buffers.items[i] = NULL;
    tvms_node_map_put(&known, vars.items[i], params.items[i]);
  }
  tvms_prim_func *function = tvms_node_make(unit, PRIM_FUNC, TVMS_NO_SPAN);
  function->head.flags = TVMS_FLAG_PRIVATE | TVMS_FLAG_S_TIR;
  function->params = params;
  function->buffers = buffers;
  function->ret = tvms_sinfo_prim_new(unit, value->dtype, NULL);
  function->attrs = host_attrs(unit);
  function->body =
      tvms_stmt_return(unit, tvms_clone(unit, value, &known), TVMS_NO_SPAN);
  tvms_node_map_fini(&known);
  return tvms_functions_add_unique(state->run, "compute_symbolic_expr", unit,
                                   &function->head);
}

static tvms_node *call_of(tvms_rewriter *r, tvms_node *value) {
  tvms_list vars = free_variables(r->unit, value);
  tvms_global_var *callee = tvms_node_make(r->unit, GLOBAL_VAR, value->span);
  callee->name = add_function(r->self, value, vars);
  for (uint32_t i = 0; i < vars.len; i++)
    vars.items[i] = tvms_relax_make_prim_value(r->unit, vars.items[i]);
  tvms_node *call = tvms_call_new(r->unit, (tvms_dtype){0}, &callee->head, vars.items,
                                  vars.len, value->span);
  call->sinfo = tvms_sinfo_prim_new(r->unit, value->dtype, NULL);
  return call;
}

// Relax's own calls may give scalars, too; sizes in shapes are for VMShapeLower.
static tvms_node *TVMS_NULLABLE compute(tvms_rewriter *r, tvms_node *node) {
  if (node->kind == TVMS_NODE_SHAPE_EXPR) return node;
  bool relax = node->kind == TVMS_NODE_CALL && tvms_call_opcode(node) == TVMS_TIR_NONE;
  tvms_node *value = relax ? NULL : tvms_relax_scalar_of(node);
  bool simple = !value || value->kind == TVMS_NODE_VAR
                || value->kind == TVMS_NODE_INT_IMM
                || value->kind == TVMS_NODE_STRING_IMM;
  return simple ? NULL : call_of(r, value);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  lifter *state = run->state;
  tvms_relax_binder_enter(&state->binder, unit);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, state);
  tvms_relax_binder_install(&rewriter);
  tvms_node *changed = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  return changed;
}

void tvms_pass_compute_prim_value(tvms_pass_run *run) {
  lifter state = {.run = run};
  tvms_relax_binder_init(&state.binder, run, compute);
  run->state = &state;
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
  run->state = NULL;
  tvms_relax_binder_fini(&state.binder);
}
