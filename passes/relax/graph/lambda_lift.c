// LambdaLift: local functions become functions of the module.
//
// Before: def main(x): def inner(y): return R.add(x, y)      z = inner(x)
// After:  def main_inner(y, x): return R.add(x, y)
//         def main(x): inner = R.make_closure(cls.main_inner, (x,))
//                      z = R.invoke_pure_closure(inner, (x,))
//
// A function that uses nothing from around it is called by its name; what others use is
// handed over as further parameters. Names are those of the functions around, or, where that
// is not enough, the whole way or a number. TVM: relax.transform.LambdaLift.
#include "ir/build.h"
#include "ir/clone.h"
#include "ir/object.h"
#include "ir/op.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/relax/make.h"
#include "passes/relax/retype.h"
#include "structinfo/make.h"
#include "support/strbuf.h"

#include <string.h>

// A local function and the way to it: the function of the module first.
typedef struct {
  const tvms_node *function;
  TVMS_VEC(tvms_sym) way;
  tvms_sym name;  // 0: not yet
} lambda;

// A local function that uses variables of others, while its body is looked at.
typedef struct {
  const tvms_node *var;
  tvms_sym name;
  tvms_list captured;
} open_closure;

typedef struct {
  tvms_pass_run *run;
  TVMS_VEC(lambda) lambdas;
  TVMS_VEC(tvms_sym) way;     // while names are collected
  tvms_node_map known;        // old local function → the copy that is lifted
  tvms_node_map closures;     // variables that are bound to closures
  TVMS_VEC(tvms_sym) giving;  // functions that return closures
  TVMS_VEC(open_closure) open;
} lifter;

static tvms_memory *memory_of(const lifter *l) {
  return &l->run->context->memory;
}

// ---- Names ----

static bool is_lambda(const tvms_node *node) {
  return node->kind == TVMS_NODE_VAR_BINDING
         && tvms_as_var_binding(node)->value->kind == TVMS_NODE_FUNCTION;
}

static tvms_walk_step note_lambda(void *self, tvms_node *node, tvms_field_role role) {
  lifter *l = self;
  (void)role;
  if (!is_lambda(node)) return TVMS_WALK_ON;
  const tvms_var_binding *binding = tvms_as_var_binding(node);
  tvms_vec_push(memory_of(l), &l->way, tvms_as_var(binding->var)->name);
  lambda found = {.function = binding->value};
  for (uint32_t i = 0; i < l->way.len; i++)
    tvms_vec_push(memory_of(l), &found.way, l->way.items[i]);
  tvms_vec_push(memory_of(l), &l->lambdas, found);
  return TVMS_WALK_ON;
}

static void leave_lambda(void *self, tvms_node *node, tvms_field_role role) {
  lifter *l = self;
  (void)role;
  if (is_lambda(node)) l->way.len--;
}

// A name for a function by its way; 0: this kind of name is not for it.
typedef tvms_sym propose(lifter *l, uint32_t index);

static tvms_sym join_way(lifter *l, const tvms_sym *way, uint32_t count, int number) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, memory_of(l));
  for (uint32_t i = 0; i < count; i++)
    tvms_strbuf_printf(&text, "%s%s", i ? "_" : "",
                       tvms_symbol_text(l->run->context, way[i]));
  if (number >= 0) tvms_strbuf_printf(&text, "_%d", number);
  tvms_sym name = tvms_symbol_intern(l->run->context, text.text, text.len);
  tvms_strbuf_fini(&text);
  return name;
}

static tvms_sym own_name(lifter *l, uint32_t index) {
  const tvms_node *attrs = tvms_as_function(l->lambdas.items[index].function)->attrs;
  const char *text = tvms_object_as_text(tvms_object_map_get(attrs, "global_symbol"));
  return text ? tvms_symbol_intern(l->run->context, text, strlen(text)) : 0;
}

static tvms_sym short_name(lifter *l, uint32_t index) {
  const lambda *f = &l->lambdas.items[index];
  tvms_sym ends[] = {f->way.items[0], f->way.items[f->way.len - 1]};
  return join_way(l, ends, 2, -1);
}

static tvms_sym long_name(lifter *l, uint32_t index) {
  const lambda *f = &l->lambdas.items[index];
  return f->way.len == 2 ? 0 : join_way(l, f->way.items, f->way.len, -1);
}

static tvms_sym numbered_name(lifter *l, uint32_t index) {
  const lambda *f = &l->lambdas.items[index];
  tvms_sym ends[] = {f->way.items[0], f->way.items[f->way.len - 1]}, base;
  base = join_way(l, ends, 2, -1);
  int number = 0;
  for (uint32_t i = 0; i < index; i++)
    number += short_name(l, i) == base;
  return join_way(l, ends, 2, number);
}

// Gives each function that has no name the proposed one, if nobody else wants or has it.
static void name_by(lifter *l, propose *proposal) {
  uint32_t count = l->lambdas.len;
  tvms_arena arena;
  tvms_arena_init(&arena, memory_of(l));
  tvms_sym *wanted = tvms_arena_array(&arena, tvms_sym, count);
  bool *fine = tvms_arena_array(&arena, bool, count);
  for (uint32_t i = 0; i < count; i++)
    wanted[i] = l->lambdas.items[i].name ? 0 : proposal(l, i);
  for (uint32_t i = 0; i < count; i++) {
    fine[i] = wanted[i] && !tvms_module_find(l->run->module, wanted[i]);
    for (uint32_t k = 0; k < count && fine[i]; k++)
      fine[i] =
          l->lambdas.items[k].name != wanted[i] && (k == i || wanted[k] != wanted[i]);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (fine[i]) l->lambdas.items[i].name = wanted[i];
  }
  tvms_arena_fini(&arena);
}

static void collect_lambdas(lifter *l) {
  const tvms_module *module = l->run->module;
  tvms_visitor visitor = {.self = l, .enter = note_lambda, .leave = leave_lambda};
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_node *function = module->members[i].function;
    if (!function || function->kind != TVMS_NODE_FUNCTION) continue;
    tvms_vec_push(memory_of(l), &l->way, module->members[i].name);
    tvms_walk(memory_of(l), tvms_as_function(function)->body, &visitor);
    l->way.len--;
  }
  name_by(l, own_name);
  name_by(l, short_name);
  name_by(l, long_name);
  name_by(l, numbered_name);
}

static tvms_sym name_of(const lifter *l, const tvms_node *copy) {
  for (uint32_t i = 0; i < l->lambdas.len; i++) {
    if (tvms_node_map_get(&l->known, l->lambdas.items[i].function) == copy)
      return l->lambdas.items[i].name;
  }
  return 0;
}

// ---- What a function uses from around it ----

typedef struct {
  lifter *l;
  const tvms_rewriter *r;
  const tvms_node *self;
  tvms_node_map seen;
  tvms_node_vec captured;
} capture;

static tvms_walk_step find_captured(void *self, tvms_node *node, tvms_field_role role) {
  capture *c = self;
  if (node->kind != TVMS_NODE_VAR || !tvms_dtype_is_void(node->dtype))
    return TVMS_WALK_ON;
  if (tvms_node_map_get(&c->seen, node)) return TVMS_WALK_ON;
  tvms_node_map_put(&c->seen, node, node);
  if (role != TVMS_ROLE_USE || node == c->self) return TVMS_WALK_ON;
  // What was lifted itself is called by its name.
  const tvms_node *now = tvms_node_map_get(&c->r->known, node);
  if (now && now->kind == TVMS_NODE_GLOBAL_VAR) return TVMS_WALK_ON;
  tvms_vec_push(memory_of(c->l), &c->captured, node);
  return TVMS_WALK_ON;
}

static tvms_list captured_by(lifter *l, const tvms_rewriter *r,
                             const tvms_var_binding *binding) {
  capture c = {.l = l, .r = r, .self = binding->var};
  tvms_node_map_init(&c.seen, memory_of(l));
  tvms_visitor visitor = {.self = &c, .enter = find_captured};
  tvms_walk(memory_of(l), binding->value, &visitor);
  tvms_list list = tvms_list_copy(r->unit, c.captured.items, c.captured.len);
  tvms_vec_fini(memory_of(l), &c.captured);
  tvms_node_map_fini(&c.seen);
  return list;
}

// ---- Closures ----

static bool gives_closure(const lifter *l, tvms_sym name) {
  for (uint32_t i = 0; i < l->giving.len; i++) {
    if (l->giving.items[i] == name) return true;
  }
  return false;
}

static bool is_closure(const lifter *l, const tvms_node *value) {
  if (value->kind == TVMS_NODE_VAR)
    return tvms_node_map_get(&l->closures, value) != NULL;
  if (value->kind != TVMS_NODE_CALL) return false;
  const tvms_node *callee = tvms_as_call(value)->callee;
  return callee->kind == TVMS_NODE_GLOBAL_VAR
         && gives_closure(l, tvms_as_global_var(callee)->name);
}

static void note_result(lifter *l, tvms_sym name, const tvms_node *body) {
  if (is_closure(l, tvms_as_seq_expr(body)->body))
    tvms_vec_push(memory_of(l), &l->giving, name);
}

static tvms_node *tuple_of(tvms_unit *unit, tvms_list fields) {
  tvms_tuple *tuple = tvms_node_make(unit, TUPLE, TVMS_NO_SPAN);
  tuple->fields = tvms_list_copy(unit, fields.items, fields.len);
  tvms_list types = tvms_list_copy(unit, fields.items, fields.len);
  for (uint32_t i = 0; i < types.len; i++)
    types.items[i] = tvms_sinfo_of(unit, types.items[i]);
  tuple->head.sinfo = tvms_sinfo_tuple_new(unit, types.items, types.len);
  return &tuple->head;
}

// A closure is called by an operator.
static tvms_node *invoke(tvms_rewriter *r, tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  tvms_node *args[] = {call->callee, tuple_of(r->unit, call->args)};
  tvms_node *op = tvms_op_operator_new(r->unit, TVMS_R_invoke_pure_closure);
  tvms_node *made = tvms_call_new(r->unit, (tvms_dtype){0}, op, args, 2, node->span);
  tvms_as_call(made)->type_args = tvms_list_copy(r->unit, &node->sinfo, 1);
  made->sinfo = node->sinfo;
  return made;
}

// Inside of a function that calls itself: what it was given from around goes along.
static tvms_node *call_again(tvms_rewriter *r, tvms_node *node,
                             const open_closure *open) {
  const tvms_call *call = tvms_as_call(node);
  tvms_memory *memory = &r->unit->context->memory;
  tvms_node_vec args = {0};
  for (uint32_t i = 0; i < call->args.len; i++)
    tvms_vec_push(memory, &args, call->args.items[i]);
  for (uint32_t i = 0; i < open->captured.len; i++)
    tvms_vec_push(memory, &args, open->captured.items[i]);
  tvms_node *made = tvms_call_new(r->unit, (tvms_dtype){0},
                                  tvms_relax_make_global_var(r->unit, open->name),
                                  args.items, args.len, node->span);
  made->sinfo = node->sinfo;
  tvms_vec_fini(memory, &args);
  return made;
}

static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  const lifter *l = r->self;
  const tvms_node *callee = tvms_as_call(node)->callee;
  bool gives = callee->kind == TVMS_NODE_GLOBAL_VAR
               && gives_closure(l, tvms_as_global_var(callee)->name);
  if (gives && node != r->old) node->sinfo = tvms_sinfo_object_new(r->unit);
  if (callee->kind != TVMS_NODE_VAR) return node;
  for (uint32_t i = l->open.len; i > 0; i--) {
    if (l->open.items[i - 1].var == callee)
      return call_again(r, node, &l->open.items[i - 1]);
  }
  return is_closure(l, callee) ? invoke(r, node) : node;
}

// ---- Lifting ----

// The function of the module: its parameters, and what it uses from around it behind them.
static void add_lifted(lifter *l, tvms_sym name, const tvms_node *old,
                       const tvms_node *body, tvms_list captured) {
  tvms_unit *unit = tvms_functions_open_unit(l->run);
  tvms_node_map known;
  tvms_node_map_init(&known, memory_of(l));
  const tvms_function *function = tvms_as_function(old);
  tvms_node_vec params = {0};
  for (uint32_t i = 0; i < captured.len; i++) {
    tvms_node *param = tvms_var_new(unit, tvms_as_var(captured.items[i])->name,
                                    (tvms_dtype){0}, TVMS_NO_SPAN);
    tvms_node_map_put(&known, captured.items[i], param);
  }
  for (uint32_t i = 0; i < function->params.len; i++)
    tvms_vec_push(memory_of(l), &params,
                  tvms_clone(unit, function->params.items[i], &known));
  for (uint32_t i = 0; i < captured.len; i++) {
    tvms_node *param = tvms_node_map_get(&known, captured.items[i]);
    param->sinfo = tvms_clone(unit, captured.items[i]->sinfo, &known);
    tvms_vec_push(memory_of(l), &params, param);
  }
  tvms_function *made = tvms_node_make(unit, FUNCTION, old->span);
  made->name = name;
  made->head.flags = old->flags | TVMS_FLAG_PRIVATE;
  made->params = tvms_list_copy(unit, params.items, params.len);
  bool changed = body != function->body && body->sinfo;
  made->ret = tvms_clone(unit, changed ? body->sinfo : function->ret, &known);
  if (function->attrs) made->attrs = tvms_clone(unit, function->attrs, &known);
  if (tvms_object_map_get(made->attrs, "global_symbol")) {
    made->attrs = tvms_object_map_with(unit, made->attrs, "global_symbol", NULL);
    made->head.flags &= (uint8_t)~TVMS_FLAG_PRIVATE;
  }
  made->body = tvms_clone(unit, body, &known);
  tvms_functions_add(l->run, name, unit, &made->head);
  tvms_vec_fini(memory_of(l), &params);
  tvms_node_map_fini(&known);
}

static tvms_node *closure_binding(lifter *l, tvms_rewriter *r,
                                  const tvms_var_binding *old, tvms_sym name,
                                  tvms_list captured) {
  tvms_node *args[] = {tvms_relax_make_global_var(r->unit, name),
                       tuple_of(r->unit, captured)};
  tvms_node *op = tvms_op_operator_new(r->unit, TVMS_R_make_closure);
  tvms_node *call =
      tvms_call_new(r->unit, (tvms_dtype){0}, op, args, 2, old->head.span);
  call->sinfo = tvms_sinfo_object_new(r->unit);
  tvms_var_binding *made = tvms_node_make(r->unit, VAR_BINDING, old->head.span);
  made->value = call;
  made->var = tvms_node_copy(r->unit, old->var);
  made->var->sinfo = call->sinfo;
  tvms_node_map_put(&r->known, old->var, made->var);
  tvms_node_map_put(&l->closures, made->var, made->var);
  return &made->head;
}

static tvms_node *enter_binding(tvms_rewriter *r, tvms_node *node) {
  lifter *l = r->self;
  if (!is_lambda(node)) return TVMS_REWRITE_BELOW;
  const tvms_var_binding *binding = tvms_as_var_binding(node);
  tvms_sym name = name_of(l, binding->value);
  tvms_list captured = captured_by(l, r, binding);
  for (uint32_t i = 0; i < captured.len; i++)
    captured.items[i] = tvms_rewrite(r, captured.items[i]);
  if (captured.len == 0) {
    tvms_node_map_put(&r->known, binding->var,
                      tvms_relax_make_global_var(r->unit, name));
  } else {
    tvms_vec_push(memory_of(l), &l->open,
                  ((open_closure){binding->var, name, captured}));
  }
  tvms_node *body = tvms_rewrite(r, tvms_as_function(binding->value)->body);
  if (captured.len) l->open.len--;
  note_result(l, name, body);
  add_lifted(l, name, binding->value, body, captured);
  return captured.len ? closure_binding(l, r, binding, name, captured) : NULL;
}

static tvms_node *leave_binding(tvms_rewriter *r, tvms_node *node) {
  lifter *l = r->self;
  if (node->kind == TVMS_NODE_VAR_BINDING) node = tvms_relax_retype_binding(r, node);
  const tvms_var_binding *binding = tvms_as_var_binding(node);
  if (is_closure(l, binding->value))
    tvms_node_map_put(&l->closures, binding->var, binding->var);
  return node;
}

static void lift_member(lifter *l, uint32_t index) {
  const tvms_node *old = l->run->module->members[index].function;
  if (!old || old->kind != TVMS_NODE_FUNCTION) return;
  tvms_unit *unit = tvms_functions_open_unit(l->run);
  tvms_node_map_clear(&l->known);
  tvms_node *copy = tvms_clone(unit, old, &l->known);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, l);
  tvms_relax_retype(&rewriter);
  rewriter.enter[TVMS_NODE_VAR_BINDING] = enter_binding;
  rewriter.leave[TVMS_NODE_VAR_BINDING] = leave_binding;
  rewriter.leave[TVMS_NODE_CALL] = leave_call;
  tvms_node *made = tvms_rewrite(&rewriter, copy);
  tvms_rewriter_fini(&rewriter);
  note_result(l, l->run->module->members[index].name, tvms_as_function(made)->body);
  if (made != copy)
    tvms_functions_replace(l->run, index, unit, made);
  else
    tvms_functions_drop_unit(l->run, unit);
}

void tvms_pass_lambda_lift(tvms_pass_run *run) {
  lifter l = {.run = run};
  tvms_node_map_init(&l.known, memory_of(&l));
  tvms_node_map_init(&l.closures, memory_of(&l));
  collect_lambdas(&l);
  uint32_t count = run->module->member_count;
  for (uint32_t i = 0; i < count && l.lambdas.len; i++)
    lift_member(&l, i);
  for (uint32_t i = 0; i < l.lambdas.len; i++)
    tvms_vec_fini(memory_of(&l), &l.lambdas.items[i].way);
  tvms_vec_fini(memory_of(&l), &l.lambdas);
  tvms_vec_fini(memory_of(&l), &l.way);
  tvms_vec_fini(memory_of(&l), &l.giving);
  tvms_vec_fini(memory_of(&l), &l.open);
  tvms_node_map_fini(&l.known);
  tvms_node_map_fini(&l.closures);
}
