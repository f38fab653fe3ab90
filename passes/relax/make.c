// Calls and scalars, with the StructInfo that TVM's BlockBuilder would infer:
// nothing infers it again after a pass.
#include "passes/relax/make.h"

#include "structinfo/infer.h"
#include "structinfo/make.h"
#include "structinfo/omitted.h"
#include "structinfo/sinfo.h"

#include <string.h>

tvms_node *tvms_relax_make_prim_value(tvms_unit *unit, tvms_node *value) {
  tvms_prim_value *prim = tvms_node_make(unit, PRIM_VALUE, value->span);
  prim->value = value;
  prim->head.sinfo = tvms_sinfo_prim_new(unit, value->dtype, value);
  return &prim->head;
}

static tvms_node *tuple_of(tvms_unit *unit, tvms_list args, tvms_span span) {
  tvms_tuple *tuple = tvms_node_make(unit, TUPLE, span);
  tuple->fields = tvms_list_copy(unit, args.items, args.len);
  tvms_list types = tvms_list_copy(unit, args.items, args.len);
  for (uint32_t i = 0; i < args.len; i++) {
    tvms_node *arg = args.items[i];
    bool scalar = !tvms_dtype_is_void(arg->dtype) && !arg->sinfo;
    tuple->fields.items[i] = scalar ? tvms_relax_make_prim_value(unit, arg) : arg;
    types.items[i] = tuple->fields.items[i]->sinfo;
  }
  tuple->head.sinfo = tvms_sinfo_tuple_new(unit, types.items, types.len);
  return &tuple->head;
}

tvms_node *tvms_relax_make_global_var(tvms_unit *unit, tvms_sym name) {
  tvms_global_var *made = tvms_node_make(unit, GLOBAL_VAR, TVMS_NO_SPAN);
  made->name = name;
  return &made->head;
}

tvms_node *tvms_relax_make_callback(tvms_unit *unit, const char *name,
                                    tvms_node *result, bool pure) {
  tvms_node *params[] = {tvms_sinfo_prim_new(unit, TVMS_DTYPE(INT, 64), NULL),
                         tvms_sinfo_object_new(unit)};
  tvms_node *var =
      tvms_var_new(unit, tvms_symbol_intern(unit->context, name, strlen(name)),
                   (tvms_dtype){0}, TVMS_NO_SPAN);
  var->sinfo = tvms_sinfo_func_new(unit, params, 2, result, pure);
  return var;
}

tvms_node *tvms_relax_make_call_tir(tvms_unit *unit, tvms_sym name, tvms_list args,
                                    tvms_node *type, tvms_span span) {
  tvms_global_var *callee = tvms_node_make(unit, GLOBAL_VAR, span);
  callee->name = name;
  tvms_node *both[] = {&callee->head, tuple_of(unit, args, span)};
  tvms_node *op = tvms_op_operator_new(unit, TVMS_R_call_tir);
  tvms_node *made = tvms_call_new(unit, (tvms_dtype){0}, op, both, 2, span);
  tvms_as_call(made)->type_args = tvms_list_copy(unit, &type, 1);
  made->sinfo = type;
  return made;
}

tvms_node *tvms_relax_make_int(tvms_unit *unit, int64_t value) {
  tvms_dtype dtype = TVMS_DTYPE(INT, 64);
  return tvms_relax_make_prim_value(unit,
                                    tvms_int_imm_new(unit, dtype, value, TVMS_NO_SPAN));
}

tvms_node *tvms_relax_make_text(tvms_unit *unit, const char *text) {
  tvms_node *node = tvms_string_imm_new(unit, text, strlen(text), TVMS_NO_SPAN);
  node->sinfo = tvms_sinfo_string_new(unit);
  return node;
}

tvms_node *tvms_relax_make_dtype(tvms_unit *unit, tvms_dtype dtype) {
  tvms_dtype_imm *node = tvms_node_make(unit, DTYPE_IMM, TVMS_NO_SPAN);
  node->value = dtype;
  node->head.sinfo = tvms_sinfo_object_new(unit);
  return &node->head;
}

tvms_node *tvms_relax_make_size(tvms_unit *unit, tvms_node *bytes) {
  return tvms_sinfo_shape_value_new(unit, &bytes, 1, TVMS_NO_SPAN);
}

tvms_node *tvms_relax_make_operator_call(tvms_unit *unit, tvms_opcode opcode,
                                         tvms_node *const *args, uint32_t count,
                                         tvms_span span) {
  tvms_node *op = tvms_op_operator_new(unit, opcode);
  tvms_node *call = tvms_call_new(unit, (tvms_dtype){0}, op, args, count, span);
  call->sinfo = tvms_sinfo_object_new(unit);
  tvms_relax_infer_call(unit, NULL, call);
  return call;
}

static tvms_node *packed_function(tvms_unit *unit, const char *name, tvms_span span) {
  tvms_extern_func *callee = tvms_node_make(unit, EXTERN_FUNC, span);
  callee->symbol = tvms_bytes_copy(unit, name, strlen(name));
  callee->head.sinfo =
      tvms_sinfo_func_new_opaque(unit, tvms_sinfo_object_new(unit), false);
  return &callee->head;
}

tvms_node *tvms_relax_make_context_call(tvms_unit *unit, const char *name,
                                        tvms_node *args, tvms_node *type,
                                        tvms_span span) {
  tvms_node *both[] = {packed_function(unit, name, span), args};
  tvms_node *op = tvms_op_operator_new(unit, TVMS_R_call_builtin_with_ctx);
  tvms_node *call = tvms_call_new(unit, (tvms_dtype){0}, op, both, 2, span);
  tvms_as_call(call)->type_args = tvms_list_copy(unit, &type, 1);
  call->sinfo = type;
  return call;
}

tvms_node *tvms_relax_make_packed_call(tvms_unit *unit, const char *name,
                                       tvms_node *const *args, uint32_t count,
                                       tvms_node *type, tvms_span span) {
  tvms_node *callee = packed_function(unit, name, span);
  tvms_node *call = tvms_call_new(unit, (tvms_dtype){0}, callee, args, count, span);
  tvms_as_call(call)->type_args = tvms_list_copy(unit, &type, 1);
  call->sinfo = type;
  return call;
}

void tvms_relax_infer_call(tvms_unit *unit, const tvms_module *module,
                           tvms_node *call) {
  tvms_call *made = tvms_as_call(call);
  const tvms_node *callee = made->callee;
  bool typed = callee->kind == TVMS_NODE_OPERATOR
               || callee->kind == TVMS_NODE_EXTERN_FUNC
               || (callee->sinfo && callee->sinfo->kind == TVMS_NODE_SINFO_FUNC);
  if (!typed || tvms_call_opcode(call) != TVMS_TIR_NONE) return;
  for (uint32_t i = 0; call->sinfo && i < made->args.len; i++) {
    if (tvms_sinfo_is_untold(made->args.items[i])) return;
  }
  tvms_prover prover;
  tvms_prover_init(&prover, unit);
  tvms_inference in = {.prover = &prover, .unit = unit, .module = module, .call = made};
  tvms_node *type = tvms_infer_call(&in);
  tvms_prover_fini(&prover);
  if (type) call->sinfo = type;
}

tvms_node *tvms_relax_scalar_of(tvms_node *argument) {
  if (argument->kind == TVMS_NODE_PRIM_VALUE)
    return tvms_as_prim_value(argument)->value;
  return tvms_dtype_is_void(argument->dtype) ? NULL : argument;
}

int64_t tvms_relax_element_bytes(tvms_dtype dtype) {
  int64_t bits = tvms_dtype_is_bool(dtype) ? 8 : dtype.bits;
  return (bits * dtype.lanes + 7) / 8;
}
