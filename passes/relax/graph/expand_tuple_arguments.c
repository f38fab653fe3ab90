// ExpandTupleArguments: private functions take the fields of tuples one by one.
//
// Before: def f(t: R.Tuple(A, B)): … t[0] …      f(t)
// After:  def f(t_0: A, t_1: B): … t_0 …         lv = t[0]; lv1 = t[1]; f(lv, lv1)
//
// Tuples in tuples, too, and those that stand in the call: (x, R.shape([2]))[1]. What the function returns is bound.
// Names that stand for others and what nobody uses go behind it, in all
// of the module, as in TVM; public functions keep their parameters.
// TVM: relax.transform.ExpandTupleArguments.
#include "passes/relax/graph/expand_tuple_arguments.h"

#include "ir/build.h"
#include "passes/relax/blocks.h"
#include "passes/relax/emit.h"
#include "passes/relax/graph/canonicalize_bindings.h"
#include "passes/relax/graph/dead_code_elimination.h"
#include "passes/relax/make.h"
#include "structinfo/make.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  TVMS_VEC(tvms_sym) names;    // of the functions that were changed
  tvms_relax_emitter emitter;  // of the caller at hand
} expansion;

static bool is_tuple(const tvms_node *TVMS_NULLABLE type) {
  return type && type->kind == TVMS_NODE_SINFO_TUPLE;
}

static bool takes_tuple(const tvms_node *TVMS_NULLABLE function) {
  if (!function || function->kind != TVMS_NODE_FUNCTION) return false;
  if (!(function->flags & TVMS_FLAG_PRIVATE)) return false;
  tvms_list params = tvms_as_function(function)->params;
  for (uint32_t i = 0; i < params.len; i++) {
    if (is_tuple(params.items[i]->sinfo)) return true;
  }
  return false;
}

// ---- The functions ----

typedef struct {
  tvms_unit *unit;
  tvms_node_vec params;
  tvms_node_vec bindings;  // that make the tuples again
} signature;

static tvms_node *field_parameter(signature *s, const tvms_node *param,
                                  uint32_t index) {
  tvms_context *context = s->unit->context;
  const char *base = tvms_symbol_text(context, tvms_as_var(param)->name);
  tvms_mark mark = tvms_arena_mark(&context->scratch);
  size_t room = strlen(base) + 16;
  char *text = tvms_arena_alloc(&context->scratch, room);
  int len = snprintf(text, room, "%s_%u", base, index);
  tvms_sym name = tvms_symbol_intern(context, text, (size_t)len);
  tvms_arena_reset(&context->scratch, mark);
  tvms_node *type = tvms_as_sinfo_tuple(param->sinfo)->fields.items[index];
  bool scalar = type->kind == TVMS_NODE_SINFO_PRIM
                && tvms_release_has(s->unit->dialect, TVMS_FACT_scalars_are_tir);
  tvms_dtype dtype = scalar ? type->dtype : (tvms_dtype){0};
  tvms_node *made = tvms_var_new(s->unit, name, dtype, param->span);
  made->sinfo = type;
  return made;
}

static void expand_parameter(signature *s, tvms_node *param) {
  tvms_memory *memory = &s->unit->context->memory;
  if (!is_tuple(param->sinfo)) {
    tvms_vec_push(memory, &s->params, param);
    return;
  }
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  tvms_list types = tvms_as_sinfo_tuple(param->sinfo)->fields;
  tvms_tuple *tuple = tvms_node_make(s->unit, TUPLE, param->span);
  tuple->fields = tvms_list_copy(s->unit, types.items, types.len);
  tuple->head.sinfo = param->sinfo;
  for (uint32_t i = 0; i < types.len; i++) {
    tuple->fields.items[i] = field_parameter(s, param, i);
    expand_parameter(s, tuple->fields.items[i]);
  }
  tvms_var_binding *binding = tvms_node_make(s->unit, VAR_BINDING, param->span);
  binding->value = &tuple->head;
  binding->var = param;
  tvms_vec_push(memory, &s->bindings, &binding->head);
  tvms_memory_leave(memory);
}

static tvms_node *with_bound_result(tvms_unit *unit, tvms_node *body,
                                    tvms_node *result) {
  tvms_sym name = tvms_symbol_intern(unit->context, "gv", 2);
  tvms_node *var = tvms_var_new(unit, name, (tvms_dtype){0}, result->span);
  var->sinfo = tvms_sinfo_of(unit, result);
  tvms_var_binding *binding = tvms_node_make(unit, VAR_BINDING, result->span);
  binding->value = result;
  binding->var = var;
  return tvms_relax_append_binding(unit, body, &binding->head, var);
}

// The body with the bindings in a block in front of it, and its result bound.
static tvms_node *body_behind(tvms_unit *unit, tvms_node *body,
                              const tvms_node_vec *bindings) {
  tvms_binding_block *block = tvms_node_make(unit, BINDING_BLOCK, body->span);
  tvms_node *result = tvms_as_seq_expr(body)->body;
  if (result->kind != TVMS_NODE_VAR) body = with_bound_result(unit, body, result);
  block->bindings = tvms_list_copy(unit, bindings->items, bindings->len);
  tvms_node *made = tvms_node_copy(unit, body);
  tvms_list old = tvms_as_seq_expr(body)->blocks;
  tvms_list blocks = {tvms_arena_array(&unit->arena, tvms_node *, old.len + 1),
                      old.len + 1};
  blocks.items[0] = &block->head;
  for (uint32_t i = 0; i < old.len; i++)
    blocks.items[i + 1] = old.items[i];
  tvms_as_seq_expr(made)->blocks = blocks;
  return made;
}

static tvms_node *expand_function(tvms_pass_run *run, tvms_unit *unit,
                                  tvms_node *node) {
  if (!takes_tuple(node)) return node;
  expansion *e = run->state;
  tvms_memory *memory = &run->context->memory;
  const tvms_function *old = tvms_as_function(node);
  signature s = {.unit = unit};
  for (uint32_t i = 0; i < old->params.len; i++)
    expand_parameter(&s, old->params.items[i]);
  tvms_node *made = tvms_node_copy(unit, node);
  tvms_function *function = tvms_as_function(made);
  function->params = tvms_list_copy(unit, s.params.items, s.params.len);
  function->body = body_behind(unit, old->body, &s.bindings);
  tvms_vec_push(memory, &e->names, old->name);
  tvms_vec_fini(memory, &s.params);
  tvms_vec_fini(memory, &s.bindings);
  return made;
}

// ---- Their callers ----

static tvms_node *item_of(tvms_unit *unit, tvms_node *tuple, uint32_t index) {
  tvms_tuple_get_item *item = tvms_node_make(unit, TUPLE_GET_ITEM, tuple->span);
  item->tuple = tuple;
  item->index = index;
  item->head.sinfo = tvms_as_sinfo_tuple(tuple->sinfo)->fields.items[index];
  return &item->head;
}

static void push_argument(expansion *e, tvms_rewriter *r, tvms_node_vec *args,
                          tvms_node *arg) {
  tvms_memory *memory = &r->unit->context->memory;
  if (!is_tuple(arg->sinfo)) {
    tvms_vec_push(memory, args, arg);
    return;
  }
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  bool dataflow = r->sequence && r->sequence->flags & TVMS_FLAG_DATAFLOW;
  uint32_t count = tvms_as_sinfo_tuple(arg->sinfo)->fields.len;
  for (uint32_t i = 0; i < count; i++) {
    tvms_node *field = tvms_relax_emit(&e->emitter, r, item_of(r->unit, arg, i),
                                       dataflow ? "lv" : "gv");
    push_argument(e, r, args, field);
  }
  tvms_memory_leave(memory);
}

static tvms_node *expand_call(tvms_rewriter *r, tvms_node *node) {
  expansion *e = r->self;
  const tvms_call *call = tvms_as_call(node);
  if (call->callee->kind != TVMS_NODE_GLOBAL_VAR) return node;
  tvms_sym name = tvms_as_global_var(call->callee)->name;
  uint32_t at = 0;
  while (at < e->names.len && e->names.items[at] != name)
    at++;
  if (at == e->names.len) return node;
  tvms_node_vec args = {0};
  for (uint32_t i = 0; i < call->args.len; i++)
    push_argument(e, r, &args, call->args.items[i]);
  tvms_node *made = tvms_node_copy(r->unit, node);
  tvms_as_call(made)->callee = tvms_relax_make_global_var(r->unit, name);
  tvms_as_call(made)->args = tvms_list_copy(r->unit, args.items, args.len);
  tvms_vec_fini(&r->unit->context->memory, &args);
  return made;
}

static tvms_node *expand_calls(tvms_pass_run *run, tvms_unit *unit,
                               tvms_node *function) {
  expansion *e = run->state;
  tvms_relax_emitter_init(&e->emitter, unit);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, e);
  rewriter.leave[TVMS_NODE_CALL] = expand_call;
  tvms_node *result = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  tvms_relax_emitter_fini(&e->emitter);
  return result;
}

void tvms_relax_expand_tuple_arguments(tvms_pass_run *run, bool checks) {
  void *outer = run->state;
  expansion e = {.names = {0}};
  run->state = &e;
  tvms_functions_change(run, TVMS_NODE_FUNCTION, expand_function);
  if (e.names.len) tvms_functions_change(run, TVMS_NODE_FUNCTION, expand_calls);
  run->state = outer;
  tvms_vec_fini(&run->context->memory, &e.names);
  tvms_functions_change(run, TVMS_NODE_FUNCTION,
                        checks ? tvms_relax_canonicalize_checked
                               : tvms_relax_canonicalize);
  tvms_dead_code_eliminate(run, "");
}

void tvms_pass_expand_tuple_arguments(tvms_pass_run *run) {
  tvms_relax_expand_tuple_arguments(run, false);
}
