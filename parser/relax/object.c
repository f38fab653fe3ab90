// What TVM's Python objects offer on values of Relax: attributes of values and types
// (`x.dtype`, `x.ty.shape[0]`), and calls made as nodes (`relax.Call(op, args)`).
#include "parser/relax/object.h"

#include "ir/meant.h"
#include "ir/op.h"
#include "parser/eval/attribute.h"
#include "parser/eval/convert.h"
#include "parser/eval/reader.h"
#include "parser/relax/call.h"
#include "parser/relax/convert.h"
#include "parser/relax/handlers.h"
#include "parser/relax/state.h"
#include "parser/relax/types.h"
#include "structinfo/make.h"
#include "support/trial.h"

static tvms_eval_value proxy(tvms_reader *reader, int what, tvms_eval_value value) {
  return (tvms_eval_value){.kind = TVMS_EVAL_RELAX,
                           .spare = (uint16_t)what,
                           .len = 1,
                           .as.items = tvms_eval_keep_items(reader, &value, 1)};
}

// `x.shape` is an attribute of the type, `x.reshape(…)` the operator R.reshape.
static tvms_eval_value no_attribute(tvms_reader *reader, tvms_eval_value object,
                                    tvms_sym name, tvms_ref ref) {
  tvms_diags *diags = &reader->context->diags;
  tvms_diag *diag = tvms_eval_report_attribute(reader, object, name, ref);
  if (tvms_trial_is_muted(diags) || object.kind != TVMS_EVAL_NODE) return TVMS_UNKNOWN;
  const char *text = tvms_symbol_text(reader->context, name);
  const char *part = tvms_meant_find(TVMS_MEANT_TENSOR, text);
  bool types_are_ty = tvms_release_has(reader->dialect, TVMS_FACT_types_are_called_ty);
  const char *type = types_are_ty ? "ty" : "struct_info";
  tvms_span span = diag->span;
  if (part) {
    tvms_diag_remark(diags, diag, "its type has it: '%s.%s'", type, part);
    tvms_diag_fix(diags, diag, span, false, "%s.%s", type, part);
  } else if (name == TVMS_SYM_struct_info || name == TVMS_SYM_ty) {
    tvms_diag_remark(diags, diag, "TVM %s calls it '%s'",
                     tvms_dialect_text(reader->dialect), type);
    tvms_diag_fix(diags, diag, span, false, "%s", type);
  } else if (reader->tables->near_name) {
    const char *meant = reader->tables->near_name(reader, text);
    if (meant)
      tvms_diag_remark(diags, diag, "tensors have no methods; write '%s(…)'", meant);
  }
  return TVMS_UNKNOWN;
}

// ---- Inspection of tensors: up to 0.25 attributes build R.inspect.* ----

static tvms_eval_value inspect(tvms_reader *reader, tvms_opcode op,
                               tvms_eval_value tensor, tvms_node *TVMS_NULLABLE axis,
                               tvms_ref ref) {
  tvms_node *args[] = {tensor.as.node, axis};
  return tvms_relax_make_simple(reader, op, args, axis ? 2 : 1, ref);
}

static bool inspected(tvms_reader *reader, tvms_eval_value tensor, tvms_sym name,
                      tvms_ref ref, tvms_eval_value *value) {
  const tvms_node *type = tensor.as.node->sinfo;
  if (!tvms_release_has(reader->dialect, TVMS_FACT_tensors_can_be_inspected) || !type
      || !tvms_sinfo_is_tensor(type))
    return false;
  switch (name) {
  case TVMS_SYM_dtype: *value = proxy(reader, TVMS_RELAX_DTYPE, tensor); return true;
  case TVMS_SYM_shape: *value = proxy(reader, TVMS_RELAX_SHAPE, tensor); return true;
  case TVMS_SYM_strides:
    *value = proxy(reader, TVMS_RELAX_STRIDES, tensor);
    return true;
  case TVMS_SYM_ndim:
    *value = inspect(reader, TVMS_R_inspect_tensor_ndim, tensor, NULL, ref);
    return true;
  case TVMS_SYM_byte_offset:
    *value = inspect(reader, TVMS_R_inspect_tensor_byte_offset, tensor, NULL, ref);
    return true;
  case TVMS_SYM_elem_offset:
    *value = inspect(reader, TVMS_R_inspect_tensor_elem_offset, tensor, NULL, ref);
    return true;
  default: return false;
  }
}

static tvms_eval_value part_of_dtype(tvms_reader *reader, tvms_eval_value object,
                                     tvms_sym name, tvms_ref ref) {
  tvms_eval_value tensor = object.as.items[0];
  switch (name) {
  case TVMS_SYM_type_code:
    return inspect(reader, TVMS_R_inspect_tensor_dtype_code, tensor, NULL, ref);
  case TVMS_SYM_bits:
    return inspect(reader, TVMS_R_inspect_tensor_dtype_bits, tensor, NULL, ref);
  case TVMS_SYM_lanes:
    return inspect(reader, TVMS_R_inspect_tensor_dtype_lanes, tensor, NULL, ref);
  default: return no_attribute(reader, object, name, ref);
  }
}

bool tvms_relax_inspect_item(tvms_reader *reader, tvms_eval_value object,
                             tvms_eval_value index, tvms_ref ref,
                             tvms_eval_value *value) {
  if (object.kind != TVMS_EVAL_RELAX) return false;
  tvms_opcode op = object.spare == TVMS_RELAX_SHAPE ? TVMS_R_inspect_tensor_shape_i
                                                    : TVMS_R_inspect_tensor_stride_i;
  if (object.spare != TVMS_RELAX_SHAPE && object.spare != TVMS_RELAX_STRIDES) {
    return false;
  }
  tvms_node *axis = tvms_relax_to_value(reader, index, ref);
  *value = axis ? inspect(reader, op, object.as.items[0], axis, ref)
                : tvms_reader_failed(reader);
  return true;
}

// ---- Attributes ----

// `x.ty.shape`, `x.struct_info.dtype`: what is known of a tensor, as constants.
static bool attribute_of_type(tvms_reader *reader, const tvms_node *type, tvms_sym name,
                              tvms_eval_value *value) {
  if (!tvms_sinfo_is_tensor(type)) return false;
  const tvms_sinfo_tensor *tensor = tvms_as_sinfo_tensor(type);
  tvms_list dims;
  switch (name) {
  case TVMS_SYM_dtype: *value = tvms_eval_value_dtype(type->dtype); return true;
  case TVMS_SYM_ndim: *value = tvms_eval_value_int(tensor->ndim); return true;
  case TVMS_SYM_shape: break;
  default: return false;
  }
  if (!tvms_sinfo_dims(type, &dims)) {
    if (!tensor->shape) return false;
    *value = tvms_eval_value_node(tensor->shape);
    return true;
  }
  tvms_eval_value *items =
      tvms_arena_array(&reader->values, tvms_eval_value, dims.len + 1);
  for (uint32_t i = 0; i < dims.len; i++) {
    items[i] = tvms_eval_value_node(dims.items[i]);
  }
  *value = tvms_eval_value_items(TVMS_EVAL_TUPLE, items, dims.len);
  return true;
}

bool tvms_relax_type_attribute(tvms_reader *reader, const tvms_node *node,
                               tvms_sym name, tvms_eval_value *value) {
  return tvms_node_class_of(node) == TVMS_CLASS_SINFO
         && attribute_of_type(reader, node, name, value);
}

tvms_eval_value tvms_relax_attribute(tvms_reader *reader, tvms_eval_value object,
                                     tvms_sym name, tvms_ref ref) {
  if (object.kind == TVMS_EVAL_NODE && name == TVMS_SYM_astype) {
    return proxy(reader, TVMS_RELAX_ASTYPE, object);
  }
  tvms_node *node = object.kind == TVMS_EVAL_NODE ? object.as.node : NULL;
  bool type = name
              == (tvms_release_has(reader->dialect, TVMS_FACT_types_are_called_ty)
                      ? TVMS_SYM_ty
                      : TVMS_SYM_struct_info);
  if (type && node && node->sinfo) return tvms_eval_value_node(node->sinfo);
  tvms_eval_value value;
  if (node && inspected(reader, object, name, ref, &value)) return value;
  if (object.kind == TVMS_EVAL_RELAX && object.spare == TVMS_RELAX_DTYPE) {
    return part_of_dtype(reader, object, name, ref);
  }
  return no_attribute(reader, object, name, ref);
}

// ---- Calls that name operator and arguments apart ----

// The callee: an operator by its registered name, or a value that is a function.
static tvms_node *TVMS_NULLABLE raw_callee(tvms_reader *reader, tvms_eval_value value,
                                           tvms_ref ref) {
  tvms_node *known = tvms_eval_value_node_of(value, TVMS_NODE_OPERATOR);
  if (known) return known;
  if (value.kind != TVMS_EVAL_STR) return tvms_relax_to_value(reader, value, ref);
  tvms_sym name = tvms_symbol_intern(reader->context, value.as.text, value.len);
  tvms_opcode op = tvms_op_find(name);
  if (op != TVMS_R_NONE) return tvms_op_operator_new(reader->unit, op);
  tvms_reader_report(reader, unknown_operator, ref, (int)value.len, value.as.text);
  return NULL;
}

// `relax.Call(op, args, ty_args=types)`: nothing is converted or defaulted.
static tvms_eval_value raw_call(tvms_reader *reader, const tvms_eval_value *args,
                                const tvms_ref *refs, uint32_t types, tvms_ref ref) {
  tvms_unit *unit = reader->unit;
  tvms_node *callee = raw_callee(reader, args[0], refs[0]);
  tvms_node *tuple = tvms_relax_to_value(reader, args[1], refs[1]);
  tvms_list type_args = {0};
  bool known = args[types].kind == TVMS_EVAL_NONE
               || tvms_relax_to_types(reader, args[types], refs[types], &type_args);
  if (!known || !callee || !tuple) return tvms_reader_failed(reader);
  if (tuple->kind != TVMS_NODE_TUPLE) {
    tvms_eval_report_wrong_type(reader, refs[1], "the arguments", "a tuple or list",
                                args[1]);
    return tvms_reader_failed(reader);
  }
  tvms_call *call = tvms_node_make(unit, CALL, tvms_reader_span_of(reader, ref));
  call->callee = callee;
  call->args = tvms_as_tuple(tuple)->fields;
  call->type_args = type_args;
  tvms_opcode op = tvms_op_called(&call->head);
  if (op != TVMS_R_NONE && tvms_op_schema(op)->count > 0) {
    call->attrs.len = tvms_op_schema(op)->count;
    call->attrs.items = tvms_arena_array(&unit->arena, tvms_node *, call->attrs.len);
  }
  return tvms_relax_finish_call(reader, call, NULL);
}

tvms_eval_value tvms_call_relax_emit_with(tvms_reader *reader,
                                          const tvms_call_args *call) {
  if (!tvms_relax_of(reader)) {
    tvms_reader_report(reader, outside_relax, tvms_reader_callee(reader, call->ref),
                       tvms_row_text(reader, call->row));
    return tvms_reader_failed(reader);
  }
  return raw_call(reader, call->args, call->refs, 2, call->ref);
}

tvms_eval_value tvms_relax_call_node(tvms_reader *reader, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  tvms_ref refs[TVMS_MAX_PARAMS];
  uint64_t given;
  const char *text = !tvms_release_has(reader->dialect, TVMS_FACT_types_are_called_ty)
                         ? "op, args, attrs=None, sinfo_args=None, span=None"
                         : "op, args, attrs=None, ty_args=None, span=None";
  const tvms_signature *signature = tvms_signature_of_method(reader, text);
  bool bound =
      tvms_signature_bind(reader, signature, "Call", 0, call, args, refs, &given);
  if (!bound || !tvms_relax_of(reader)) return tvms_reader_failed(reader);
  if (args[2].kind != TVMS_EVAL_NONE) {
    tvms_eval_report_wrong_type(reader, refs[2], "argument 'attrs'", "None", args[2]);
    return tvms_reader_failed(reader);
  }
  if (args[0].kind == TVMS_EVAL_STR
      && !tvms_release_has(reader->dialect, TVMS_FACT_calls_take_operator_names)) {
    tvms_eval_report_wrong_type(reader, refs[0], "the callee", "an operator", args[0]);
    return tvms_reader_failed(reader);
  }
  return raw_call(reader, args, refs, 3, call);
}

tvms_eval_value tvms_relax_tuple_node(tvms_reader *reader, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  if (!tvms_signature_bind_method(reader, "fields, span=None", "Tuple", call, args)
      || !tvms_relax_of(reader)) {
    return tvms_reader_failed(reader);
  }
  tvms_node *node = tvms_relax_to_value(reader, args[0], call);
  return node ? tvms_eval_value_node(node) : tvms_reader_failed(reader);
}
