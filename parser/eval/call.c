// Calls: who answers.
#include "parser/eval/call.h"

#include "ir/respell.h"
#include "parser/eval/budget.h"
#include "parser/eval/convert.h"
#include "parser/eval/expr.h"
#include "parser/eval/ops.h"
#include "parser/eval/reader.h"

// The arguments of a call whose callee is unknown are evaluated for what they report.
static tvms_eval_value call_unknown(tvms_reader *reader, tvms_ref call) {
  tvms_surface_each(reader->surface, ref, tvms_reader_at(reader, call)->b) {
    const tvms_surf *node = tvms_reader_at(reader, ref);
    switch (node->kind) {
    case TVMS_SURF_KEYWORD: tvms_eval(reader, node->b); break;
    case TVMS_SURF_STAR:
    case TVMS_SURF_DOUBLE_STAR: tvms_eval(reader, node->a); break;
    default: tvms_eval(reader, ref);
    }
  }
  return tvms_reader_failed(reader);
}

tvms_eval_value tvms_eval_report_cannot_call(tvms_reader *reader,
                                             tvms_eval_value callee, tvms_ref call) {
  bool buffer = tvms_eval_value_node_of(callee, TVMS_NODE_BUFFER) != NULL;
  tvms_diag *diag = tvms_reader_report(reader, cannot_call,
                                       buffer ? tvms_reader_callee(reader, call) : call,
                                       tvms_eval_describe(reader, callee));
  tvms_span whole = tvms_reader_span_of(reader, call);
  tvms_span name = tvms_reader_span_of(reader, tvms_reader_callee(reader, call));
  const char *text = reader->surface->source->text;
  if (!tvms_eval_value_node_of(callee, TVMS_NODE_BUFFER) || text[name.end] != '('
      || !tvms_reader_at(reader, call)->b) {
    return TVMS_UNKNOWN;
  }
  tvms_diags *diags = &reader->context->diags;
  tvms_diag_remark(diags, diag, "an element is %.*s[...]", (int)(name.end - name.begin),
                   text + name.begin);
  tvms_diag_fix(diags, diag, (tvms_span){name.end, name.end + 1}, false, "[");
  tvms_diag_fix(diags, diag, (tvms_span){whole.end - 1, whole.end}, false, "]");
  return TVMS_UNKNOWN;
}

tvms_eval_value tvms_eval_call(tvms_reader *reader, tvms_eval_value callee,
                               tvms_ref call) {
  if (!tvms_eval_count_step(reader, call)) return TVMS_UNKNOWN;
  if (!tvms_eval_value_is_known(callee)) return call_unknown(reader, call);
  const tvms_eval_value_ops *ops = tvms_eval_ops_of(reader, callee);
  if (ops->call) return ops->call(reader, callee, call);
  return tvms_eval_report_cannot_call(reader, callee, call);
}
