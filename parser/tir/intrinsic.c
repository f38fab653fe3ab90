// Calls of operators whose arguments no rule describes.
#include "parser/tir/intrinsic.h"

#include "ir/fold.h"
#include "ir/object.h"
#include "parser/eval/convert.h"
#include "parser/eval/iterate.h"
#include "parser/tir/access.h"
#include "parser/tir/call.h"
#include "parser/tir/convert.h"
#include "parser/tir/handlers.h"

#include <string.h>

// T.dp4a(vec1, vec2, acc=0); printed with its dtype in front.
tvms_eval_value tvms_call_dp4a(tvms_reader *reader, const tvms_call_args *call) {
  bool printed = call->args[3].kind != TVMS_EVAL_NONE;
  tvms_node *args[3];
  for (uint32_t i = 0; i < 3; i++) {
    args[i] =
        tvms_tir_to_argument(reader, call->args[i + printed], call->refs[i + printed]);
    if (!args[i]) return tvms_reader_failed(reader);
  }
  return tvms_tir_call_new(reader, tvms_call_result_scalar(TVMS_INT, 32), TVMS_TIR_dp4a,
                           args, 3, call->ref);
}

// The number of an intrinsic differs from one LLVM to the next; its name stands for it.
tvms_eval_value tvms_call_llvm_lookup_intrinsic_id(tvms_reader *reader,
                                                   const tvms_call_args *call) {
  if (call->args[0].kind == TVMS_EVAL_STR) return call->args[0];
  tvms_eval_report_wrong_type(reader, call->refs[0], "the name of an intrinsic",
                              "a string", call->args[0]);
  return tvms_reader_failed(reader);
}

// ---- Special operators ----------------------------------------------------------------------

static tvms_node *type_annotation(tvms_reader *reader, tvms_call_result type,
                                  tvms_ref ref) {
  return tvms_tir_call_new(reader, type, TVMS_TIR_type_annotation, NULL, 0, ref)
      .as.node;
}

tvms_eval_value tvms_call_type_annotation(tvms_reader *reader,
                                          const tvms_call_args *call) {
  tvms_call_result type;
  if (!tvms_tir_to_result(reader, call->args[0], call->refs[0], &type))
    return tvms_reader_failed(reader);
  return tvms_eval_value_node(type_annotation(reader, type, call->ref));
}

// A data type where T.type_annotation(…) is meant.
static tvms_node *to_annotation(tvms_reader *reader, tvms_eval_value value,
                                tvms_ref ref) {
  bool named = value.kind == TVMS_EVAL_STR || value.kind == TVMS_EVAL_DTYPE
               || value.kind == TVMS_EVAL_DTYPE_NAME;
  if (!named) return tvms_eval_to_expr(reader, value, ref);
  tvms_call_result type;
  if (!tvms_tir_to_result(reader, value, ref, &type)) return NULL;
  return type_annotation(reader, type, ref);
}

tvms_eval_value tvms_tir_access_ptr(tvms_reader *reader,
                                    const tvms_eval_value values[5],
                                    const tvms_ref refs[5], tvms_ref ref) {
  tvms_node *args[5];
  args[0] = to_annotation(reader, values[0], refs[0]);
  for (uint32_t i = 1; i < 5 && args[i - 1]; i++) {
    args[i] = tvms_tir_to_argument(reader, values[i], refs[i]);
    if (!args[i]) return tvms_reader_failed(reader);
  }
  if (!args[0]) return tvms_reader_failed(reader);
  tvms_call_result type =
      tvms_call_result_pointer(reader, args[0]->dtype, tvms_tir_pointer_scope(args[1]));
  return tvms_tir_call_new(reader, type, TVMS_TIR_tvm_access_ptr, args, 5, ref);
}

tvms_eval_value tvms_call_tvm_access_ptr(tvms_reader *reader,
                                         const tvms_call_args *call) {
  return tvms_tir_access_ptr(reader, call->args, call->refs, call->ref);
}

tvms_eval_value tvms_call_ptr_byte_offset(tvms_reader *reader,
                                          const tvms_call_args *call) {
  tvms_node *args[3];
  args[0] = tvms_tir_to_argument(reader, call->args[0], call->refs[0]);
  args[1] = tvms_tir_to_argument(reader, call->args[1], call->refs[1]);
  args[2] = to_annotation(reader, call->args[2], call->refs[2]);
  if (!args[0] || !args[1] || !args[2]) return tvms_reader_failed(reader);
  tvms_call_result type =
      tvms_call_result_pointer(reader, args[2]->dtype, tvms_tir_pointer_scope(args[0]));
  return tvms_tir_call_new(reader, type, TVMS_TIR_ptr_byte_offset, args, 3, call->ref);
}

tvms_eval_value tvms_call_tvm_stack_make_array(tvms_reader *reader,
                                               const tvms_call_args *call) {
  tvms_node *args[6];
  for (uint32_t i = 0; i < 6; i++) {
    tvms_eval_value value = call->args[i];
    // Up to 0.25 the text is passed as it is.
    bool named =
        i == 4 && tvms_release_has(reader->dialect, TVMS_FACT_stack_arrays_take_dtypes)
        && (value.kind == TVMS_EVAL_STR || value.kind == TVMS_EVAL_DTYPE);
    tvms_dtype dtype;
    if (!named) {
      args[i] = tvms_tir_to_argument(reader, value, call->refs[i]);
    } else if (tvms_eval_to_dtype(reader, value, call->refs[i], &dtype)) {
      args[i] = tvms_dtype_is_real(dtype)
                    ? tvms_build_float(reader->unit, dtype, 0, TVMS_NO_SPAN)
                    : tvms_build_int(reader->unit, dtype, 0, TVMS_NO_SPAN);
    } else {
      args[i] = NULL;
    }
    if (!args[i]) return tvms_reader_failed(reader);
  }
  return tvms_tir_call_new(reader, tvms_call_result_scalar(TVMS_HANDLE, 64),
                           TVMS_TIR_tvm_stack_make_array, args, 6, call->ref);
}

tvms_eval_value tvms_call_tvm_struct_get(tvms_reader *reader,
                                         const tvms_call_args *call) {
  tvms_call_result type;
  tvms_node *args[3];
  for (uint32_t i = 0; i < 3; i++) {
    args[i] = tvms_tir_to_argument(reader, call->args[i], call->refs[i]);
    if (!args[i]) return tvms_reader_failed(reader);
  }
  if (!tvms_tir_to_result(reader, call->args[3], call->refs[3], &type))
    return tvms_reader_failed(reader);
  return tvms_tir_call_new(reader, type, TVMS_TIR_tvm_struct_get, args, 3, call->ref);
}

// A constant of TIR as the number that it is.
static tvms_eval_value plain_number(tvms_eval_value value) {
  tvms_node *imm = tvms_eval_value_node_of(value, TVMS_NODE_INT_IMM);
  return imm ? tvms_eval_value_int(tvms_as_int_imm(imm)->value) : value;
}

tvms_eval_value tvms_call_print_buffer(tvms_reader *reader,
                                       const tvms_call_args *call) {
  tvms_eval_value shape = call->args[5];
  if (shape.len == 1 && tvms_eval_value_is_sequence(shape.as.items[0])) {
    shape = shape.as.items[0];
  }
  bool text, scalar;
  int64_t rank;
  tvms_call_result type;
  tvms_list dims;
  tvms_node *buffer = tvms_tir_to_argument(reader, call->args[0], call->refs[0]);
  if (!buffer || !tvms_tir_to_result(reader, call->args[1], call->refs[1], &type)
      || !tvms_eval_to_flag(reader, plain_number(call->args[2]), call->refs[2], &text)
      || !tvms_eval_to_flag(reader, plain_number(call->args[3]), call->refs[3], &scalar)
      || !tvms_eval_to_int(reader, plain_number(call->args[4]), call->refs[4], &rank)
      || !tvms_tir_to_arguments(reader, shape, call->ref, &dims)) {
    return tvms_reader_failed(reader);
  }
  char name[TVMS_DTYPE_TEXT];
  const char *dtype = tvms_dtype_text(type.dtype, name);
  tvms_unit *unit = reader->unit;
  tvms_node **args = tvms_arena_array(&reader->values, tvms_node *, dims.len + 5);
  args[0] = buffer;
  args[1] = tvms_string_imm_new(unit, dtype, strlen(dtype), TVMS_NO_SPAN);
  args[2] = tvms_bool_imm_new(unit, text, TVMS_NO_SPAN);
  args[3] = tvms_bool_imm_new(unit, scalar, TVMS_NO_SPAN);
  args[4] = tvms_int_imm_new(unit, TVMS_DTYPE(UINT, 32), rank, TVMS_NO_SPAN);
  memcpy(args + 5, dims.items, dims.len * sizeof *args);
  return tvms_tir_call_new(reader, type, TVMS_TIR_print_buffer, args, dims.len + 5,
                           call->ref);
}

tvms_eval_value tvms_call_handle_add_byte_offset(tvms_reader *reader,
                                                 const tvms_call_args *call) {
  tvms_node *args[2];
  args[0] = tvms_tir_to_argument(reader, call->args[0], call->refs[0]);
  args[1] = args[0] ? tvms_tir_to_argument(reader, call->args[1], call->refs[1]) : NULL;
  if (!args[1]) return tvms_reader_failed(reader);
  tvms_call_result type = tvms_call_result_pointer(reader, (tvms_dtype){0},
                                                   tvms_tir_pointer_scope(args[0]));
  return tvms_tir_call_new(reader, type, TVMS_TIR_handle_add_byte_offset, args, 2,
                           call->ref);
}

static tvms_eval_value address_of_load(tvms_reader *reader, tvms_node *load,
                                       tvms_ref ref) {
  const tvms_buffer *buffer = tvms_as_buffer(tvms_as_buffer_load(load)->buffer);
  tvms_sym scope = tvms_tir_pointer_scope(buffer->data);
  return tvms_tir_call_new(reader,
                           tvms_call_result_pointer(reader, buffer->element, scope),
                           TVMS_TIR_address_of, &load, 1, ref);
}

tvms_eval_value tvms_tir_address_of(tvms_reader *reader, tvms_eval_value value,
                                    tvms_ref ref) {
  tvms_node *buffer = tvms_eval_value_node_of(value, TVMS_NODE_BUFFER);
  tvms_node *var = tvms_eval_value_node_of(value, TVMS_NODE_VAR);
  tvms_node *region = tvms_eval_value_node_of(value, TVMS_NODE_BUFFER_REGION);
  if (buffer) {
    uint32_t rank = tvms_as_buffer(buffer)->shape.len;
    tvms_node **zeros = tvms_arena_array(&reader->values, tvms_node *, rank);
    for (uint32_t i = 0; i < rank; i++) {
      zeros[i] = tvms_int_imm_new(reader->unit, TVMS_DTYPE(INT, 32), 0, TVMS_NO_SPAN);
    }
    tvms_node *load = tvms_buffer_load_new(reader->unit, buffer, zeros, rank, NULL,
                                           tvms_reader_span_of(reader, ref));
    return address_of_load(reader, load, ref);
  }
  // 0.25 and 0.26 print vectors so, which they do not read.
  if (region && tvms_release_has(reader->dialect, TVMS_FACT_slices_are_vectors)) {
    tvms_node *load = tvms_tir_region_load(reader, region, ref);
    return load ? address_of_load(reader, load, ref) : tvms_reader_failed(reader);
  }
  if (tvms_eval_value_node_of(value, TVMS_NODE_BUFFER_LOAD)) {
    return address_of_load(reader, value.as.node, ref);
  }
  if (var) {
    bool map = var->sinfo && var->sinfo->kind == TVMS_NODE_SINFO_TENSOR_MAP;
    if (!map && tvms_dtype_is_handle(var->dtype)
        && !tvms_release_has(reader->dialect, TVMS_FACT_pointers_are_numbers)) {
      tvms_eval_report_wrong_type(reader, ref, "the operand of T.address_of",
                                  "an element, a scalar or a tensor map", value);
      return TVMS_UNKNOWN;
    }
    tvms_call_result type =
        map && tvms_release_has(reader->dialect, TVMS_FACT_tensor_maps_are_types)
            ? tvms_call_result_scalar(TVMS_UINT, 64)
            : tvms_call_result_pointer(reader, var->dtype, 0);
    return tvms_tir_call_new(reader, type, TVMS_TIR_address_of, &var, 1, ref);
  }
  tvms_eval_report_wrong_type(reader, ref, "the operand of T.address_of",
                              "a buffer, an element or a variable", value);
  return TVMS_UNKNOWN;
}

tvms_eval_value tvms_call_address_of(tvms_reader *reader, const tvms_call_args *call) {
  return tvms_tir_address_of(reader, call->args[0], call->refs[0]);
}

// Four-bit floats are compared in bytes, which a single one fills half.
static bool same_size(tvms_reader *reader, tvms_dtype a, tvms_dtype b) {
  if (a.lanes < 0 || b.lanes < 0) return true;
  int truth = tvms_release_has(reader->dialect, TVMS_FACT_bools_are_uint1) ? 1 : 8;
  if (tvms_dtype_is_bool(a)) a.bits = (uint8_t)truth;
  if (tvms_dtype_is_bool(b)) b.bits = (uint8_t)truth;
  int bits_a = a.bits * a.lanes, bits_b = b.bits * b.lanes;
  bool packed = a.code == TVMS_FLOAT4_E2M1FN || b.code == TVMS_FLOAT4_E2M1FN;
  bool bytes = (a.bits + 7) / 8 * a.lanes == (b.bits + 7) / 8 * b.lanes;
  return bits_a == bits_b
         || (packed && (bytes || (bits_a + 7) / 8 == (bits_b + 7) / 8));
}

// From 0.26 on pointers are read as integers of 64 bits and as pointers only.
static bool pointer_fits(const tvms_reader *reader, tvms_dtype a, tvms_dtype b) {
  bool pointer = tvms_dtype_is_handle(a);
  if (tvms_release_has(reader->dialect, TVMS_FACT_pointers_are_numbers)
      || pointer == tvms_dtype_is_handle(b)) {
    return true;
  }
  tvms_dtype other = pointer ? b : a;
  return (other.code == TVMS_INT || other.code == TVMS_UINT) && other.lanes == 1;
}

tvms_eval_value tvms_call_reinterpret(tvms_reader *reader, const tvms_call_args *call) {
  tvms_call_result type;
  tvms_node *value = tvms_tir_to_argument(reader, call->args[1], call->refs[1]);
  if (!value || !tvms_tir_to_result(reader, call->args[0], call->refs[0], &type)) {
    return tvms_reader_failed(reader);
  }
  if (!pointer_fits(reader, type.dtype, value->dtype)) {
    tvms_eval_report_wrong_type(reader, call->refs[1],
                                "the counterpart of a pointer in T.reinterpret",
                                "a 64-bit integer", call->args[1]);
    return tvms_reader_failed(reader);
  }
  if (!same_size(reader, type.dtype, value->dtype)) {
    char a[TVMS_DTYPE_TEXT], b[TVMS_DTYPE_TEXT];
    tvms_reader_report(reader, size_changes, call->ref, tvms_dtype_text(type.dtype, a),
                       tvms_dtype_text(value->dtype, b));
    return tvms_reader_failed(reader);
  }
  bool same = tvms_dtype_same(type.dtype, value->dtype) && !type.sinfo;
  bool opaque = !value->sinfo && !tvms_dtype_is_handle(type.dtype);
  if (same
      && (opaque
          || !tvms_release_has(reader->dialect, TVMS_FACT_expressions_have_types)))
    return tvms_eval_value_node(value);
  return tvms_tir_call_new(reader, type, TVMS_TIR_reinterpret, &value, 1, call->ref);
}

static tvms_eval_value masked(tvms_reader *reader, const tvms_call_args *call,
                              tvms_node *buffer, tvms_eval_value rest,
                              tvms_node *value) {
  tvms_eval_value all = tvms_eval_value_items(TVMS_EVAL_TUPLE, rest.as.items, rest.len);
  tvms_list list;
  if (rest.len < 1 || !tvms_tir_to_arguments(reader, all, call->ref, &list)) {
    return tvms_reader_failed(reader);
  }
  uint32_t rank = list.len - 1;
  tvms_node *mask = list.items[rank];
  if (!value) {
    return tvms_eval_value_node(
        tvms_tir_load(reader, buffer, list.items, rank, mask, call->ref));
  }
  tvms_tir_store_stmt(reader, buffer, list.items, rank, value, mask, call->ref);
  return TVMS_NOTHING;
}

static tvms_eval_value not_a_buffer(tvms_reader *reader, const tvms_call_args *call,
                                    uint32_t i) {
  tvms_eval_report_wrong_type(reader, call->refs[i], "the accessed object", "a buffer",
                              call->args[i]);
  return tvms_reader_failed(reader);
}

tvms_eval_value tvms_call_masked_load(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *buffer = tvms_eval_value_node_of(call->args[1], TVMS_NODE_BUFFER);
  if (!buffer) return not_a_buffer(reader, call, 1);
  return masked(reader, call, buffer, call->args[2], NULL);
}

tvms_eval_value tvms_call_masked_store(tvms_reader *reader,
                                       const tvms_call_args *call) {
  tvms_node *buffer = tvms_eval_value_node_of(call->args[0], TVMS_NODE_BUFFER);
  if (!buffer) return not_a_buffer(reader, call, 0);
  tvms_node *value = tvms_eval_to_expr(reader, call->args[1], call->refs[1]);
  if (!value) return tvms_reader_failed(reader);
  return masked(reader, call, buffer, call->args[2], value);
}

// ---- Calls by registry name -----------------------------------------------------------------

static tvms_node *callee_of(tvms_reader *reader, tvms_eval_value value, tvms_ref ref) {
  if (value.kind == TVMS_EVAL_NODE
      && (value.as.node->kind == TVMS_NODE_OPERATOR
          || value.as.node->kind == TVMS_NODE_GLOBAL_VAR)) {
    return value.as.node;
  }
  if (value.kind != TVMS_EVAL_STR) {
    tvms_eval_report_wrong_type(reader, ref, "the callee", "the name of an operator",
                                value);
    return NULL;
  }
  tvms_tir_opcode opcode = tvms_tir_op_find(value.as.text, value.len);
  if (!opcode) {
    tvms_reader_report(reader, unknown_operator, ref, (int)value.len, value.as.text);
    return NULL;
  }
  return tvms_tir_operator_new(reader->unit, opcode);
}

static tvms_eval_value call_by_name(tvms_reader *reader, tvms_eval_value name,
                                    tvms_eval_value args, tvms_call_result type,
                                    tvms_eval_value attrs, tvms_ref ref) {
  tvms_node *callee = callee_of(reader, name, ref);
  tvms_list list;
  tvms_node *map;
  if (!callee || !tvms_tir_to_arguments(reader, args, ref, &list)
      || !tvms_eval_to_map(reader, attrs, ref, &map)) {
    return tvms_reader_failed(reader);
  }
  tvms_node *node = tvms_call_new(reader->unit, type.dtype, callee, list.items,
                                  list.len, tvms_reader_span_of(reader, ref));
  node->sinfo = type.sinfo;
  if (map) tvms_as_call(node)->attrs = tvms_list_copy(reader->unit, &map, 1);
  return tvms_eval_value_node(node);
}

tvms_eval_value tvms_call_call_intrin(tvms_reader *reader, const tvms_call_args *call) {
  tvms_call_result type;
  if (!tvms_tir_to_result(reader, call->args[0], call->refs[0], &type))
    return tvms_reader_failed(reader);
  return call_by_name(reader, call->args[1], call->args[2], type,
                      tvms_args_get(reader, call, TVMS_SYM_attrs), call->ref);
}

tvms_eval_value tvms_call_Call(tvms_reader *reader, const tvms_call_args *call) {
  tvms_call_result type = TVMS_RESULT_VOID;
  bool dtype_first = tvms_release_has(reader->dialect, TVMS_FACT_calls_say_dtype_first);
  tvms_eval_value returns =
      dtype_first ? call->args[0] : tvms_args_get(reader, call, TVMS_SYM_ret_ty);
  if (returns.kind != TVMS_EVAL_NONE
      && !tvms_tir_to_result(reader, returns, call->ref, &type)) {
    return tvms_reader_failed(reader);
  }
  tvms_eval_items items;
  uint32_t at = dtype_first ? 1 : 0;
  if (!tvms_eval_iterate(reader, call->args[at + 1], call->ref, &items)) {
    return tvms_reader_failed(reader);
  }
  return call_by_name(reader, call->args[at],
                      tvms_eval_value_items(TVMS_EVAL_TUPLE, items.items, items.len),
                      type, tvms_args_get(reader, call, TVMS_SYM_attrs), call->ref);
}
