// Gradient: beside a function, one that also returns the gradients of its parameters.
//
// Before: main(x): lv = R.multiply(x, x); gv = R.sum(lv); return gv
// After:  main_adjoint(x): lv = R.multiply(x, x); gv = R.sum(lv); gv_adjoint = R.ones(R.shape([]))
//           lv_adjoint = R.broadcast_to(gv_adjoint, …); lv1 = R.multiply(lv_adjoint, x); …
//           return (gv, (x_adjoint_out,))
//
// The function is one dataflow block that ends in a float scalar, or in a tuple with one at
// target_index. Gradients go backwards, operator by operator (gradient.def); where a value has
// several users, their parts are added. Values inside of R.grad.start_checkpoint and end_checkpoint
// are computed again on the way back. Differentiation of call_tir is not supported.
// TVM: relax.transform.Gradient.
#include "ir/clone.h"
#include "ir/object.h"
#include "ir/walk.h"
#include "passes/relax/graph/dead_code_elimination.h"
#include "passes/relax/graph/gradient_checkpoints.h"
#include "passes/relax/graph/gradient_rules.h"
#include "passes/relax/graph/gradient_simplify.h"
#include "passes/relax/graph/op_calls.h"
#include "structinfo/definitions.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"
#include "support/diag_ids.h"
#include "support/strbuf.h"

#include <string.h>

typedef struct {
  tvms_relax_mutator m;
  tvms_gradient_checkpoints checkpoints;
  tvms_node_map adjoints;  // VAR → variable of its gradient
  tvms_node_map again;     // VAR → the variable that has its value on the way back
  tvms_node_map values;    // VAR → value, of the forward block
  tvms_list bindings;      // of the forward block
  const tvms_node *target;
  tvms_node_vec wanted;   // variables whose gradients are returned
  tvms_node_vec outputs;  // variables of those gradients
  bool failed;
} derivation;

static tvms_memory *memory_of(derivation *d) {
  return &d->m.unit->context->memory;
}

static tvms_node *fail(derivation *d, const tvms_node *where, const char *what) {
  if (!d->failed)
    tvms_diag_report(&d->m.unit->context->diags, TVMS_D_no_gradient, where->span, what);
  d->failed = true;
  return NULL;
}

// ---- Emitting ----

// Binds `value` to a variable with the name of another and a suffix.
static tvms_node *emit_like(derivation *d, tvms_node *value, const tvms_node *var,
                            const char *suffix, bool output) {
  tvms_context *context = d->m.unit->context;
  tvms_strbuf name;
  value = tvms_relax_settle(&d->m, value);
  tvms_strbuf_init(&name, &context->memory);
  tvms_strbuf_puts(&name, tvms_symbol_text(context, tvms_as_var(var)->name));
  tvms_strbuf_puts(&name, suffix);
  tvms_node *binding =
      tvms_relax_bind(&d->m.emitter, value, tvms_strbuf_text(&name), !output);
  tvms_strbuf_fini(&name);
  tvms_rewrite_emit(&d->m.rewriter, binding);
  return tvms_as_var_binding(binding)->var;
}

static void set_adjoint(derivation *d, const tvms_node *var, tvms_node *value) {
  tvms_node_map_put(&d->adjoints, var, emit_like(d, value, var, "_adjoint", false));
}

// ---- Values on the way back ----

// The variable whose value is that of `var`, computed again if it was not kept.
static tvms_node *value_again(derivation *d, tvms_node *expr) {
  tvms_memory *memory = memory_of(d);
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  tvms_node *made = expr;
  if (expr->kind == TVMS_NODE_VAR) {
    tvms_node *known = tvms_node_map_get(&d->again, expr);
    tvms_node *value = tvms_node_map_get(&d->values, expr);
    made = known ? known : expr;
    if (!known && value) {
      made = emit_like(d, value_again(d, value), expr, "_cp", false);
      tvms_node_map_put(&d->again, expr, made);
    }
  } else if (expr->kind == TVMS_NODE_CALL || expr->kind == TVMS_NODE_TUPLE) {
    bool call = expr->kind == TVMS_NODE_CALL;
    tvms_list old = call ? tvms_as_call(expr)->args : tvms_as_tuple(expr)->fields;
    tvms_list parts = tvms_list_copy(d->m.unit, old.items, old.len);
    for (uint32_t i = 0; i < old.len; i++)
      parts.items[i] = value_again(d, old.items[i]);
    made = tvms_node_copy(d->m.unit, expr);
    if (call) tvms_as_call(made)->args = parts;
    if (!call) tvms_as_tuple(made)->fields = parts;
  } else if (expr->kind == TVMS_NODE_TUPLE_GET_ITEM) {
    made = tvms_node_copy(d->m.unit, expr);
    tvms_as_tuple_get_item(made)->tuple =
        value_again(d, tvms_as_tuple_get_item(expr)->tuple);
  }
  tvms_memory_leave(memory);
  return made;
}

// ---- Gradients of tuples ----

static bool is_tuple(const tvms_node *expr) {
  return expr->sinfo && expr->sinfo->kind == TVMS_NODE_SINFO_TUPLE;
}

static tvms_node *field_of(derivation *d, tvms_node *expr, uint32_t i) {
  if (expr->kind == TVMS_NODE_TUPLE) return tvms_as_tuple(expr)->fields.items[i];
  return tvms_relax_make_item(&d->m, expr, i);
}

static tvms_list room(derivation *d, uint32_t count) {
  tvms_node **items = tvms_arena_array(&d->m.unit->arena, tvms_node *, count + 1);
  return (tvms_list){items, count};
}

static uint32_t width_of(const tvms_node *type) {
  return tvms_as_sinfo_tuple(type)->fields.len;
}

// Zeros of a type: a tensor with known shape, or a tuple of such.
static tvms_node *zeros(derivation *d, const tvms_node *type) {
  if (type->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = room(d, width_of(type));
    for (uint32_t i = 0; i < fields.len; i++) {
      fields.items[i] = zeros(d, tvms_as_sinfo_tuple(type)->fields.items[i]);
      if (!fields.items[i]) return NULL;
    }
    return tvms_relax_make_tuple(&d->m, fields.items, fields.len);
  }
  if (!tvms_sinfo_is_tensor(type)) return NULL;
  tvms_node *shape = tvms_as_sinfo_tensor(type)->shape;
  if (!shape) return NULL;
  tvms_node *attr = tvms_object_dtype_new(d->m.unit, type->dtype, TVMS_NO_SPAN);
  return tvms_relax_op_with(&d->m, TVMS_R_zeros, &shape, 1, &attr);
}

// a + b, field by field.
static tvms_node *sum_of(derivation *d, tvms_node *a, tvms_node *b) {
  if (!is_tuple(a)) return tvms_relax_op_binary(&d->m, TVMS_R_add, a, b);
  tvms_list fields = room(d, width_of(a->sinfo));
  for (uint32_t i = 0; i < fields.len; i++)
    fields.items[i] = sum_of(d, field_of(d, a, i), field_of(d, b, i));
  return tvms_relax_make_tuple(&d->m, fields.items, fields.len);
}

// ---- Backwards ----

// Adds `part` to the gradient of what stands in `expr`: a variable, or a tuple of such.
static void update(derivation *d, tvms_node *expr, tvms_node *part) {
  if (expr->kind == TVMS_NODE_TUPLE) {
    tvms_list fields = tvms_as_tuple(expr)->fields;
    for (uint32_t i = 0; i < fields.len; i++)
      update(d, fields.items[i], field_of(d, part, i));
  } else if (expr->kind == TVMS_NODE_VAR) {
    part = tvms_relax_settle(&d->m, part);
    tvms_node *old = tvms_node_map_get(&d->adjoints, expr);
    set_adjoint(d, expr, old ? sum_of(d, old, part) : part);
  } else if (expr->kind != TVMS_NODE_CONSTANT) {
    fail(d, expr, "only variables and constants can be arguments");
  }
}

static void back_through_call(derivation *d, const tvms_var_binding *bound) {
  tvms_opcode opcode = tvms_op_called(bound->value);
  if (opcode == TVMS_R_NONE) return;
  tvms_node *adjoint = tvms_node_map_get(&d->adjoints, bound->var);
  tvms_node *again = value_again(d, bound->value);
  tvms_node *var = tvms_node_map_get(&d->again, bound->var);
  if (!var) {
    var = emit_like(d, again, bound->var, "_cp", false);
    tvms_node_map_put(&d->again, bound->var, var);
  }
  tvms_gradient_query query = {
      .m = &d->m, .call = tvms_as_call(again), .result = var, .grad = adjoint};
  if (!tvms_relax_gradient_ask(&query)) {
    fail(d, bound->value, "the operator has no gradient for these arguments");
    return;
  }
  tvms_list args = tvms_as_call(bound->value)->args;
  for (uint32_t i = 0; i < args.len && i < TVMS_GRADIENT_ARGUMENTS; i++) {
    if (!query.partials[i]) continue;
    update(d, args.items[i], tvms_relax_settle(&d->m, query.partials[i]));
  }
}

// One field of the gradient of a tuple.
static void back_through_item(derivation *d, const tvms_var_binding *bound) {
  const tvms_tuple_get_item *item = tvms_as_tuple_get_item(bound->value);
  tvms_node *part = tvms_node_map_get(&d->adjoints, bound->var);
  tvms_node *tuple = item->tuple, *old = tvms_node_map_get(&d->adjoints, tuple);
  tvms_node *from = old ? old : zeros(d, tuple->sinfo);
  if (tuple->kind != TVMS_NODE_VAR || !from) {
    fail(d, bound->value, "the shapes of the tuple are not known");
    return;
  }
  tvms_list fields = room(d, width_of(tuple->sinfo));
  for (uint32_t i = 0; i < fields.len; i++) {
    tvms_node *field = field_of(d, from, i);
    if (i == item->index) field = old ? sum_of(d, field, part) : part;
    fields.items[i] = field;
  }
  set_adjoint(d, tuple, tvms_relax_make_tuple(&d->m, fields.items, fields.len));
}

static void back_through(derivation *d, const tvms_node *binding) {
  if (binding->kind != TVMS_NODE_VAR_BINDING) {
    fail(d, binding, "match_cast has none");
    return;
  }
  const tvms_var_binding *bound = tvms_as_var_binding(binding);
  tvms_node *adjoint = tvms_node_map_get(&d->adjoints, bound->var);
  if (!adjoint) return;
  switch ((int)bound->value->kind) {
  case TVMS_NODE_CALL: back_through_call(d, bound); break;
  case TVMS_NODE_TUPLE:
  case TVMS_NODE_VAR: update(d, bound->value, adjoint); break;
  case TVMS_NODE_TUPLE_GET_ITEM: back_through_item(d, bound); break;
  case TVMS_NODE_CONSTANT: break;
  default: fail(d, bound->value, "this kind of value has none"); break;
  }
}

static void note_forward(derivation *d) {
  for (uint32_t i = 0; i < d->bindings.len; i++) {
    tvms_node *var = tvms_relax_binding_var(d->bindings.items[i]);
    tvms_node_map_put(&d->values, var, tvms_relax_binding_value(d->bindings.items[i]));
    if (tvms_node_map_get(&d->checkpoints.kept, var))
      tvms_node_map_put(&d->again, var, var);
  }
}

static void return_adjoints(derivation *d) {
  for (uint32_t i = 0; i < d->wanted.len && !d->failed; i++) {
    tvms_node *var = d->wanted.items[i];
    tvms_node *origin = tvms_node_map_get(&d->checkpoints.origin, var);
    var = origin ? origin : var;
    if (!tvms_node_map_get(&d->adjoints, var)) {
      tvms_node *none = zeros(d, var->sinfo);
      if (!none) {
        fail(d, var, "the shape of a variable is not known");
        return;
      }
      update(d, var, tvms_relax_settle(&d->m, none));
    }
    tvms_node *adjoint = tvms_node_map_get(&d->adjoints, var);
    tvms_node *out = emit_like(d, adjoint, var, "_adjoint_out", true);
    tvms_vec_push(memory_of(d), &d->outputs, out);
  }
}

// Behind the last binding of the block stands the way back.
static tvms_node *TVMS_NULLABLE enter_binding(tvms_rewriter *r, tvms_node *binding) {
  const tvms_relax_mutator *m = r->self;
  derivation *d = m->self;
  if (d->bindings.items[d->bindings.len - 1] != binding) return TVMS_REWRITE_BELOW;
  tvms_rewrite_emit(r, binding);
  note_forward(d);
  tvms_node *attr =
      tvms_object_dtype_new(m->unit, d->target->sinfo->dtype, TVMS_NO_SPAN);
  tvms_node *shape = tvms_sinfo_shape_value_new(m->unit, NULL, 0, TVMS_NO_SPAN);
  set_adjoint(d, d->target, tvms_relax_op_with(&d->m, TVMS_R_ones, &shape, 1, &attr));
  for (uint32_t i = d->bindings.len; i > 0 && !d->failed; i--)
    back_through(d, d->bindings.items[i - 1]);
  return_adjoints(d);
  return NULL;
}

static tvms_node *leave_sequence(tvms_rewriter *r, tvms_node *node) {
  const tvms_relax_mutator *m = r->self;
  derivation *d = m->self;
  tvms_seq_expr *sequence = tvms_as_seq_expr(node);
  tvms_node *both[] = {sequence->body,
                       tvms_relax_make_tuple(&d->m, d->outputs.items, d->outputs.len)};
  sequence->body = tvms_relax_make_tuple(&d->m, both, 2);
  node->sinfo = sequence->body->sinfo;
  return node;
}

// ---- The function ----

static bool set_target(derivation *d, const tvms_node *body, int64_t index) {
  const tvms_node *target = body;
  if (body->kind == TVMS_NODE_TUPLE) {
    tvms_list fields = tvms_as_tuple(body)->fields;
    target = index >= 0 && index < fields.len ? fields.items[index] : NULL;
  } else if (index != 0) {
    target = NULL;
  }
  tvms_list dims;
  bool scalar = target && target->kind == TVMS_NODE_VAR
                && tvms_sinfo_is_tensor(target->sinfo)
                && tvms_sinfo_dims(target->sinfo, &dims) && dims.len == 0
                && target->sinfo->dtype.code == TVMS_FLOAT;
  d->target = target;
  return scalar || fail(d, body, "the result that is asked for is not a float scalar");
}

static bool is_float(const tvms_node *type) {
  if (type && type->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
    for (uint32_t i = 0; i < fields.len; i++)
      if (!is_float(fields.items[i])) return false;
    return true;
  }
  return tvms_sinfo_is_tensor(type) && type->dtype.code == TVMS_FLOAT;
}

static tvms_node *TVMS_NULLABLE variable_named(const derivation *d,
                                               const tvms_function *function,
                                               const char *name) {
  const tvms_context *context = d->m.unit->context;
  for (uint32_t i = 0; i < function->params.len; i++) {
    tvms_node *param = function->params.items[i];
    if (strcmp(tvms_symbol_text(context, tvms_as_var(param)->name), name) == 0)
      return param;
  }
  for (uint32_t i = 0; i < d->bindings.len; i++) {
    tvms_node *var = tvms_relax_binding_var(d->bindings.items[i]);
    if (strcmp(tvms_symbol_text(context, tvms_as_var(var)->name), name) == 0)
      return var;
  }
  return NULL;
}

// The variables that the option names; all parameters without it.
static bool set_wanted(derivation *d, const tvms_function *function,
                       const tvms_literal *names) {
  for (uint32_t i = 0; i < function->params.len && names->len == 0; i++)
    tvms_vec_push(memory_of(d), &d->wanted, function->params.items[i]);
  for (uint32_t i = 0; i < names->len; i++) {
    tvms_node *var = variable_named(d, function, names->items[i].text);
    if (!var || !is_float(var->sinfo))
      return fail(d, &function->head,
                  "a variable that require_grads names is not a float");
    tvms_vec_push(memory_of(d), &d->wanted, var);
  }
  return true;
}

static bool set_block(derivation *d, const tvms_function *function) {
  tvms_list blocks = tvms_as_seq_expr(function->body)->blocks;
  bool one = blocks.len == 1 && blocks.items[0]->flags & TVMS_FLAG_DATAFLOW;
  if (!one) return fail(d, &function->head, "the function is not one dataflow block");
  d->bindings = tvms_as_binding_block(blocks.items[0])->bindings;
  return true;
}

static tvms_node *derive(derivation *d, tvms_node *function, const tvms_literal *names,
                         int64_t index) {
  const tvms_function *forward = tvms_as_function(function);
  tvms_node *body = tvms_as_seq_expr(forward->body)->body;
  if (!set_block(d, forward) || !set_target(d, body, index)) return NULL;
  if (!set_wanted(d, forward, names)) return NULL;
  for (uint32_t i = 0; i < forward->params.len; i++)
    tvms_node_map_put(&d->again, forward->params.items[i], forward->params.items[i]);
  d->m.rewriter.enter[TVMS_NODE_VAR_BINDING] = enter_binding;
  d->m.rewriter.leave[TVMS_NODE_SEQ_EXPR] = leave_sequence;
  tvms_node *made = tvms_relax_mutate(&d->m, function);
  return d->failed ? NULL : made;
}

static tvms_walk_step drop_with_grad(void *self, tvms_node *node,
                                     tvms_field_role role) {
  bool *found = self;
  (void)role;
  *found |= tvms_op_called(node) == TVMS_R_call_tir_with_grad;
  return TVMS_WALK_ON;
}

static tvms_node *adjoint_of(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  derivation d = {0};
  bool with_grad = false;
  const tvms_literal *names = TVMS_OPTION(run, Gradient, require_grads).literal;
  int64_t index = TVMS_OPTION(run, Gradient, target_index).number;
  tvms_memory *memory = &run->context->memory;
  tvms_relax_checkpoints_init(&d.checkpoints, memory);
  function = tvms_relax_checkpoints_collect(run, unit, function, &d.checkpoints);
  tvms_relax_mutator_init(&d.m, run, unit, &d);
  tvms_node_map_init(&d.adjoints, memory);
  tvms_node_map_init(&d.again, memory);
  tvms_node_map_init(&d.values, memory);
  tvms_visitor visitor = {.self = &with_grad, .enter = drop_with_grad};
  tvms_walk(memory, function, &visitor);
  tvms_node *made = with_grad
                        ? fail(&d, function, "call_tir_with_grad is not supported")
                        : derive(&d, function, names, index);
  tvms_vec_fini(memory, &d.wanted);
  tvms_vec_fini(memory, &d.outputs);
  tvms_node_map_fini(&d.values);
  tvms_node_map_fini(&d.again);
  tvms_node_map_fini(&d.adjoints);
  tvms_relax_checkpoints_fini(&d.checkpoints);
  tvms_relax_mutator_fini(&d.m);
  if (!made) return NULL;
  made = tvms_dead_code_clean(run, unit, made);
  return tvms_relax_gradient_simplify(run, unit, made);
}

void tvms_pass_gradient(tvms_pass_run *run) {
  const char *text = TVMS_OPTION(run, Gradient, func_name).text;
  tvms_sym name = tvms_symbol_intern(run->context, text, strlen(text));
  const tvms_member *member = tvms_module_find(run->module, name);
  if (!member || !member->function || member->function->kind != TVMS_NODE_FUNCTION) {
    tvms_diag_report(&run->context->diags, TVMS_D_no_gradient, TVMS_NO_SPAN,
                     "the module has no function of Relax with the name asked for");
    return;
  }
  tvms_unit *unit = tvms_functions_open_unit(run);
  tvms_node *made = adjoint_of(run, unit, tvms_clone(unit, member->function, NULL));
  if (!made) {
    tvms_functions_drop_unit(run, unit);
    return;
  }
  tvms_strbuf adjoint;
  tvms_strbuf_init(&adjoint, &run->context->memory);
  tvms_strbuf_puts(&adjoint, text);
  tvms_strbuf_puts(&adjoint, "_adjoint");
  name = tvms_functions_fresh_name(run, tvms_strbuf_text(&adjoint));
  tvms_strbuf_fini(&adjoint);
  made = tvms_node_copy(unit, made);
  made->flags &= (uint8_t)~TVMS_FLAG_PRIVATE;
  tvms_as_function(made)->name = name;
  tvms_functions_add(run, name, unit, made);
}
