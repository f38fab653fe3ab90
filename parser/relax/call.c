// Calls of operators of Relax: bound, made and inferred.
#include "parser/relax/call.h"

#include "ir/object.h"
#include "parser/eval/convert.h"
#include "parser/relax/bind.h"
#include "parser/relax/place.h"
#include "parser/relax/prototype.h"
#include "parser/relax/signature.h"
#include "parser/relax/state.h"
#include "structinfo/call.h"

// Whether the call contradicts a PrimFunc that has been read, which verification would find:
// said while reading, nothing is built on what the call cannot give.
static bool contradicts(const tvms_reader *reader, tvms_inference *in) {
  if (!reader->module || reader->module->unchecked || tvms_relax_of(reader)->unchecked)
    return false;
  uint32_t op = tvms_op_called(&in->call->head);
  if (op == TVMS_R_call_tir || op == TVMS_R_call_tir_inplace
      || op == TVMS_R_call_tir_with_grad) {
    return !tvms_infer_check_call_tir(in);
  }
  const tvms_node *callee = in->call->callee;
  if (!tvms_relax_in_dataflow(reader) || tvms_infer_call_is_pure(in->module, in->call)
      || (callee->kind == TVMS_NODE_GLOBAL_VAR && !callee->sinfo)) {
    return false;
  }
  tvms_infer_report_impure(in->module, in->call, in->call->head.span, NULL);
  return true;
}

tvms_eval_value tvms_relax_finish_call(tvms_reader *reader, tvms_call *call,
                                       const tvms_span *TVMS_NULLABLE spans) {
  tvms_inference in = {.prover = tvms_relax_of(reader)->prover,
                       .unit = reader->unit,
                       .module = reader->module,
                       .builder = &tvms_relax_of(reader)->builder,
                       .call = call,
                       .arg_spans = spans};
  call->head.sinfo = tvms_infer_call(&in);
  if (!call->head.sinfo || contradicts(reader, &in)) {
    return tvms_reader_failed(reader);
  }
  return tvms_eval_value_node(&call->head);
}

tvms_eval_value tvms_relax_make_call(tvms_reader *reader, tvms_opcode op,
                                     tvms_node *const *args, uint32_t count,
                                     tvms_list attrs, tvms_list type_args,
                                     const tvms_span *spans, tvms_ref ref) {
  tvms_call *call =
      tvms_node_make(reader->unit, CALL, tvms_reader_span_of(reader, ref));
  call->callee = tvms_op_operator_new(reader->unit, op);
  call->args = tvms_list_copy(reader->unit, args, count);
  call->attrs = attrs;
  call->type_args = type_args;
  return tvms_relax_finish_call(reader, call, spans);
}

tvms_eval_value tvms_relax_make_simple(tvms_reader *reader, tvms_opcode op,
                                       tvms_node *const *args, uint32_t count,
                                       tvms_ref ref) {
  tvms_list none = {NULL, 0};
  uint32_t attrs = tvms_op_schema(op)->count;
  tvms_list unset = none;
  if (attrs > 0) {
    unset.items = tvms_arena_array(&reader->unit->arena, tvms_node *, attrs);
    unset.len = attrs;
  }
  return tvms_relax_make_call(reader, op, args, count, unset, none, NULL, ref);
}

static void default_layout(tvms_relax_op_call *call) {
  const tvms_attr_schema *schema = tvms_op_schema(call->op);
  int out = tvms_attr_find(schema, "out_layout", 10);
  if (out < 0 || call->attrs[out]) return;
  int data = tvms_attr_find(schema, "data_layout", 11);
  if (data < 0) data = tvms_attr_find(schema, "layout", 6);
  if (data >= 0) call->attrs[out] = call->attrs[data];
}

// Text that no parameter gives is empty.
static void default_texts(tvms_relax_op_call *call) {
  const tvms_attr_schema *schema = tvms_op_schema(call->op);
  for (uint32_t i = 0; i < schema->count; i++) {
    if (call->attrs[i] || schema->rows[i].type != TVMS_ATTR_STR) continue;
    call->attrs[i] = tvms_object_str_new(call->reader->unit, "", 0, TVMS_NO_SPAN);
  }
}

static tvms_eval_value finish(tvms_relax_op_call *call) {
  tvms_reader *reader = call->reader;
  if (!call->sound) {
    return tvms_reader_failed(reader);
  }
  default_layout(call);
  default_texts(call);
  tvms_list attrs =
      tvms_list_copy(reader->unit, call->attrs, tvms_op_schema(call->op)->count);
  return tvms_relax_make_call(reader, call->op, call->args.items, call->args.len, attrs,
                              call->type_args, call->spans.items, call->ref);
}

// The prototype gives the shape where the type of the result stands, and its dtype apart.
static void join_result(tvms_relax_op_call *call) {
  uint32_t last = call->signature->signature->count;
  if (!tvms_release_has(call->reader->dialect, TVMS_FACT_is_prototype) || last-- == 0
      || call->signature->kinds[last] != TVMS_ARG_OTHER
      || call->values[last].kind == TVMS_EVAL_NONE) {
    return;
  }
  for (uint32_t i = 0; i < last; i++) {
    bool given = call->values[i].kind != TVMS_EVAL_NONE;
    if (call->signature->kinds[i] != TVMS_ARG_TYPE || !given) continue;
    call->values[i] =
        tvms_prototype_result(call->reader, call->values[i], call->refs[i],
                              call->values[last], call->refs[last]);
  }
  call->values[last] = TVMS_NOTHING;
}

// What a call that lacks arguments gives in a wrong form whatever place it was meant for:
// types, and numbers for shapes.
static void check_given(tvms_relax_op_call *call, uint64_t given) {
  for (uint32_t i = 0; i < call->signature->signature->count; i++) {
    tvms_eval_value value = call->values[i];
    tvms_arg_kind kind = (tvms_arg_kind)call->signature->kinds[i];
    if (!(given >> i & 1) || kind == TVMS_ARG_TYPE) continue;
    if (kind == TVMS_ARG_SIZE && value.kind == TVMS_EVAL_INT) {
      tvms_relax_storage_size(call, value, call->refs[i]);
    }
    bool type = value.kind == TVMS_EVAL_NODE
                && tvms_node_class_of(value.as.node) == TVMS_CLASS_SINFO;
    if (type)
      tvms_eval_report_wrong_type(call->reader, call->refs[i], "this argument",
                                  "a value", value);
  }
}

tvms_eval_value tvms_relax_call_op(tvms_reader *reader, tvms_opcode op, tvms_ref ref) {
  tvms_relax_op_call call = {.reader = reader, .op = op, .ref = ref, .sound = true};
  uint64_t given;
  call.signature = tvms_relax_op_signature(reader, op);
  const char *name = tvms_op_of(op)->name;
  tvms_eval_value result = TVMS_UNKNOWN;
  if (tvms_signature_bind(reader, call.signature->signature, name, 0, ref, call.values,
                          call.refs, &given)) {
    join_result(&call);
    const tvms_diag *before = reader->context->diags.last;
    tvms_relax_bind_operator(&call);
    result = finish(&call);
    if (!tvms_eval_value_is_known(result)) {
      tvms_relax_place_findings(&call, given, before);
    }
  } else {
    check_given(&call, given);
    reader->failed = true;
  }
  tvms_vec_fini(&reader->context->memory, &call.args);
  tvms_vec_fini(&reader->context->memory, &call.spans);
  return result;
}
