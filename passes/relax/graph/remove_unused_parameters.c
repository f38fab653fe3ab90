// RemoveUnusedParameters: private functions lose parameters that they do not use.
//
// Before: def f(a, b): return R.exp(a)     y = R.exp(x); f(x, y)
// After:  def f(a): return R.exp(a)        f(x)
//
// A size that only such a parameter told is handed over as a shape, `param_n`. What callers
// computed for the parameter alone goes, too. TVM: relax.transform.RemoveUnusedParameters.
#include "passes/relax/graph/remove_unused_parameters.h"

#include "ir/build.h"
#include "ir/clone.h"
#include "passes/relax/analysis/symbols.h"
#include "passes/relax/graph/dead_code_elimination.h"
#include "passes/relax/make.h"
#include "structinfo/definitions.h"
#include "structinfo/make.h"

#include <stdio.h>
#include <string.h>

// A function that loses parameters. Nodes are those of the function as it was.
typedef struct {
  bool changes;
  bool *used;             // by parameter
  tvms_node_vec symbols;  // sizes that must be handed over
} callee;

typedef struct {
  tvms_pass_run *run;
  tvms_arena arena;
  callee *callees;  // by member
} removal;

static tvms_memory *memory_of(const removal *r) {
  return &r->run->context->memory;
}

// Which parameters the function uses, and which symbols its body needs from the others.
static void analyze(removal *r, tvms_unit *unit, const tvms_function *function,
                    callee *found) {
  tvms_relax_definitions definitions;
  tvms_relax_definitions_init(&definitions, unit, function->body);
  tvms_list params = function->params;
  found->used = tvms_arena_array(&r->arena, bool, params.len + 1);
  tvms_node_map defined;
  tvms_node_map_init(&defined, memory_of(r));
  for (uint32_t i = 0; i < params.len; i++) {
    found->used[i] = tvms_relax_definitions_of(&definitions, params.items[i]).uses > 0;
    found->changes |= !found->used[i];
    if (!found->used[i]) continue;
    tvms_relax_symbols_of_type(&defined, params.items[i]->sinfo);
    tvms_node_map_put(&defined, params.items[i], params.items[i]);
  }
  if (found->changes)
    tvms_relax_symbols_free(memory_of(r), function->body, &defined, &found->symbols);
  tvms_relax_symbols_latest_first(&found->symbols);
  tvms_node_map_fini(&defined);
  tvms_relax_definitions_fini(&definitions);
}

static void analyze_members(removal *r) {
  const tvms_module *module = r->run->module;
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_node *function = module->members[i].function;
    bool looked_at = function && function->kind == TVMS_NODE_FUNCTION
                     && function->flags & TVMS_FLAG_PRIVATE;
    if (looked_at)
      analyze(r, module->members[i].unit, tvms_as_function(function), &r->callees[i]);
  }
}

// ---- The functions ----

static tvms_node *shape_parameter(tvms_unit *unit, tvms_node *symbol) {
  tvms_context *context = unit->context;
  tvms_mark mark = tvms_arena_mark(&context->scratch);
  const char *name = tvms_symbol_text(context, tvms_as_var(symbol)->name);
  size_t room = strlen(name) + 8;
  char *text = tvms_arena_alloc(&context->scratch, room);
  int len = snprintf(text, room, "param_%s", name);
  tvms_sym given = tvms_symbol_intern(context, text, (size_t)len);
  tvms_arena_reset(&context->scratch, mark);
  tvms_node *param = tvms_var_new(unit, given, (tvms_dtype){0}, TVMS_NO_SPAN);
  param->sinfo = tvms_sinfo_shape_new(unit, &symbol, 1);
  return param;
}

// The function, a copy whose nodes `known` maps those of the old one to, with its new
// parameters.
static tvms_node *change_parameters(const removal *r, tvms_unit *unit, tvms_node *copy,
                                    const callee *change, const tvms_node_map *known) {
  tvms_function *function = tvms_as_function(copy);
  tvms_node_vec params = {0};
  for (uint32_t i = 0; i < function->params.len; i++) {
    if (change->used[i])
      tvms_vec_push(memory_of(r), &params, function->params.items[i]);
  }
  for (uint32_t i = 0; i < change->symbols.len; i++) {
    tvms_node *symbol = tvms_node_map_get(known, change->symbols.items[i]);
    tvms_vec_push(memory_of(r), &params, shape_parameter(unit, symbol));
  }
  tvms_node *made = tvms_node_copy(unit, copy);
  tvms_as_function(made)->params = tvms_list_copy(unit, params.items, params.len);
  tvms_vec_fini(memory_of(r), &params);
  return made;
}

// ---- Their callers ----

// The value that a symbol of the callee has in a call.
static tvms_node *value_of(tvms_unit *unit, tvms_list params, tvms_list args,
                           const tvms_node *symbol) {
  for (uint32_t i = 0; i < params.len && i < args.len; i++) {
    const tvms_node *given = tvms_sinfo_of(unit, args.items[i]);
    tvms_node *value = tvms_relax_symbol_value(params.items[i]->sinfo, given, symbol);
    if (value) return value;
  }
  return NULL;
}

static tvms_node *change_call(tvms_rewriter *rewriter, tvms_node *node) {
  removal *r = rewriter->self;
  const tvms_call *call = tvms_as_call(node);
  const tvms_module *module = r->run->module;
  const tvms_member *member = tvms_module_named(module, call->callee);
  if (!member || !r->callees[member - module->members].changes) return node;
  const callee *change = &r->callees[member - module->members];
  tvms_list params = tvms_as_function(member->function)->params;
  tvms_node_vec args = {0};
  for (uint32_t i = 0; i < call->args.len && i < params.len; i++) {
    if (change->used[i]) tvms_vec_push(memory_of(r), &args, call->args.items[i]);
  }
  for (uint32_t i = 0; i < change->symbols.len; i++) {
    tvms_node *value =
        value_of(rewriter->unit, params, call->args, change->symbols.items[i]);
    if (!value) continue;
    tvms_vec_push(memory_of(r), &args,
                  tvms_sinfo_shape_value_new(rewriter->unit, &value, 1, TVMS_NO_SPAN));
  }
  tvms_node *made = tvms_node_copy(rewriter->unit, node);
  tvms_as_call(made)->callee = tvms_relax_make_global_var(rewriter->unit, member->name);
  tvms_as_call(made)->args = tvms_list_copy(rewriter->unit, args.items, args.len);
  tvms_vec_fini(memory_of(r), &args);
  return made;
}

// The function with what it takes and passes now; NULL: it stays.
static tvms_node *TVMS_NULLABLE change_member(void *self, tvms_unit *unit,
                                              uint32_t index) {
  removal *r = self;
  tvms_node_map known;
  tvms_node_map_init(&known, memory_of(r));
  tvms_node *copy = tvms_clone(unit, r->run->module->members[index].function, &known);
  const callee *change = &r->callees[index];
  tvms_node *made =
      change->changes ? change_parameters(r, unit, copy, change, &known) : copy;
  tvms_node_map_fini(&known);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, r);
  rewriter.leave[TVMS_NODE_CALL] = change_call;
  tvms_node *result = tvms_rewrite(&rewriter, made);
  tvms_rewriter_fini(&rewriter);
  if (result != made) result = tvms_dead_code_clean(r->run, unit, result);
  return result == copy ? NULL : result;
}

void tvms_relax_remove_unused_parameters(tvms_pass_run *run) {
  uint32_t count = run->module->member_count;
  removal r = {.run = run};
  tvms_arena_init(&r.arena, &run->context->memory);
  r.callees = tvms_arena_array(&r.arena, callee, count);
  analyze_members(&r);
  bool any = false;
  for (uint32_t i = 0; i < count; i++)
    any |= r.callees[i].changes;
  // What a call hands over is told by the parameters of before.
  if (any) tvms_functions_remake(run, TVMS_NODE_FUNCTION, change_member, &r);
  for (uint32_t i = 0; i < count; i++)
    tvms_vec_fini(memory_of(&r), &r.callees[i].symbols);
  tvms_arena_fini(&r.arena);
}

void tvms_pass_remove_unused_parameters(tvms_pass_run *run) {
  tvms_relax_remove_unused_parameters(run);
}
