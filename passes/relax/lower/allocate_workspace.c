// AllocateWorkspace: functions of back ends get the memory that they ask for.
//
// Before: gv = cls.attention_cutlass(q, k, v), of which R.func_attr says "WorkspaceSize": 65536
// After:  workspace_main = R.builtin.alloc_tensor(R.shape([65536]), R.dtype("uint8"), …)
//         gv = cls.attention_cutlass1(q, k, v, workspace_main)
//
// The size is the largest that any function asks for; the parameter goes on to the local functions
// with the attribute Composite that ask, too. It is allocated at the beginning of the first dataflow
// block of every function that is not one of a back end, as in TVM, also where nothing needs it. The
// functions get new names, since their types are new. TVM: relax.transform.AllocateWorkspace.
#include "ir/clone.h"
#include "ir/object.h"
#include "ir/op.h"
#include "passes/functions.h"
#include "passes/relax/emit.h"
#include "passes/relax/make.h"
#include "passes/relax/retype.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  tvms_pass_run *run;
  tvms_relax_emitter emitter;
  int64_t size;
  uint32_t params;       // of workspaces so far
  tvms_sym *names;       // by member: what a function that asks is called now; 0: stays
  tvms_node *workspace;  // of the function at hand
  tvms_node_map composite;  // variables of local functions that take it
} provider;

static int64_t asked(const tvms_node *TVMS_NULLABLE function) {
  int64_t size;
  if (!function || function->kind != TVMS_NODE_FUNCTION) return 0;
  const tvms_node *attrs = tvms_as_function(function)->attrs;
  const tvms_node *given = tvms_object_map_get(attrs, "WorkspaceSize");
  return given && tvms_object_as_int(given, &size) ? size : 0;
}

static bool is_of_back_end(const tvms_node *function) {
  const tvms_node *attrs = tvms_as_function(function)->attrs;
  return tvms_object_map_get(attrs, "Codegen")
         || tvms_object_map_get(attrs, "Composite");
}

static tvms_node *workspace_type(const provider *p, tvms_unit *unit) {
  tvms_node *dim = tvms_sinfo_dim_new(unit, p->size);
  tvms_node *shape = tvms_sinfo_shape_value_new(unit, &dim, 1, TVMS_NO_SPAN);
  return tvms_sinfo_tensor_new(unit, shape, TVMS_DTYPE(UINT, 8), NULL);
}

// Numbered through all functions: workspace, workspace_1, …
static tvms_node *parameter(provider *p, tvms_unit *unit) {
  char name[32] = "workspace";
  if (p->params) snprintf(name, sizeof name, "workspace_%u", p->params);
  p->params++;
  tvms_sym symbol = tvms_symbol_intern(unit->context, name, strlen(name));
  tvms_node *var = tvms_var_new(unit, symbol, (tvms_dtype){0}, TVMS_NO_SPAN);
  var->sinfo = workspace_type(p, unit);
  return var;
}

// ---- Functions of back ends ----

static tvms_node *take_workspace(tvms_unit *unit, tvms_node *node, tvms_node *param) {
  tvms_node *copy = tvms_node_copy(unit, node);
  tvms_function *function = tvms_as_function(copy);
  function->params = tvms_list_with(unit, function->params, param);
  function->attrs = tvms_object_map_with(unit, function->attrs, "WorkspaceSize", NULL);
  if (!tvms_object_map_count(function->attrs)) function->attrs = NULL;
  copy->sinfo = tvms_sinfo_func_new_of_vars(unit, function->params, function->ret,
                                            copy->flags & TVMS_FLAG_PURE);
  return copy;
}

static tvms_node *leave_local(tvms_rewriter *r, tvms_node *node) {
  provider *p = r->self;
  bool takes = asked(node) > 0 && is_of_back_end(node);
  return takes ? take_workspace(r->unit, node, parameter(p, r->unit)) : node;
}

static tvms_node *leave_local_binding(tvms_rewriter *r, tvms_node *node) {
  provider *p = r->self;
  const tvms_node *old = tvms_as_var_binding(r->old)->value;
  if (node == r->old || old->kind != TVMS_NODE_FUNCTION) return node;
  node = tvms_relax_retype_binding(r, node);
  if (asked(old) > 0)
    tvms_node_map_put(&p->composite, tvms_as_var_binding(node)->var, node);
  return node;
}

static tvms_node *leave_local_call(tvms_rewriter *r, tvms_node *node) {
  const provider *p = r->self;
  const tvms_call *call = tvms_as_call(node);
  if (!tvms_node_map_get(&p->composite, call->callee)) return node;
  tvms_node *copy = node == r->old ? tvms_node_copy(r->unit, node) : node;
  tvms_as_call(copy)->args = tvms_list_with(r->unit, call->args, p->workspace);
  return copy;
}

static void remake(provider *p, uint32_t index) {
  const tvms_member *member = &p->run->module->members[index];
  const char *text = tvms_symbol_text(p->run->context, member->name);
  tvms_unit *unit = tvms_functions_open_unit(p->run);
  tvms_node *copy = tvms_clone(unit, member->function, NULL);
  p->workspace = parameter(p, unit);
  tvms_node_map_init(&p->composite, &p->run->context->memory);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, p);
  rewriter.leave[TVMS_NODE_FUNCTION] = leave_local;
  rewriter.leave[TVMS_NODE_VAR_BINDING] = leave_local_binding;
  rewriter.leave[TVMS_NODE_CALL] = leave_local_call;
  tvms_node *made = take_workspace(unit, copy, p->workspace);
  tvms_as_function(made)->body = tvms_rewrite(&rewriter, tvms_as_function(copy)->body);
  tvms_rewriter_fini(&rewriter);
  tvms_node_map_fini(&p->composite);
  p->names[index] = tvms_functions_fresh_name(p->run, text);
  tvms_as_function(made)->name = p->names[index];
  made->flags &= (uint8_t)~TVMS_FLAG_PRIVATE;
  tvms_functions_add(p->run, p->names[index], unit, made);
}

// ---- Their callers ----

static tvms_node *allocation(const provider *p, tvms_unit *unit) {
  tvms_node *bytes = tvms_sinfo_dim_new(unit, p->size);
  tvms_node *args[] = {tvms_relax_make_size(unit, bytes),
                       tvms_relax_make_dtype(unit, TVMS_DTYPE(UINT, 8)),
                       tvms_relax_make_int(unit, 0),
                       tvms_relax_make_text(unit, "global")};
  return tvms_relax_make_operator_call(unit, TVMS_R_builtin_alloc_tensor, args, 4,
                                       TVMS_NO_SPAN);
}

static tvms_node *enter_binding(tvms_rewriter *r, tvms_node *node) {
  provider *p = r->self;
  (void)node;
  bool first = !p->workspace && r->sequence && r->sequence->flags & TVMS_FLAG_DATAFLOW;
  if (first)
    p->workspace =
        tvms_relax_emit(&p->emitter, r, allocation(p, r->unit), "workspace_main");
  return TVMS_REWRITE_BELOW;
}

static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  provider *p = r->self;
  const tvms_call *call = tvms_as_call(node);
  const tvms_module *module = p->run->module;
  if (call->callee->kind != TVMS_NODE_GLOBAL_VAR) return node;
  const tvms_member *member =
      tvms_module_find(module, tvms_as_global_var(call->callee)->name);
  tvms_sym name = member ? p->names[member - module->members] : 0;
  if (!name || !p->workspace) return node;
  tvms_node *copy = node == r->old ? tvms_node_copy(r->unit, node) : node;
  tvms_as_call(copy)->callee = tvms_relax_make_global_var(r->unit, name);
  tvms_as_call(copy)->args = tvms_list_with(r->unit, call->args, p->workspace);
  return copy;
}

static tvms_node *provide(tvms_pass_run *run, tvms_unit *unit, tvms_node *node) {
  provider *p = run->state;
  if (is_of_back_end(node)) return node;
  p->emitter.unit = unit;
  p->workspace = NULL;
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, p);
  rewriter.enter[TVMS_NODE_VAR_BINDING] = enter_binding;
  rewriter.enter[TVMS_NODE_MATCH_CAST] = enter_binding;
  rewriter.leave[TVMS_NODE_CALL] = leave_call;
  node = tvms_rewrite(&rewriter, node);
  tvms_rewriter_fini(&rewriter);
  return node;
}

// A caller that has no place for the workspace is reported before anything is changed.
static bool has_place(const tvms_pass_run *run, const tvms_node *node) {
  bool calls = false, place = false;
  tvms_list blocks = tvms_as_seq_expr(tvms_as_function(node)->body)->blocks;
  for (uint32_t i = 0; i < blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(blocks.items[i])->bindings;
    place |= (blocks.items[i]->flags & TVMS_FLAG_DATAFLOW) != 0;
    for (uint32_t k = 0; k < bindings.len; k++) {
      if (bindings.items[k]->kind != TVMS_NODE_VAR_BINDING) continue;
      const tvms_node *value = tvms_as_var_binding(bindings.items[k])->value;
      if (value->kind != TVMS_NODE_CALL) continue;
      const tvms_node *callee = tvms_as_call(value)->callee;
      if (callee->kind != TVMS_NODE_GLOBAL_VAR) continue;
      const tvms_member *member =
          tvms_module_find(run->module, tvms_as_global_var(callee)->name);
      calls |= member && asked(member->function) > 0 && !place;
    }
  }
  if (calls)
    tvms_diag_report(&run->context->diags, TVMS_D_no_workspace, node->span,
                     tvms_symbol_text(run->context, tvms_as_function(node)->name));
  return !calls;
}

void tvms_pass_allocate_workspace(tvms_pass_run *run) {
  uint32_t count = run->module->member_count;
  provider p = {.run = run};
  bool fine = true;
  for (uint32_t i = 0; i < count; i++) {
    const tvms_node *function = run->module->members[i].function;
    if (asked(function) > p.size) p.size = asked(function);
    bool caller =
        function && function->kind == TVMS_NODE_FUNCTION && !is_of_back_end(function);
    if (caller) fine &= has_place(run, function);
  }
  if (p.size == 0 || !fine) return;
  tvms_arena arena;
  tvms_arena_init(&arena, &run->context->memory);
  p.names = tvms_arena_array(&arena, tvms_sym, 2 * (size_t)count);
  bool *dead = tvms_arena_array(&arena, bool, 2 * (size_t)count);
  tvms_relax_emitter_init(&p.emitter, &run->module->unit);
  for (uint32_t i = 0; i < count; i++) {
    const tvms_node *function = run->module->members[i].function;
    dead[i] = asked(function) > 0 && is_of_back_end(function);
    if (dead[i]) remake(&p, i);
  }
  run->state = &p;
  tvms_functions_change(run, TVMS_NODE_FUNCTION, provide);
  run->state = NULL;
  tvms_functions_remove(run, dead);
  tvms_relax_emitter_fini(&p.emitter);
  tvms_arena_fini(&arena);
}
