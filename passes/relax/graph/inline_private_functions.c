// InlinePrivateFunctions: what private functions do is done where they are called.
//
// Before: y = cls.f(x)      def f(a): b = R.exp(a); return b
// After:  y = R.exp(x)
//
// The private functions go; those that may come to call themselves stay and are still
// called. Copies that this leaves, and what nobody uses, go from functions that changed.
// In a module without functions of Relax it is what TVM calls by the same name for PrimFuncs
// (passes/tir/simplify/inline_prim_funcs.c).
// TVM: relax.transform.InlinePrivateFunctions, tirx.transform.InlinePrivateFunctions.
#include "ir/build.h"
#include "ir/clone.h"
#include "passes/functions.h"
#include "passes/relax/analysis/call_graph.h"
#include "passes/relax/analysis/symbols.h"
#include "passes/relax/blocks.h"
#include "passes/relax/graph/canonicalize_bindings.h"
#include "passes/relax/graph/dead_code_elimination.h"
#include "passes/relax/substitute.h"
#include "passes/tir/simplify/inline_prim_funcs.h"
#include "structinfo/make.h"

typedef struct {
  tvms_pass_run *run;
  const bool *inlined;  // by member
} inliner;

static tvms_memory *memory_of(const tvms_rewriter *r) {
  return &r->unit->context->memory;
}

// The function that a binding calls, if it is one that is inlined.
static const tvms_function *TVMS_NULLABLE callee_of(const inliner *state,
                                                    const tvms_node *binding) {
  if (binding->kind != TVMS_NODE_VAR_BINDING) return NULL;
  const tvms_node *value = tvms_as_var_binding(binding)->value;
  if (value->kind != TVMS_NODE_CALL) return NULL;
  const tvms_call *call = tvms_as_call(value);
  const tvms_module *module = state->run->module;
  const tvms_member *member = tvms_module_named(module, call->callee);
  if (!member || !state->inlined[member - module->members]) return NULL;
  const tvms_function *callee = tvms_as_function(member->function);
  return callee->params.len == call->args.len ? callee : NULL;
}

// Binds a parameter to what is passed for it. A scalar is put in itself.
static void bind_parameter(tvms_rewriter *r, const tvms_node *param, tvms_node *arg,
                           tvms_node_map *known, tvms_node_vec *bindings) {
  if (tvms_relax_is_symbol(param)) {
    tvms_node *scalar =
        arg->kind == TVMS_NODE_PRIM_VALUE ? tvms_as_prim_value(arg)->value : arg;
    tvms_node_map_put(known, param, scalar);
    return;
  }
  tvms_node *var =
      tvms_var_new(r->unit, tvms_as_var(param)->name, (tvms_dtype){0}, arg->span);
  var->sinfo = tvms_sinfo_of(r->unit, arg);
  tvms_node_map_put(known, param, var);
  tvms_var_binding *binding = tvms_node_make(r->unit, VAR_BINDING, arg->span);
  binding->value = arg;
  binding->var = var;
  tvms_vec_push(memory_of(r), bindings, &binding->head);
}

// What the symbols of the callee are in this call, keyed by those of the copy.
static void bind_symbols(const tvms_function *callee, tvms_list args, tvms_unit *unit,
                         const tvms_node_map *known, tvms_node_map *values) {
  tvms_node_map symbols;
  tvms_node_map_init(&symbols, &unit->context->memory);
  for (uint32_t i = 0; i < callee->params.len; i++)
    tvms_relax_symbols_of_type(&symbols, callee->params.items[i]->sinfo);
  for (uint32_t i = 0; i < symbols.cap; i++) {
    const tvms_node *symbol = symbols.pairs[i].key;
    const tvms_node *copy = symbol ? tvms_node_map_get(known, symbol) : NULL;
    tvms_node *value = NULL;
    for (uint32_t k = 0; copy && k < args.len && !value; k++) {
      value = tvms_relax_symbol_value(callee->params.items[k]->sinfo,
                                      tvms_sinfo_of(unit, args.items[k]), symbol);
    }
    if (value) tvms_node_map_put(values, copy, value);
  }
  tvms_node_map_fini(&symbols);
}

static tvms_node *inline_calls(tvms_rewriter *r, tvms_node *sequence);

// The body of the callee with the arguments, and what it calls inlined too. What binds its
// parameters goes into `bindings`.
static tvms_node *body_for(tvms_rewriter *r, const tvms_function *callee,
                           tvms_list args, tvms_node_vec *bindings) {
  tvms_node_map known, values;
  tvms_node_map_init(&known, memory_of(r));
  tvms_node_map_init(&values, memory_of(r));
  for (uint32_t i = 0; i < args.len; i++)
    bind_parameter(r, callee->params.items[i], args.items[i], &known, bindings);
  tvms_node *body = tvms_clone(r->unit, callee->body, &known);
  bind_symbols(callee, args, r->unit, &known, &values);
  body = tvms_relax_substitute(r->unit, body, &values);
  tvms_node_map_fini(&known);
  tvms_node_map_fini(&values);
  tvms_rewriter inner;
  tvms_rewriter_init(&inner, r->unit, r->self);
  inner.leave[TVMS_NODE_SEQ_EXPR] = inline_calls;
  body = tvms_rewrite(&inner, body);
  tvms_rewriter_fini(&inner);
  return body;
}

static void push_block(tvms_rewriter *r, tvms_node_vec *blocks, tvms_node_vec *bindings,
                       uint8_t flags) {
  if (bindings->len) {
    tvms_binding_block *block = tvms_node_make(r->unit, BINDING_BLOCK, TVMS_NO_SPAN);
    block->head.flags = flags;
    block->bindings = tvms_list_copy(r->unit, bindings->items, bindings->len);
    tvms_vec_push(memory_of(r), blocks, &block->head);
  }
  bindings->len = 0;
}

// A call splits its block: before it, the parameters, the blocks of the callee, and the rest,
// which begins with the result.
static void inline_call(tvms_rewriter *r, tvms_node *binding,
                        const tvms_function *callee, uint8_t flags,
                        tvms_node_vec *blocks, tvms_node_vec *current) {
  const tvms_call *call = tvms_as_call(tvms_as_var_binding(binding)->value);
  push_block(r, blocks, current, flags);
  tvms_node *body = body_for(r, callee, call->args, current);
  push_block(r, blocks, current, TVMS_FLAG_DATAFLOW);
  tvms_list inner = tvms_as_seq_expr(body)->blocks;
  for (uint32_t i = 0; i < inner.len; i++)
    tvms_vec_push(memory_of(r), blocks, inner.items[i]);
  tvms_node *copy = tvms_node_copy(r->unit, binding);
  tvms_as_var_binding(copy)->value = tvms_as_seq_expr(body)->body;
  tvms_vec_push(memory_of(r), current, copy);
}

static bool calls_inlined(const inliner *state, const tvms_seq_expr *sequence) {
  for (uint32_t i = 0; i < sequence->blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(sequence->blocks.items[i])->bindings;
    for (uint32_t k = 0; k < bindings.len; k++) {
      if (callee_of(state, bindings.items[k])) return true;
    }
  }
  return false;
}

static tvms_node *inline_calls(tvms_rewriter *r, tvms_node *sequence) {
  const inliner *state = r->self;
  if (!calls_inlined(state, tvms_as_seq_expr(sequence))) return sequence;
  tvms_list old = tvms_as_seq_expr(sequence)->blocks;
  tvms_node_vec blocks = {0}, current = {0};
  for (uint32_t i = 0; i < old.len; i++) {
    tvms_list bindings = tvms_as_binding_block(old.items[i])->bindings;
    uint8_t flags = old.items[i]->flags;
    for (uint32_t k = 0; k < bindings.len; k++) {
      const tvms_function *callee = callee_of(state, bindings.items[k]);
      if (callee)
        inline_call(r, bindings.items[k], callee, flags, &blocks, &current);
      else
        tvms_vec_push(memory_of(r), &current, bindings.items[k]);
    }
    push_block(r, &blocks, &current, flags);
  }
  tvms_node *made = tvms_node_copy(r->unit, sequence);
  tvms_as_seq_expr(made)->blocks = tvms_list_copy(r->unit, blocks.items, blocks.len);
  tvms_vec_fini(memory_of(r), &blocks);
  tvms_vec_fini(memory_of(r), &current);
  return tvms_relax_merge_blocks(r->unit, made);
}

// A function that calls none of them is tidied up, too, as in TVM, whose mutator makes every block anew.
static tvms_node *inline_into(tvms_pass_run *run, tvms_unit *unit,
                              tvms_node *function) {
  inliner *state = run->state;
  const tvms_member *member =
      tvms_module_find(run->module, tvms_as_function(function)->name);
  if (member && state->inlined[member - run->module->members]) return function;
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, state);
  rewriter.leave[TVMS_NODE_SEQ_EXPR] = inline_calls;
  tvms_node *result = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  return tvms_dead_code_clean(run, unit, tvms_relax_canonicalize(run, unit, result));
}

static bool has_relax(const tvms_module *module) {
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_node *function = module->members[i].function;
    if (function && function->kind == TVMS_NODE_FUNCTION) return true;
  }
  return false;
}

void tvms_pass_inline_private_functions(tvms_pass_run *run) {
  const tvms_module *module = run->module;
  if (!has_relax(module)) {
    tvms_functions_inline_prim_funcs(run);
    return;
  }
  tvms_memory *memory = &run->context->memory;
  tvms_relax_call_graph graph;
  tvms_relax_call_graph_init(&graph, module);
  bool *inlined = tvms_memory_alloc(memory, module->member_count + 1);
  tvms_relax_call_graph_recursive(&graph, inlined);
  tvms_relax_call_graph_fini(&graph);
  bool any = false;
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_node *function = module->members[i].function;
    bool private = function && function->kind == TVMS_NODE_FUNCTION
                   && function->flags & TVMS_FLAG_PRIVATE;
    inlined[i] = private && !inlined[i];
    any = any || inlined[i];
  }
  inliner state = {run, inlined};
  run->state = &state;
  if (any) tvms_functions_change(run, TVMS_NODE_FUNCTION, inline_into);
  tvms_functions_remove(run, inlined);
  tvms_memory_free(memory, inlined);
}
