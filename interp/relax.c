// Relax functions: bindings in order, tensors counted.
//
// eval_relax returns a value that the caller owns. Variables own theirs until the frame
// closes. There are no local functions: LambdaLift comes first.
#include "interp/relax.h"

#include "interp/builtin.h"
#include "interp/match.h"
#include "interp/packed.h"
#include "interp/prim.h"
#include "interp/relax_ops.h"
#include "interp/tensor.h"
#include "ir/build.h"
#include "support/diag_ids.h"

#include <string.h>

static tvms_value of_number(tvms_dtype dtype, tvms_scalar value) {
  if (tvms_dtype_is_real(dtype)) {
    return (tvms_value){.kind = TVMS_VALUE_FLOAT, .f = value.f};
  }
  tvms_value_kind kind = tvms_dtype_is_bool(dtype) ? TVMS_VALUE_BOOL : TVMS_VALUE_INT;
  return (tvms_value){.kind = (uint8_t)kind, .i = value.i};
}

static const char *name_of(const tvms_interp_frame *f, const tvms_node *var) {
  return tvms_symbol_text(f->context, tvms_as_var(var)->name);
}

// Takes over `value`.
static void bind_value(tvms_interp_frame *f, const tvms_node *var, tvms_value value) {
  tvms_value_drop(f->values[var->id]);
  f->values[var->id] = value;
  f->bound[var->id] = 1;
  bool number = value.kind == TVMS_VALUE_INT || value.kind == TVMS_VALUE_BOOL;
  if (number) f->vars[var->id].i = value.i;
  if (value.kind == TVMS_VALUE_FLOAT) f->vars[var->id].f = value.f;
}

static tvms_value eval_variable(tvms_interp_frame *f, const tvms_node *node) {
  if (!f->bound[node->id]) fault(f, TVMS_D_no_value_yet, node->span, name_of(f, node));
  // A symbolic size may be used as a value too.
  if (!tvms_dtype_is_void(node->dtype))
    return of_number(node->dtype, tvms_interp_eval(f, node, 0));
  return tvms_value_keep(f->values[node->id]);
}

static tvms_value eval_constant(tvms_interp_frame *f, const tvms_node *node) {
  enum { MOST = 64 };
  const tvms_constant *constant = tvms_as_constant(node);
  int64_t shape[MOST];
  uint32_t ndim = constant->shape.len < MOST ? constant->shape.len : MOST;
  for (uint32_t i = 0; i < ndim; i++) {
    shape[i] = tvms_as_int_imm(constant->shape.items[i])->value;
  }
  tvms_dl_type type = tvms_interp_dl_type_of(constant->element);
  tvms_tensor *tensor =
      tvms_interp_new_tensor(f, node->span, type, (int32_t)ndim, shape);
  if (tensor->bytes != constant->data.len)
    tvms_interp_no_tensor(f, node->span, type, (int32_t)ndim, shape);
  if (tensor->bytes) memcpy(tensor->view.data, constant->data.text, tensor->bytes);
  return tvms_value_of_tensor(tensor);
}

static tvms_value eval_shape(tvms_interp_frame *f, const tvms_node *node) {
  tvms_list values = tvms_as_shape_expr(node)->values;
  int64_t *sizes = tvms_arena_array(&f->context->scratch, int64_t, values.len);
  for (uint32_t i = 0; i < values.len; i++) {
    sizes[i] = tvms_interp_eval_int(f, values.items[i]);
  }
  tvms_tensor *shape = tvms_shape_new(f->interp->heap, (int32_t)values.len, sizes);
  return (tvms_value){.kind = TVMS_VALUE_SHAPE, .tensor = shape};
}

static tvms_value eval_tuple(tvms_interp_frame *f, const tvms_node *node) {
  tvms_list fields = tvms_as_tuple(node)->fields;
  tvms_items *tuple = tvms_tuple_new(f->interp->heap, fields.len);
  for (uint32_t i = 0; i < fields.len; i++) {
    tuple->items[i] = tvms_interp_eval_relax(f, fields.items[i]);
  }
  return (tvms_value){.kind = TVMS_VALUE_TUPLE, .tuple = tuple};
}

static tvms_value eval_item(tvms_interp_frame *f, const tvms_node *node) {
  const tvms_tuple_get_item *get = tvms_as_tuple_get_item(node);
  tvms_value value = tvms_interp_eval_relax(f, get->tuple);
  bool inside = value.kind == TVMS_VALUE_TUPLE && get->index >= 0
                && get->index < value.tuple->len;
  if (!inside) fault(f, TVMS_D_no_such_field, node->span, (long long)get->index);
  tvms_value item = tvms_value_keep(value.tuple->items[get->index]);
  tvms_value_drop(value);
  return item;
}

// A condition: a bool, or a tensor of one element.
static bool is_true(tvms_interp_frame *f, const tvms_node *node) {
  tvms_value value = tvms_interp_eval_relax(f, node);
  bool truth = value.kind == TVMS_VALUE_BOOL || value.kind == TVMS_VALUE_INT
                   ? value.i != 0
                   : false;
  if (value.kind == TVMS_VALUE_TENSOR) {
    if (tvms_tensor_len(value.tensor) != 1) {
      fault(f, TVMS_D_condition_not_scalar, node->span);
    }
    tvms_scalar item = tvms_tensor_get(value.tensor, 0);
    truth = tvms_scalar_kind_is_real(value.tensor->view.dtype.code) ? item.f != 0
                                                                    : item.i != 0;
  }
  tvms_value_drop(value);
  return truth;
}

static void run_binding(tvms_interp_frame *f, const tvms_node *node) {
  if (node->kind == TVMS_NODE_VAR_BINDING) {
    const tvms_var_binding *binding = tvms_as_var_binding(node);
    bind_value(f, binding->var, tvms_interp_eval_relax(f, binding->value));
    return;
  }
  const tvms_match_cast *cast = tvms_as_match_cast(node);
  tvms_value value = tvms_interp_eval_relax(f, cast->value);
  tvms_interp_match_type(f, cast->type, value, name_of(f, cast->var), node->span);
  bind_value(f, cast->var, value);
}

static tvms_value eval_seq(tvms_interp_frame *f, const tvms_node *node) {
  const tvms_seq_expr *seq = tvms_as_seq_expr(node);
  for (uint32_t i = 0; i < seq->blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(seq->blocks.items[i])->bindings;
    for (uint32_t j = 0; j < bindings.len; j++) {
      run_binding(f, bindings.items[j]);
    }
  }
  return tvms_interp_eval_relax(f, seq->body);
}

// Sizes that stand alone first, of all parameters: a compound size may use one of a parameter that comes later.
static void bind_params(tvms_interp_frame *f, const tvms_function *function,
                        const tvms_value *args, tvms_span span) {
  tvms_list params = function->params;
  for (uint32_t i = 0; i < params.len; i++) {
    const tvms_node *param = params.items[i];
    if (param->sinfo)
      tvms_interp_bind_sizes(f, param->sinfo, args[i], name_of(f, param), span);
    // The type of a number may have bound it: R.Prim(value="n").
    if (tvms_dtype_is_void(param->dtype) || !f->bound[param->id])
      bind_value(f, param, tvms_value_keep(args[i]));
  }
  for (uint32_t i = 0; i < params.len; i++) {
    const tvms_node *param = params.items[i];
    if (param->sinfo)
      tvms_interp_compare_sizes(f, param->sinfo, args[i], name_of(f, param), span);
  }
}

tvms_value tvms_interp_call_value(tvms_interp_frame *f, const tvms_node *function,
                                  const tvms_value *args, uint32_t count,
                                  tvms_span span) {
  if (function->kind == TVMS_NODE_EXTERN_FUNC)
    return tvms_interp_call_packed(f, tvms_as_extern_func(function)->symbol, args,
                                   count, span);
  tvms_sym name = tvms_as_global_var(function)->name;
  const tvms_member *member = tvms_module_find(f->interp->module, name);
  bool callable =
      member && member->function && member->function->kind != TVMS_NODE_EXTERN_FUNC;
  if (!callable) {
    fault(f, TVMS_D_unknown_function, span, tvms_symbol_text(f->context, name));
  }
  return tvms_interp_call_member(f->interp, member, args, count, span, f);
}

static tvms_value eval_call_relax(tvms_interp_frame *f, const tvms_call *call) {
  if (call->callee->kind == TVMS_NODE_OPERATOR) {
    // A scalar that is computed in place: T.if_then_else and such.
    bool scalar = tvms_call_opcode(&call->head) != TVMS_TIR_NONE;
    if (scalar) return of_number(call->head.dtype, tvms_interp_eval(f, &call->head, 0));
    f->at = call->head.span;
    return tvms_interp_call_relax_operator(f, call);
  }
  tvms_interp_count_step(f, call->head.span);
  tvms_value *args = tvms_arena_array(&f->context->scratch, tvms_value, call->args.len);
  for (uint32_t i = 0; i < call->args.len; i++) {
    args[i] = tvms_interp_eval_relax(f, call->args.items[i]);
  }
  tvms_value result;
  f->at = call->head.span;
  bool named = call->callee->kind == TVMS_NODE_GLOBAL_VAR
               || call->callee->kind == TVMS_NODE_EXTERN_FUNC;
  if (named) {
    result =
        tvms_interp_call_value(f, call->callee, args, call->args.len, call->head.span);
  } else {
    tvms_value callee = tvms_interp_eval_relax(f, call->callee);
    result = tvms_interp_invoke(f, callee, args, call->args.len, call->head.span);
    tvms_value_drop(callee);
  }
  for (uint32_t i = 0; i < call->args.len; i++) {
    tvms_value_drop(args[i]);
  }
  return result;
}

static tvms_value eval_relax_kind(tvms_interp_frame *f, const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_VAR: return eval_variable(f, node);
  case TVMS_NODE_CONSTANT: return eval_constant(f, node);
  case TVMS_NODE_SHAPE_EXPR: return eval_shape(f, node);
  case TVMS_NODE_TUPLE: return eval_tuple(f, node);
  case TVMS_NODE_TUPLE_GET_ITEM: return eval_item(f, node);
  case TVMS_NODE_SEQ_EXPR: return eval_seq(f, node);
  case TVMS_NODE_CALL: return eval_call_relax(f, tvms_as_call(node));
  case TVMS_NODE_IF: {
    const tvms_if *choice = tvms_as_if(node);
    bool first = is_true(f, choice->condition);
    return tvms_interp_eval_relax(f,
                                  first ? choice->true_branch : choice->false_branch);
  }
  case TVMS_NODE_PRIM_VALUE: {
    const tvms_node *value = tvms_as_prim_value(node)->value;
    return of_number(value->dtype, tvms_interp_eval(f, value, 0));
  }
  case TVMS_NODE_STRING_IMM:
    return (tvms_value){.kind = TVMS_VALUE_STR,
                        .text = tvms_as_string_imm(node)->value.text};
  case TVMS_NODE_DTYPE_IMM:
    return (tvms_value){.kind = TVMS_VALUE_TYPE,
                        .type = tvms_interp_dl_type_of(tvms_as_dtype_imm(node)->value)};
  case TVMS_NODE_GLOBAL_VAR:
    return (tvms_value){.kind = TVMS_VALUE_FUNCTION, .function = node};
  case TVMS_NODE_EXTERN_FUNC: {
    tvms_bytes name = tvms_as_extern_func(node)->symbol;
    if (!tvms_interp_has_packed(f->interp, name))
      fault(f, TVMS_D_unknown_function, node->span, name.text);
    return (tvms_value){.kind = TVMS_VALUE_FUNCTION, .function = node};
  }
  default: break;
  }
  if (!tvms_dtype_is_void(node->dtype))
    return of_number(node->dtype, tvms_interp_eval(f, node, 0));
  fault(f, TVMS_D_not_interpreted, node->span,
        tvms_node_schema_of((tvms_node_kind)node->kind)->name);
}

tvms_value tvms_interp_eval_relax(tvms_interp_frame *f, const tvms_node *node) {
  if (!tvms_memory_enter(&f->context->memory)) {
    fault(f, TVMS_D_too_deep, node->span, f->context->memory.depth_limit);
  }
  tvms_value value = eval_relax_kind(f, node);
  tvms_memory_leave(&f->context->memory);
  return value;
}

tvms_value tvms_interp_call_function(tvms_interp *interp, const tvms_member *member,
                                     const tvms_value *args, uint32_t count,
                                     tvms_span span, const tvms_interp_frame *outer) {
  const tvms_function *function = tvms_as_function(member->function);
  tvms_interp_frame f;
  tvms_interp_open_frame(&f, interp, member, outer);
  f.values = tvms_arena_array(&f.context->scratch, tvms_value, member->unit->next_id);
  if (span.end == 0) span = member->name_span;
  if (count != function->params.len) {
    fault(&f, TVMS_D_wrong_argument_count, span,
          tvms_symbol_text(f.context, member->name), function->params.len,
          tvms_diag_plural(function->params.len), count);
  }
  tvms_interp_count_step(&f, span);
  bind_params(&f, function, args, span);
  tvms_value result = tvms_interp_eval_relax(&f, function->body);
  if (function->ret)
    tvms_interp_match_type(&f, function->ret, result, "the result", span);
  for (uint32_t i = 0; i < member->unit->next_id; i++) {
    tvms_value_drop(f.values[i]);
  }
  tvms_interp_close_frame(&f);
  return result;
}
