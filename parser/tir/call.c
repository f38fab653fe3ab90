// What every call of an operator of TIR is made of: its arguments and its type.
#include "parser/tir/call.h"

#include "ir/build.h"
#include "parser/eval/convert.h"
#include "parser/tir/access.h"
#include "parser/tir/convert.h"

#include <string.h>

// ---- Types -----------------------------------------------------------------------------------

tvms_node *tvms_tir_pointer_type(tvms_reader *reader, tvms_dtype element,
                                 tvms_sym scope) {
  tvms_sinfo_pointer *type = tvms_node_make(reader->unit, SINFO_POINTER, TVMS_NO_SPAN);
  type->head.dtype = element;
  type->scope = scope;
  return &type->head;
}

tvms_sym tvms_tir_pointer_scope(const tvms_node *pointer) {
  bool typed = pointer->sinfo && pointer->sinfo->kind == TVMS_NODE_SINFO_POINTER;
  return typed ? tvms_as_sinfo_pointer(pointer->sinfo)->scope : 0;
}

bool tvms_tir_is_pointer(const tvms_node *node) {
  return (node->sinfo && node->sinfo->kind == TVMS_NODE_SINFO_POINTER)
         || tvms_dtype_is_handle(node->dtype);
}

tvms_call_result tvms_call_result_pointer(tvms_reader *reader, tvms_dtype element,
                                          tvms_sym scope) {
  tvms_call_result type = tvms_call_result_scalar(TVMS_HANDLE, 64);
  if (tvms_release_has(reader->dialect, TVMS_FACT_expressions_have_types)) {
    type.sinfo = tvms_tir_pointer_type(reader, element, scope);
  }
  return type;
}

bool tvms_tir_to_result(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                        tvms_call_result *type) {
  tvms_node *node = value.kind == TVMS_EVAL_NODE ? value.as.node : NULL;
  if (node
      && (node->kind == TVMS_NODE_SINFO_POINTER
          || node->kind == TVMS_NODE_SINFO_TENSOR_MAP)) {
    *type = tvms_call_result_scalar(TVMS_HANDLE, 64);
    type->sinfo = node;
    return true;
  }
  if (node && node->kind == TVMS_NODE_SINFO_TUPLE) {
    *type = TVMS_RESULT_VOID;
    return true;
  }
  type->sinfo = NULL;
  return tvms_eval_to_dtype(reader, value, ref, &type->dtype);
}

tvms_eval_value tvms_tir_call_new(tvms_reader *reader, tvms_call_result type,
                                  tvms_tir_opcode op, tvms_node *const *args,
                                  uint32_t count, tvms_ref ref) {
  tvms_node *call = tvms_call_new_of(reader->unit, type.dtype, op, args, count,
                                     tvms_reader_span_of(reader, ref));
  call->sinfo = type.sinfo;
  return tvms_eval_value_node(call);
}

// ---- Arguments ------------------------------------------------------------------------------

tvms_node *tvms_tir_to_argument(tvms_reader *reader, tvms_eval_value value,
                                tvms_ref ref) {
  tvms_node *node = value.kind == TVMS_EVAL_NODE ? value.as.node : NULL;
  if (node && node->kind == TVMS_NODE_BUFFER
      && tvms_release_has(reader->dialect, TVMS_FACT_buffers_are_variables)) {
    return node;
  }
  if (value.kind == TVMS_EVAL_DTYPE
      && !tvms_release_has(reader->dialect, TVMS_FACT_dtypes_are_types)) {
    char buffer[TVMS_DTYPE_TEXT];
    const char *text = tvms_dtype_text(value.as.dtype, buffer);
    return tvms_string_imm_new(reader->unit, text, strlen(text), TVMS_NO_SPAN);
  }
  if (node && node->kind == TVMS_NODE_BUFFER_REGION
      && tvms_release_has(reader->dialect, TVMS_FACT_buffers_are_variables)) {
    return tvms_tir_region_load(reader, node, ref);
  }
  return tvms_eval_to_expr(reader, value, ref);
}

bool tvms_tir_to_arguments(tvms_reader *reader, tvms_eval_value args, tvms_ref ref,
                           tvms_list *list) {
  list->items = tvms_arena_array(&reader->unit->arena, tvms_node *, args.len);
  list->len = args.len;
  bool sound = true;
  for (uint32_t i = 0; i < args.len; i++) {
    list->items[i] = tvms_tir_to_argument(reader, args.as.items[i], ref);
    sound = sound && list->items[i];
  }
  if (!sound) reader->failed = true;
  return sound;
}

tvms_node *tvms_call_expr_at(tvms_reader *reader, const tvms_call_args *call,
                             uint32_t i) {
  tvms_node *node = tvms_eval_to_expr(reader, call->args[i], call->refs[i]);
  if (!node) reader->failed = true;
  return node;
}

// From 0.26 on pointers are not operands.
tvms_node *tvms_call_number_at(tvms_reader *reader, const tvms_call_args *call,
                               uint32_t i) {
  tvms_node *node = tvms_call_expr_at(reader, call, i);
  if (!node || tvms_release_has(reader->dialect, TVMS_FACT_pointers_are_numbers)
      || !tvms_dtype_is_handle(node->dtype))
    return node;
  tvms_reader_report(reader, wrong_dtype_for, call->ref,
                     tvms_symbol_text(reader->context, call->row->name), "handle");
  reader->failed = true;
  return NULL;
}

bool tvms_call_two_exprs(tvms_reader *reader, const tvms_call_args *call, tvms_node **a,
                         tvms_node **b) {
  *a = tvms_call_expr_at(reader, call, 0);
  *b = *a ? tvms_call_expr_at(reader, call, 1) : NULL;
  return *b != NULL;
}
