// Calls of PrimFuncs and scalars, with the StructInfo that TVM's BlockBuilder would infer:
// nothing infers it again after a pass.
#include "passes/relax/make.h"

#include "structinfo/make.h"
#include "structinfo/sinfo.h"

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
