// AttachGlobalSymbol: every function becomes visible under its name.
//
// Before: @T.prim_func(private=True) def f …   After: @T.prim_func def f …
//
// In the module of a system library ("system_lib_prefix" of its attributes) the names of
// PrimFuncs begin with that prefix from then on, and so do their calls.
// TVM: relax.transform.AttachGlobalSymbol.
#include "ir/object.h"
#include "passes/functions.h"

#include <string.h>

typedef struct {
  tvms_pass_run *run;
  const char *prefix;
} naming;

static bool is_prim_func(const tvms_node *TVMS_NULLABLE function) {
  return function && function->kind == TVMS_NODE_PRIM_FUNC;
}

static tvms_sym prefixed(const naming *state, tvms_sym name) {
  tvms_context *context = state->run->context;
  const char *text = tvms_symbol_text(context, name);
  tvms_mark mark = tvms_arena_mark(&context->scratch);
  size_t head = strlen(state->prefix), tail = strlen(text);
  char *joined = tvms_arena_alloc(&context->scratch, head + tail + 1);
  memcpy(joined, state->prefix, head);
  memcpy(joined + head, text, tail + 1);
  tvms_sym made = tvms_symbol_intern(context, joined, head + tail);
  tvms_arena_reset(&context->scratch, mark);
  return made;
}

static tvms_node *rename_callee(tvms_rewriter *r, tvms_node *node) {
  const naming *state = r->self;
  tvms_sym name = tvms_as_global_var(node)->name;
  const tvms_member *member = tvms_module_find(state->run->module, name);
  if (!state->prefix[0] || !member || !is_prim_func(member->function)) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_as_global_var(copy)->name = prefixed(state, name);
  return copy;
}

static tvms_node *publish(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  naming *state = run->state;
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, state);
  rewriter.leave[TVMS_NODE_GLOBAL_VAR] = rename_callee;
  tvms_node *changed = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  bool renamed = state->prefix[0] && is_prim_func(function);
  if (!renamed && !(function->flags & TVMS_FLAG_PRIVATE)) return changed;
  tvms_node *public = tvms_node_copy(unit, changed);
  public->flags &= (uint8_t)~TVMS_FLAG_PRIVATE;
  if (renamed) {
    tvms_prim_func *named = tvms_as_prim_func(public);
    named->name = prefixed(state, named->name);
  }
  return public;
}

// Functions that become visible stand behind those that were, as TVM puts them: code for the virtual
// machine has the functions of a module in their order.
static void order(tvms_module *module) {
  tvms_memory *memory = &module->context->memory;
  uint32_t count = module->member_count, kept = 0, moved = 0;
  tvms_member *private = tvms_memory_alloc(memory, (count + 1) * sizeof *private);
  for (uint32_t i = 0; i < count; i++) {
    const tvms_node *function = module->members[i].function;
    bool hidden = function && function->kind != TVMS_NODE_EXTERN_FUNC
                  && (function->flags & TVMS_FLAG_PRIVATE);
    if (hidden)
    private[moved++] = module->members[i];
    else module->members[kept++] = module->members[i];
  }
  if (moved) memcpy(module->members + kept, private, moved * sizeof *private);
  tvms_memory_free(memory, private);
  tvms_module_index_again(module);
}

void tvms_pass_attach_global_symbol(tvms_pass_run *run) {
  tvms_module *module = run->module;
  order(module);
  const char *prefix =
      tvms_object_as_text(tvms_object_map_get(module->attrs, "system_lib_prefix"));
  naming state = {run, prefix ? prefix : ""};
  run->state = &state;
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, publish);
  tvms_functions_change(run, TVMS_NODE_FUNCTION, publish);
  run->state = NULL;
  if (!state.prefix[0]) return;
  for (uint32_t i = 0; i < module->member_count; i++) {
    tvms_member *member = &module->members[i];
    if (is_prim_func(member->function)) member->name = prefixed(&state, member->name);
  }
  tvms_module_index_again(module);
}
