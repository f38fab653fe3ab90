// T.TileLayout.trainium: layouts of Trainium by a letter for each dimension.
#include "arith/layout_trainium.h"
#include "parser/eval/convert.h"
#include "parser/tile/handlers.h"
#include "parser/tir/convert.h"

// T.TileLayout.trainium("PF", shape, is_psum=False).
tvms_eval_value tvms_call_layout_trainium(tvms_reader *reader,
                                          const tvms_call_args *call) {
  tvms_list shape;
  tvms_eval_value axes = call->args[0];
  bool psum;
  if (!tvms_eval_to_exprs(reader, call->args[1], call->refs[1], &shape)
      || !tvms_eval_to_flag(reader, call->args[2], call->refs[2], &psum)) {
    return tvms_reader_failed(reader);
  }
  tvms_node *layout = NULL;
  if (axes.kind == TVMS_EVAL_STR) {
    const char *text = tvms_arena_text(&reader->values, axes.as.text, axes.len);
    layout = tvms_layout_trainium(reader->unit, text, shape, psum);
  }
  if (layout) return tvms_eval_value_node(layout);
  tvms_eval_report_wrong_type(reader, call->refs[0],
                              "the layout of a buffer of Trainium",
                              "a letter P or F for each dimension that fits", axes);
  return tvms_reader_failed(reader);
}
