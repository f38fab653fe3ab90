// LiftTransformParams: what depends on weights only is computed by a function of its own, which runs
// once, and the others take what it returns.
//
// Before: def main(x, w): wt = R.permute_dims(w); y = R.matmul(x, wt)     with num_input 1
// After:  def main_transform_params(model_params): w = model_params[0]; wt = R.permute_dims(w)
//                                                  return (wt,)
//         def main(x, wt): y = R.matmul(x, wt)
//
// Weights are the parameters behind the first num_input. Lifted are bindings of dataflow blocks, but
// no R.builtin.stop_lift_params and what needs it, which becomes its argument. What needs no weight
// is computed on both sides where both need it. Symbols that only weights told come as a shape.
// With shared_transform one function, transform_params, does what all functions with num_input have
// in common, or those that are named. A function of that name that is there already comes first in
// the new one. consume_params lets it release each weight behind its first use (in TVM an entry of
// the PassContext). Local functions become functions of the module, as in TVM. What is only returned
// is handed over, too; TVM forgets it.
// TVM: relax.transform.LiftTransformParams.
#include "ir/clone.h"
#include "ir/object.h"
#include "ir/op.h"
#include "passes/functions.h"
#include "passes/relax/analysis/num_input.h"
#include "passes/relax/blocks.h"
#include "passes/relax/graph/canonicalize_bindings.h"
#include "passes/relax/graph/dead_code_elimination.h"
#include "passes/relax/make.h"
#include "passes/relax/params/bundle_model_params.h"
#include "passes/relax/params/consume_params.h"
#include "passes/relax/params/lift_plan.h"
#include "structinfo/definitions.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

static const char ending[] = "transform_params";

// A function in the making.
typedef struct {
  tvms_pass_run *run;
  tvms_memory *memory;
  tvms_unit *unit;
  tvms_node_map known;  // nodes of the old function → those of the new one
} maker;

static maker open_maker(tvms_pass_run *run) {
  maker m = {run, &run->context->memory, tvms_functions_open_unit(run), {0}};
  tvms_node_map_init(&m.known, m.memory);
  return m;
}

static tvms_sym name_of(tvms_context *context, const char *head, const char *tail) {
  tvms_mark mark = tvms_arena_mark(&context->scratch);
  size_t room = strlen(head) + strlen(tail) + 1;
  char *text = tvms_arena_alloc(&context->scratch, room);
  snprintf(text, room, "%s%s", head, tail);
  tvms_sym name = tvms_symbol_intern(context, text, room - 1);
  tvms_arena_reset(&context->scratch, mark);
  return name;
}

static bool ends_so(const char *name) {
  size_t len = strlen(name), tail = sizeof ending - 1;
  return len >= tail && strcmp(name + len - tail, ending) == 0;
}

static tvms_node *new_var(maker *m, const char *name, const char *tail,
                          tvms_node *type) {
  tvms_node *var = tvms_var_new(m->unit, name_of(m->unit->context, name, tail),
                                (tvms_dtype){0}, TVMS_NO_SPAN);
  var->sinfo = type;
  return var;
}

static const char *text_of(const maker *m, const tvms_node *var) {
  return tvms_symbol_text(m->unit->context, tvms_as_var(var)->name);
}

static tvms_node *bind(maker *m, tvms_node *var, tvms_node *value) {
  tvms_var_binding *binding = tvms_node_make(m->unit, VAR_BINDING, TVMS_NO_SPAN);
  binding->var = var;
  binding->value = value;
  return &binding->head;
}

static tvms_node *block_of(maker *m, const tvms_node_vec *bindings, uint8_t flags) {
  tvms_binding_block *block = tvms_node_make(m->unit, BINDING_BLOCK, TVMS_NO_SPAN);
  block->head.flags = flags;
  block->bindings = tvms_list_copy(m->unit, bindings->items, bindings->len);
  return &block->head;
}

static tvms_node *tuple_of(maker *m, const tvms_node_vec *fields) {
  tvms_tuple *tuple = tvms_node_make(m->unit, TUPLE, TVMS_NO_SPAN);
  tuple->fields = tvms_list_copy(m->unit, fields->items, fields->len);
  tvms_list types = tvms_list_copy(m->unit, fields->items, fields->len);
  for (uint32_t i = 0; i < types.len; i++)
    types.items[i] = tvms_sinfo_of(m->unit, fields->items[i]);
  tuple->head.sinfo = tvms_sinfo_tuple_new(m->unit, types.items, types.len);
  return &tuple->head;
}

static tvms_node *sequence_of(maker *m, tvms_node *const *blocks, uint32_t count,
                              tvms_node *body) {
  tvms_seq_expr *made = tvms_node_make(m->unit, SEQ_EXPR, TVMS_NO_SPAN);
  made->blocks = tvms_list_copy(m->unit, blocks, count);
  made->body = body;
  made->head.sinfo = body->sinfo;
  return tvms_relax_merge_blocks(m->unit, &made->head);
}

// ---- The function that runs once ----

// The tuple of what is handed over and the bindings that make it.
static tvms_node *hand_over(maker *m, const tvms_relax_lift_plan *plan, bool shared,
                            tvms_node_vec *bindings) {
  tvms_node_vec symbols = {0}, outputs = {0}, fields = {0};
  tvms_relax_lift_plan_symbols(plan, m->memory, shared, &symbols);
  tvms_relax_lift_plan_outputs(plan, m->memory, &outputs);
  for (uint32_t i = 0; i < symbols.len; i++)
    symbols.items[i] = tvms_clone(m->unit, symbols.items[i], &m->known);
  if (symbols.len)
    tvms_vec_push(
        m->memory, &fields,
        tvms_sinfo_shape_value_new(m->unit, symbols.items, symbols.len, TVMS_NO_SPAN));
  for (uint32_t i = 0; i < outputs.len; i++) {
    tvms_node *value = tvms_clone(m->unit, outputs.items[i], &m->known);
    tvms_node *var = new_var(m, text_of(m, value), "_output", value->sinfo);
    tvms_vec_push(m->memory, bindings, bind(m, var, value));
    tvms_vec_push(m->memory, &fields, var);
  }
  // An empty tuple is returned as it is.
  bool some = fields.len > 0;
  tvms_node *result = tuple_of(m, &fields);
  if (some) {
    tvms_node *tuple = result;
    result = new_var(m, "output_tuple", "", tuple->sinfo);
    tvms_vec_push(m->memory, bindings, bind(m, result, tuple));
  }
  tvms_vec_fini(m->memory, &symbols);
  tvms_vec_fini(m->memory, &outputs);
  tvms_vec_fini(m->memory, &fields);
  return result;
}

static tvms_node *before_function(maker *m, const tvms_relax_lift_plan *plan,
                                  bool shared) {
  const tvms_function *old = tvms_as_function(plan->function);
  tvms_function *made = tvms_node_make(m->unit, FUNCTION, TVMS_NO_SPAN);
  uint32_t count = old->params.len - plan->inputs;
  made->params = tvms_list_copy(m->unit, old->params.items + plan->inputs, count);
  for (uint32_t i = 0; i < count; i++)
    made->params.items[i] = tvms_clone(m->unit, made->params.items[i], &m->known);
  tvms_node_vec first = {0}, last = {0};
  for (uint32_t i = 0; i < plan->bindings.len; i++)
    tvms_vec_push(m->memory, &first,
                  tvms_clone(m->unit, plan->bindings.items[i], &m->known));
  tvms_node *result = hand_over(m, plan, shared, &last);
  tvms_node *blocks[] = {block_of(m, &first, TVMS_FLAG_DATAFLOW),
                         block_of(m, &last, TVMS_FLAG_DATAFLOW)};
  made->body = sequence_of(m, blocks, 2, result);
  made->ret = result->sinfo;
  made->head.flags = TVMS_FLAG_PURE;
  tvms_vec_fini(m->memory, &first);
  tvms_vec_fini(m->memory, &last);
  tvms_relax_set_num_input(m->unit, &made->head, 0);
  tvms_node *function =
      tvms_relax_bundle_params(m->run, m->unit, &made->head, "model_params");
  function = tvms_relax_canonicalize(m->run, m->unit, function);
  return tvms_dead_code_clean(m->run, m->unit, function);
}

// `first`, and behind it, with its result for the parameter, the function `second` of m->unit.
static tvms_node *compose(maker *m, const tvms_node *first, const tvms_node *second) {
  tvms_node *copy = tvms_clone(m->unit, first, NULL);
  tvms_function *made = tvms_as_function(copy);
  const tvms_function *then = tvms_as_function(second);
  const tvms_seq_expr *before = tvms_as_seq_expr(made->body),
                      *behind = tvms_as_seq_expr(then->body);
  tvms_node *param = then->params.items[0];
  tvms_node *var = new_var(m, "func_a_output", "", before->body->sinfo);
  tvms_match_cast *cast = tvms_node_make(m->unit, MATCH_CAST, TVMS_NO_SPAN);
  cast->value = var;
  cast->type = param->sinfo;
  cast->var = param;
  tvms_node_vec middle = {0}, blocks = {0};
  tvms_vec_push(m->memory, &middle, bind(m, var, before->body));
  tvms_vec_push(m->memory, &middle, &cast->head);
  for (uint32_t i = 0; i < before->blocks.len; i++)
    tvms_vec_push(m->memory, &blocks, before->blocks.items[i]);
  tvms_vec_push(m->memory, &blocks, block_of(m, &middle, 0));
  for (uint32_t i = 0; i < behind->blocks.len; i++)
    tvms_vec_push(m->memory, &blocks, behind->blocks.items[i]);
  made->body = sequence_of(m, blocks.items, blocks.len, behind->body);
  made->ret = then->ret;
  made->head.sinfo = NULL;
  tvms_vec_fini(m->memory, &middle);
  tvms_vec_fini(m->memory, &blocks);
  copy = tvms_relax_canonicalize(m->run, m->unit, copy);
  return tvms_dead_code_clean(m->run, m->unit, copy);
}

// Puts the function that runs once into the module, behind one of its name that is there.
static void add_before(maker *m, tvms_node *function, tvms_sym name) {
  const tvms_member *old = tvms_module_find(m->run->module, name);
  bool composed = old && old->function && old->function->kind == TVMS_NODE_FUNCTION;
  if (composed) function = compose(m, old->function, function);
  tvms_as_function(function)->name = name;
  if (old)
    tvms_functions_replace(m->run, (uint32_t)(old - m->run->module->members), m->unit,
                           function);
  else
    tvms_functions_add(m->run, name, m->unit, function);
}

// ---- The function that is called ----

typedef struct {
  const maker *m;
  tvms_node_map gone;  // variables whose bindings go
} suppressor;

static tvms_node *TVMS_NULLABLE suppress(tvms_rewriter *r, tvms_node *binding) {
  const suppressor *s = r->self;
  return tvms_node_map_get(&s->gone, tvms_relax_binding_var(binding))
             ? NULL
             : TVMS_REWRITE_BELOW;
}

static tvms_node *unwrap(tvms_rewriter *r, tvms_node *call) {
  (void)r;
  return tvms_op_called(call) == TVMS_R_builtin_stop_lift_params
             ? tvms_as_call(call)->args.items[0]
             : call;
}

static tvms_node *suppressed(maker *m, const tvms_relax_lift_plan *plan,
                             tvms_node *body) {
  suppressor s = {.m = m};
  tvms_node_map_init(&s.gone, m->memory);
  for (uint32_t i = 0; i < plan->bindings.len; i++) {
    const tvms_node *var = tvms_relax_binding_var(plan->bindings.items[i]);
    if (tvms_node_map_get(&plan->depends, var))
      tvms_node_map_put(&s.gone, tvms_node_map_get(&m->known, var), body);
  }
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, m->unit, &s);
  rewriter.enter[TVMS_NODE_VAR_BINDING] = suppress;
  rewriter.enter[TVMS_NODE_MATCH_CAST] = suppress;
  rewriter.leave[TVMS_NODE_CALL] = unwrap;
  body = tvms_rewrite(&rewriter, body);
  tvms_rewriter_fini(&rewriter);
  tvms_node_map_fini(&s.gone);
  return body;
}

// `node`, of the first function, as the one at hand has it.
static const tvms_node *local_of(const tvms_node_map *TVMS_NULLABLE locals,
                                 const tvms_node *node) {
  const tvms_node *local = locals ? tvms_node_map_get(locals, node) : NULL;
  return local ? local : node;
}

// Parameters for what `all` hands over, which is `plan` itself unless functions share it.
static void take_over(maker *m, const tvms_relax_lift_plan *all,
                      const tvms_node_map *TVMS_NULLABLE locals, tvms_node_vec *params,
                      tvms_node_vec *bindings) {
  tvms_node_vec symbols = {0}, outputs = {0};
  tvms_relax_lift_plan_symbols(all, m->memory, locals != NULL, &symbols);
  tvms_relax_lift_plan_outputs(all, m->memory, &outputs);
  for (uint32_t i = 0; i < symbols.len; i++)
    symbols.items[i] =
        tvms_clone(m->unit, local_of(locals, symbols.items[i]), &m->known);
  if (symbols.len) {
    tvms_node *type = tvms_sinfo_shape_new(m->unit, symbols.items, symbols.len);
    tvms_vec_push(m->memory, params,
                  new_var(m, "vars_from_compile_time_params", "", type));
  }
  for (uint32_t i = 0; i < outputs.len; i++) {
    tvms_node *var = tvms_clone(m->unit, local_of(locals, outputs.items[i]), &m->known);
    tvms_node *param = new_var(m, text_of(m, var), "", var->sinfo);
    tvms_vec_push(m->memory, params, param);
    tvms_vec_push(m->memory, bindings, bind(m, var, param));
  }
  tvms_vec_fini(m->memory, &symbols);
  tvms_vec_fini(m->memory, &outputs);
}

static tvms_node *after_function(maker *m, const tvms_relax_lift_plan *plan,
                                 const tvms_relax_lift_plan *all,
                                 const tvms_node_map *TVMS_NULLABLE locals) {
  tvms_node *copy = tvms_clone(m->unit, plan->function, &m->known);
  tvms_function *made = tvms_as_function(copy);
  tvms_node_vec params = {0}, bindings = {0}, blocks = {0};
  for (uint32_t i = 0; i < plan->inputs; i++)
    tvms_vec_push(m->memory, &params, made->params.items[i]);
  take_over(m, all, locals, &params, &bindings);
  const tvms_seq_expr *body = tvms_as_seq_expr(suppressed(m, plan, made->body));
  tvms_vec_push(m->memory, &blocks, block_of(m, &bindings, TVMS_FLAG_DATAFLOW));
  for (uint32_t i = 0; i < body->blocks.len; i++)
    tvms_vec_push(m->memory, &blocks, body->blocks.items[i]);
  made->body = sequence_of(m, blocks.items, blocks.len, body->body);
  if (body->body->kind == TVMS_NODE_TUPLE) {
    tvms_node *var = new_var(m, "gv", "", body->body->sinfo);
    made->body =
        tvms_relax_append_binding(m->unit, made->body, bind(m, var, body->body), var);
  }
  made->params = tvms_list_copy(m->unit, params.items, params.len);
  made->head.sinfo = NULL;
  tvms_vec_fini(m->memory, &params);
  tvms_vec_fini(m->memory, &bindings);
  tvms_vec_fini(m->memory, &blocks);
  return tvms_relax_canonicalize(m->run, m->unit, copy);
}

// What variables of the first function are called in the one that `plan` is of.
static void find_locals(tvms_memory *memory, const tvms_relax_lift_plan *plan,
                        const tvms_node_map *common, tvms_node_map *locals) {
  tvms_node_vec own = {0};
  tvms_relax_lift_plan_symbols(plan, memory, false, &own);
  tvms_relax_lift_plan_outputs(plan, memory, &own);
  for (uint32_t i = 0; i < own.len; i++) {
    const tvms_node *shared = tvms_node_map_get(common, own.items[i]);
    if (shared) tvms_node_map_put(locals, shared, own.items[i]);
  }
  tvms_vec_fini(memory, &own);
}

// ---- The module ----

typedef struct {
  tvms_pass_run *run;
  tvms_memory *memory;
  TVMS_VEC(uint32_t) members;  // functions to look at
  bool shared;
} lifting;

static void refuse(const lifting *l, tvms_span span, const char *name,
                   const char *why) {
  tvms_diag_report(&l->run->context->diags, TVMS_D_cannot_lift, span, name, why);
}

static void choose_named(lifting *l, const tvms_literal *names) {
  tvms_context *context = l->run->context;
  for (uint32_t i = 0; i < names->len; i++) {
    const char *name = names->items[i].text ? names->items[i].text : "";
    tvms_sym symbol = tvms_symbol_intern(context, name, strlen(name));
    const tvms_member *member = tvms_module_find(l->run->module, symbol);
    const tvms_node *function = member ? member->function : NULL;
    if (!function) {
      refuse(l, l->run->module->name_span, name, "the module has none of that name");
    } else if (function->kind != TVMS_NODE_FUNCTION) {
      refuse(l, function->span, name, "it is not a Relax function");
    } else if (tvms_relax_num_input_checked(context, function) == -1) {
      refuse(l, function->span, name, "it has no attribute num_input");
    } else {
      tvms_vec_push(l->memory, &l->members,
                    (uint32_t)(member - l->run->module->members));
    }
  }
}

static void choose_all(lifting *l) {
  const tvms_module *module = l->run->module;
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_node *function = module->members[i].function;
    const char *name = tvms_symbol_text(l->run->context, module->members[i].name);
    if (!function || function->kind != TVMS_NODE_FUNCTION || ends_so(name)) continue;
    if (tvms_relax_num_input_checked(l->run->context, function) < 0) continue;
    uint32_t at = l->members.len;
    tvms_vec_push(l->memory, &l->members, i);
    for (; at > 0; at--) {  // in the order of their names
      uint32_t other = l->members.items[at - 1];
      const char *text = tvms_symbol_text(l->run->context, module->members[other].name);
      if (strcmp(text, name) <= 0) break;
      l->members.items[at] = other;
      l->members.items[at - 1] = i;
    }
  }
}

// The value of the option: true, false, or names of functions.
static void choose(lifting *l) {
  const char *text = TVMS_OPTION(l->run, LiftTransformParams, shared_transform).text;
  l->shared = strcmp(text, "false") != 0 && strcmp(text, "False") != 0;
  bool all = !l->shared || strcmp(text, "true") == 0 || strcmp(text, "True") == 0;
  tvms_arena arena;
  tvms_arena_init(&arena, l->memory);
  const tvms_literal *names =
      all ? NULL : tvms_pass_literal_read_texts(l->run->context, &arena, text);
  if (names && names->len)
    choose_named(l, names);
  else
    choose_all(l);
  tvms_arena_fini(&arena);
}

static void lift_each(lifting *l) {
  for (uint32_t i = 0; i < l->members.len; i++) {
    uint32_t index = l->members.items[i];
    const tvms_member *member = &l->run->module->members[index];
    tvms_sym name =
        name_of(l->run->context, tvms_symbol_text(l->run->context, member->name),
                "_transform_params");
    tvms_relax_lift_plan plan;
    tvms_relax_lift_plan_init(&plan, l->memory, member->function, NULL);
    maker after = open_maker(l->run), before = open_maker(l->run);
    tvms_node *called = after_function(&after, &plan, &plan, NULL);
    tvms_node *once = before_function(&before, &plan, false);
    tvms_relax_lift_plan_fini(&plan);
    tvms_node_map_fini(&after.known);
    tvms_node_map_fini(&before.known);
    tvms_functions_replace(l->run, index, after.unit, called);
    add_before(&before, once, name);
  }
}

static void lift_planned(lifting *l, tvms_relax_lift_plan *all,
                         tvms_relax_lift_plan *plans, const tvms_node_map *common) {
  uint32_t count = l->members.len;
  maker before = open_maker(l->run);
  tvms_node *once = before_function(&before, all, true);
  tvms_node_map_fini(&before.known);
  tvms_arena arena;
  tvms_arena_init(&arena, l->memory);
  tvms_node **made = tvms_arena_array(&arena, tvms_node *, count);
  tvms_unit **units = tvms_arena_array(&arena, tvms_unit *, count);
  for (uint32_t i = 0; i < count; i++) {
    maker after = open_maker(l->run);
    tvms_node_map locals;
    tvms_node_map_init(&locals, l->memory);
    find_locals(l->memory, &plans[i], common, &locals);
    made[i] = after_function(&after, &plans[i], all, &locals);
    units[i] = after.unit;
    tvms_node_map_fini(&locals);
    tvms_node_map_fini(&after.known);
  }
  // Plans hold nodes of the old functions, which go now.
  for (uint32_t i = 0; i < count; i++)
    tvms_functions_replace(l->run, l->members.items[i], units[i], made[i]);
  tvms_arena_fini(&arena);
  add_before(&before, once, name_of(l->run->context, ending, ""));
}

static void lift_shared(lifting *l) {
  uint32_t count = l->members.len;
  tvms_arena arena;
  tvms_arena_init(&arena, l->memory);
  const tvms_node **functions = tvms_arena_array(&arena, const tvms_node *, count);
  for (uint32_t i = 0; i < count; i++)
    functions[i] = l->run->module->members[l->members.items[i]].function;
  tvms_node_map common;
  tvms_node_map_init(&common, l->memory);
  tvms_relax_lift_plan all;
  bool fine = tvms_relax_lift_plan_common(&all, l->run, functions, count, &common);
  tvms_relax_lift_plan *plans = tvms_arena_array(&arena, tvms_relax_lift_plan, count);
  for (uint32_t i = 0; i < count && fine; i++) {
    tvms_relax_lift_plan_init(&plans[i], l->memory, functions[i], &common);
    tvms_relax_lift_plan_join(&all, &plans[i], &common);
  }
  if (fine) lift_planned(l, &all, plans, &common);
  for (uint32_t i = 0; i < count && fine; i++)
    tvms_relax_lift_plan_fini(&plans[i]);
  tvms_relax_lift_plan_fini(&all);
  tvms_node_map_fini(&common);
  tvms_arena_fini(&arena);
}

void tvms_pass_lift_transform_params(tvms_pass_run *run) {
  uint32_t errors = run->context->diags.errors;
  lifting l = {.run = run, .memory = &run->context->memory};
  choose(&l);
  bool fine = run->context->diags.errors == errors;
  if (fine && l.shared && l.members.len) lift_shared(&l);
  if (fine && !l.shared) lift_each(&l);
  tvms_vec_fini(l.memory, &l.members);
  if (run->context->diags.errors != errors) return;
  run->part(run, "LambdaLift");
  tvms_relax_consume_params(
      run, TVMS_OPTION(run, LiftTransformParams, consume_params).number != 0);
}
