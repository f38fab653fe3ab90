// Calls whose keywords are attributes of the call, not arguments (since 0.27).
//
// Every keyword-only parameter of the row but `ret_ty` is an attribute. Rules of the
// values: tirx/op.py, CallFFIKernelAttr and TensorMapEncodeTiledAttr.
#include "ir/build.h"
#include "ir/object.h"
#include "ir/tir_op.h"
#include "parser/device/handlers.h"
#include "parser/eval/convert.h"
#include "parser/tir/call.h"
#include "parser/tir/tir.h"

// The value of an attribute as TVM's class of attributes takes it. NULL after a report.
static tvms_node *attribute(tvms_reader *reader, tvms_sym name, tvms_eval_value value,
                            tvms_ref ref) {
  if (name == TVMS_SYM_launch_params) {
    bool list = tvms_eval_value_is_sequence(value);
    for (uint32_t i = 0; list && i < value.len; i++) {
      list = value.as.items[i].kind == TVMS_EVAL_STR;
    }
    if (!list) {
      tvms_eval_report_wrong_type(reader, ref, "'launch_params'", "a list of strings",
                                  value);
      return NULL;
    }
    value = tvms_eval_value_items(TVMS_EVAL_LIST, value.as.items, value.len);
  } else if (name == TVMS_SYM_descriptor_dtype) {
    tvms_dtype dtype;
    if (value.kind != TVMS_EVAL_STR) {
      tvms_eval_report_wrong_type(reader, ref, "'descriptor_dtype'",
                                  "the name of a data type", value);
      return NULL;
    }
    if (!tvms_eval_to_dtype(reader, value, ref, &dtype)) return NULL;
  } else if (value.kind != TVMS_EVAL_INT) {
    tvms_eval_report_wrong_type(reader, ref, "an attribute of the call", "an int",
                                value);
    return NULL;
  }
  return tvms_eval_to_object(reader, value, ref);
}

static tvms_node *attributes(tvms_reader *reader, const tvms_call_args *call) {
  const tvms_signature *signature = tvms_row_signature(reader, call->row);
  tvms_node *map = NULL;
  for (uint32_t i = 0; i < signature->count; i++) {
    const tvms_param *param = &signature->params[i];
    if (param->kind != TVMS_PARAM_KEYWORD_ONLY || param->name == TVMS_SYM_ret_ty) {
      continue;
    }
    tvms_node *value = attribute(reader, param->name, call->args[i], call->refs[i]);
    if (!value) return NULL;
    map = tvms_object_map_with(reader->unit, map,
                               tvms_symbol_text(reader->context, param->name), value);
  }
  return map;
}

// A tensor map of rank r has two pointers, r sizes, r - 1 strides, and r box sizes and r
// element strides.
static bool check_rank(tvms_reader *reader, const tvms_call_args *call,
                       uint32_t count) {
  tvms_eval_value rank = tvms_args_get(reader, call, TVMS_SYM_rank);
  if (rank.as.i >= 1 && rank.as.i <= 5 && (int64_t)count == 4 * rank.as.i + 1) {
    return true;
  }
  tvms_reader_report(reader, tensor_map_operands, call->ref, (long long)rank.as.i,
                     count);
  return false;
}

static tvms_eval_value call_of(tvms_reader *reader, const tvms_call_args *call,
                               tvms_tir_opcode op) {
  const tvms_signature *signature = tvms_row_signature(reader, call->row);
  tvms_list args;
  tvms_call_result type = tvms_call_result_scalar(TVMS_INT, 32);
  tvms_eval_value returns = tvms_args_get(reader, call, TVMS_SYM_ret_ty);
  tvms_ref returns_ref = tvms_args_ref(reader, call, TVMS_SYM_ret_ty);
  tvms_node *map = attributes(reader, call);
  bool sound =
      map
      && tvms_tir_to_arguments(reader, call->args[signature->rest], call->ref, &args)
      && (op != TVMS_TIR_tensormap_encode_tiled || check_rank(reader, call, args.len))
      && (returns.kind == TVMS_EVAL_NONE
          || tvms_tir_to_result(reader, returns, returns_ref, &type));
  if (!sound) {
    return tvms_reader_failed(reader);
  }
  tvms_node *callee = tvms_tir_operator_new(reader->unit, op);
  tvms_node *node = tvms_call_new(reader->unit, type.dtype, callee, args.items,
                                  args.len, tvms_reader_span_of(reader, call->ref));
  node->sinfo = type.sinfo;
  tvms_as_call(node)->attrs = tvms_list_copy(reader->unit, &map, 1);
  return tvms_eval_value_node(node);
}

tvms_eval_value tvms_call_call_ffi_kernel(tvms_reader *reader,
                                          const tvms_call_args *call) {
  return call_of(reader, call, TVMS_TIR_call_ffi_kernel);
}

tvms_eval_value tvms_call_tensormap_encode_tiled(tvms_reader *reader,
                                                 const tvms_call_args *call) {
  return call_of(reader, call, TVMS_TIR_tensormap_encode_tiled);
}
