// Composite functions made into functions of a back end.
// TVM: CompositeFunctionAnnotator of fuse_ops.cc.
#include "passes/relax/fuse/annotate_codegen.h"

#include "ir/build.h"
#include "ir/clone.h"
#include "ir/object.h"
#include "passes/relax/fuse/codegen_function.h"
#include "passes/relax/fuse/composite_groups.h"
#include "structinfo/make.h"

#include <string.h>

typedef struct {
  tvms_pass_run *run;
  tvms_node_map made;     // composite FUNCTION → GLOBAL_VAR of the one that wraps it
  tvms_node_vec wrapped;  // those composites
} annotator;

static tvms_node *new_variable(tvms_unit *unit, const char *name, tvms_node *type) {
  tvms_sym sym = tvms_symbol_intern(unit->context, name, strlen(name));
  tvms_node *var = tvms_var_new(unit, sym, (tvms_dtype){0}, TVMS_NO_SPAN);
  var->sinfo = type;
  return var;
}

static tvms_node *bind(tvms_unit *unit, tvms_node *var, tvms_node *value) {
  tvms_var_binding *binding = tvms_node_make(unit, VAR_BINDING, TVMS_NO_SPAN);
  binding->var = var;
  binding->value = value;
  return &binding->head;
}

// local_func = <the composite>; output = local_func(parameters); return output
static tvms_node *body_of(tvms_unit *unit, tvms_node *inner, tvms_list params,
                          tvms_node *ret) {
  tvms_node *local = new_variable(unit, "local_func", inner->sinfo);
  tvms_node *output = new_variable(unit, "output", ret);
  tvms_node *call = tvms_call_new(unit, (tvms_dtype){0}, local, params.items,
                                  params.len, TVMS_NO_SPAN);
  call->sinfo = ret;
  tvms_node *bindings[] = {bind(unit, local, inner), bind(unit, output, call)};
  tvms_binding_block *block = tvms_node_make(unit, BINDING_BLOCK, TVMS_NO_SPAN);
  block->bindings = tvms_list_copy(unit, bindings, 2);
  tvms_node *only = &block->head;
  tvms_seq_expr *body = tvms_node_make(unit, SEQ_EXPR, TVMS_NO_SPAN);
  body->blocks = tvms_list_copy(unit, &only, 1);
  body->body = output;
  body->head.sinfo = ret;
  return &body->head;
}

// The parameters and the result have types of their own: the local function defines its symbols.
static tvms_node *wrap(tvms_unit *unit, const tvms_node *composite,
                       const char *codegen) {
  tvms_node *inner = tvms_clone(unit, composite, NULL);
  const tvms_function *outer = tvms_as_function(tvms_clone(unit, composite, NULL));
  tvms_function *local = tvms_as_function(inner);
  local->attrs = tvms_object_map_with(unit, local->attrs, "Primitive", NULL);
  inner->flags &= (uint8_t)~TVMS_FLAG_PRIVATE;
  inner->sinfo = tvms_sinfo_func_new_of_vars(unit, local->params, local->ret,
                                             inner->flags & TVMS_FLAG_PURE);
  tvms_node *text = tvms_object_str_new(unit, codegen, strlen(codegen), TVMS_NO_SPAN);
  tvms_function *made = tvms_node_make(unit, FUNCTION, TVMS_NO_SPAN);
  made->head.flags = inner->flags & TVMS_FLAG_PURE;
  made->params = outer->params;
  made->ret = outer->ret;
  made->attrs = tvms_object_map_with(unit, NULL, "Codegen", text);
  made->body = body_of(unit, inner, made->params, made->ret);
  return &made->head;
}

static tvms_node *call_wrapper(tvms_rewriter *r, tvms_node *node) {
  annotator *a = r->self;
  const tvms_node *callee = tvms_as_call(node)->callee;
  tvms_sym codegen = tvms_fuse_composite_codegen(a->run->module, callee);
  if (!codegen) return node;
  tvms_sym name = tvms_as_global_var(callee)->name;
  tvms_node *composite = tvms_module_find(a->run->module, name)->function;
  tvms_node *known = tvms_node_map_get(&a->made, composite);
  if (!known) {
    const char *text = tvms_symbol_text(a->run->context, codegen);
    tvms_unit *unit = tvms_functions_open_unit(a->run);
    tvms_sym fresh = tvms_fuse_add_codegen_function(a->run, name, text, unit,
                                                    wrap(unit, composite, text));
    known = tvms_node_copy(&a->run->module->unit, callee);
    tvms_as_global_var(known)->name = fresh;
    tvms_node_map_put(&a->made, composite, known);
    tvms_vec_push(&a->run->context->memory, &a->wrapped, composite);
  }
  tvms_node *made = tvms_node_copy(r->unit, node);
  tvms_node *gvar = tvms_node_copy(r->unit, known);
  gvar->sinfo = NULL;
  tvms_as_call(made)->callee = gvar;
  return made;
}

static tvms_node *annotate(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  const tvms_node *attrs = tvms_as_function(function)->attrs;
  if (tvms_object_map_get(attrs, "Composite") || tvms_object_map_get(attrs, "Codegen"))
    return function;
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, run->state);
  rewriter.leave[TVMS_NODE_CALL] = call_wrapper;
  function = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  return function;
}

void tvms_fuse_annotate_codegen(tvms_pass_run *run) {
  tvms_memory *memory = &run->context->memory;
  annotator a = {.run = run};
  void *outer = run->state;
  tvms_node_map_init(&a.made, memory);
  run->state = &a;
  tvms_functions_change(run, TVMS_NODE_FUNCTION, annotate);
  run->state = outer;
  uint32_t count = run->module->member_count;
  bool *dead = memset(tvms_memory_alloc(memory, count + 1), 0, count + 1);
  for (uint32_t i = 0; i < a.wrapped.len; i++)
    for (uint32_t k = 0; k < count; k++)
      dead[k] |= run->module->members[k].function == a.wrapped.items[i];
  if (a.wrapped.len) tvms_functions_remove(run, dead);
  tvms_memory_free(memory, dead);
  tvms_vec_fini(memory, &a.wrapped);
  tvms_node_map_fini(&a.made);
}
