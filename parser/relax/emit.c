// Emitting bindings of a Relax function into the open block, with the type that their
// annotation asks for.
#include "parser/relax/emit.h"

#include "ir/equal.h"
#include "parser/relax/state.h"
#include "structinfo/make.h"
#include "structinfo/omitted.h"

// Reports a binding after R.output.
bool tvms_relax_block_is_open(tvms_reader *reader, tvms_ref ref) {
  if (!tvms_builder_block(&tvms_relax_of(reader)->builder)->ended) return true;
  tvms_diag *diag = tvms_reader_report(reader, binding_after_output, ref);
  tvms_diag_remark(&reader->context->diags, diag, "R.output stands last in the block");
  reader->failed = true;
  // Once: R.output may follow.
  tvms_builder_block(&tvms_relax_of(reader)->builder)->ended = false;
  return false;
}

// A tuple that is annotated as a shape was meant to be one.
static void explain_shape(tvms_reader *reader, tvms_diag *diag, const tvms_node *type,
                          tvms_ref ref) {
  const tvms_surf node = *tvms_reader_at(reader, ref);
  if (type->kind != TVMS_NODE_SINFO_SHAPE || node.kind != TVMS_SURF_TUPLE) return;
  tvms_diags *diags = &reader->context->diags;
  tvms_span span = tvms_reader_span_of(reader, ref);
  tvms_diag_remark(diags, diag, "a shape is written as R.shape(...)");
  tvms_diag_fix(diags, diag, (tvms_span){span.begin, span.begin}, true, "R.shape(");
  tvms_diag_fix(diags, diag, (tvms_span){span.end, span.end}, true, ")");
}

// A call whose arguments are bound first is made anew, and its type inferred: TVM loses
// the annotation then.
static bool is_rebuilt(const tvms_node *value) {
  if (value->kind != TVMS_NODE_CALL) return false;
  tvms_list args = tvms_as_call(value)->args;
  for (uint32_t i = 0; i < args.len; i++) {
    int kind = args.items[i]->kind;
    if (kind == TVMS_NODE_CALL || kind == TVMS_NODE_TUPLE_GET_ITEM
        || kind == TVMS_NODE_IF) {
      return true;
    }
  }
  return false;
}

// The type that a value gets from its annotation: a call that was just made takes it over,
// other values keep theirs. NULL after a report.
static bool annotate(tvms_reader *reader, tvms_node *value, tvms_node *type,
                     tvms_ref ref) {
  if (is_rebuilt(value)) return true;
  tvms_node *known = tvms_sinfo_of(reader->unit, value);
  tvms_sinfo_fit fit = tvms_sinfo_relate(tvms_relax_of(reader)->prover, type, known);
  // TVM looks at the annotations of calls only when it verifies the module.
  bool trusted =
      value->kind == TVMS_NODE_CALL
      && (reader->module->unchecked || type->kind == TVMS_NODE_SINFO_DTENSOR);
  if (fit == TVMS_FIT_NEVER && !trusted) {
    tvms_diag *diag = tvms_reader_report(reader, annotation_contradicts, ref,
                                         tvms_sinfo_describe(reader->unit, known),
                                         tvms_sinfo_describe(reader->unit, type));
    explain_shape(reader, diag, type, ref);
    reader->failed = true;
    return false;
  }
  if (value->kind == TVMS_NODE_CALL) value->sinfo = type;
  tvms_sinfo_learn(reader->unit, value, type);
  return true;
}

tvms_eval_value tvms_relax_emit_binding(tvms_reader *reader, tvms_node *value,
                                        tvms_sym name, tvms_node *TVMS_NULLABLE type,
                                        tvms_ref target, tvms_ref ref) {
  if (!tvms_relax_block_is_open(reader, target)) return TVMS_UNKNOWN;
  if (type && !annotate(reader, value, type, ref)) return TVMS_UNKNOWN;
  tvms_node *var = tvms_builder_emit(&tvms_relax_of(reader)->builder, value, name,
                                     tvms_reader_span_of(reader, target), type != NULL);
  return tvms_eval_value_node(var);
}

tvms_eval_value tvms_relax_emit_match_cast(tvms_reader *reader, tvms_eval_value pair,
                                           tvms_sym name, tvms_node *TVMS_NULLABLE type,
                                           tvms_ref target, tvms_ref ref) {
  if (!tvms_relax_block_is_open(reader, target)) return TVMS_UNKNOWN;
  tvms_context *context = reader->context;
  tvms_node *value = pair.as.items[0].as.node, *to = pair.as.items[1].as.node;
  if (type && !tvms_node_equal(context, type, to)) {
    tvms_reader_report(reader, match_cast_annotation, ref);
    return tvms_reader_failed(reader);
  }
  tvms_node *known = tvms_sinfo_of(reader->unit, value);
  if (tvms_sinfo_relate(tvms_relax_of(reader)->prover, known, to) == TVMS_FIT_NEVER) {
    tvms_reader_report(reader, match_cast_impossible, ref,
                       tvms_sinfo_describe(reader->unit, known),
                       tvms_sinfo_describe(reader->unit, to));
    return tvms_reader_failed(reader);
  }
  return tvms_eval_value_node(
      tvms_builder_match_cast(&tvms_relax_of(reader)->builder, value, to, name,
                              tvms_reader_span_of(reader, target)));
}
