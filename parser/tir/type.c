// Types of TIR as text writes them: T.int32, T.handle("float32"), T.Buffer(…), T.Tuple(…).
#include "parser/tir/type.h"

#include "parser/eval/convert.h"
#include "parser/tir/handlers.h"
#include "parser/tir/signature.h"
#include "structinfo/make.h"

static tvms_node *prim_type(tvms_reader *reader, tvms_dtype dtype, tvms_ref ref) {
  tvms_sinfo_prim *type =
      tvms_node_make(reader->unit, SINFO_PRIM, tvms_reader_span_of(reader, ref));
  type->head.dtype = dtype;
  return &type->head;
}

tvms_node *tvms_tir_type_of_annotation(tvms_reader *reader, tvms_eval_value value,
                                       tvms_ref ref) {
  tvms_node *node = value.kind == TVMS_EVAL_NODE ? value.as.node : NULL;
  if (!node) return NULL;
  if (tvms_node_class_of(node) == TVMS_CLASS_SINFO) return node;
  if (tvms_node_class_of(node) == TVMS_CLASS_EXPR) {
    return node->sinfo ? node->sinfo : prim_type(reader, node->dtype, ref);
  }
  if (node->kind != TVMS_NODE_BUFFER) return NULL;
  tvms_sinfo_buffer *type =
      tvms_node_make(reader->unit, SINFO_BUFFER, tvms_reader_span_of(reader, ref));
  type->buffer = node;
  return &type->head;
}

// T.Tuple(…) of 0.27: the types of what stands in it.
tvms_eval_value tvms_call_Tuple_type(tvms_reader *reader, const tvms_call_args *call) {
  tvms_eval_value fields = call->args[0];
  tvms_node **types =
      tvms_arena_array(&reader->values, tvms_node *, fields.len ? fields.len : 1);
  for (uint32_t i = 0; i < fields.len; i++) {
    tvms_eval_value field =
        tvms_tir_call_annotation(reader, fields.as.items[i], call->ref);
    if (!tvms_eval_value_is_known(field)) return TVMS_UNKNOWN;
    types[i] = tvms_tir_type_of_annotation(reader, field, call->ref);
    if (types[i]) continue;
    tvms_eval_report_wrong_type(reader, call->ref, "a part of this", "a type", field);
    return tvms_reader_failed(reader);
  }
  return tvms_eval_value_node(tvms_sinfo_tuple_new(reader->unit, types, fields.len));
}
