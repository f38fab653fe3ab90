// Tile programs of 0.25 on: views of buffers and tile primitives.
#include "ir/fold.h"
#include "ir/object.h"
#include "parser/eval_internal.h"
#include "parser/tir_layout.h"
#include "parser/tir_stmt.h"

static tvms_value failed(tvms_reader *reader) {
  reader->failed = true;
  return TVMS_UNKNOWN;
}

tvms_value tvms_view_method(tvms_reader *reader, tvms_node *buffer, tvms_sym name,
                            tvms_ref call) {
  tvms_complain(reader, unknown_attribute, call,
                tvms_describe_value(reader, tvms_value_node(buffer)),
                tvms_text(reader->context, name));
  return failed(reader);
}

void tvms_exit_compose(tvms_reader *reader, tvms_frame *frame) {
  tvms_complain(reader, not_in_tir, frame->ref, "compose_op");
  reader->failed = true;
}

static tvms_value unsupported(tvms_reader *reader, const tvms_call_args *call) {
  return tvms_call_unsupported_call(reader, call);
}

tvms_value tvms_call_wg_reg_tile(tvms_reader *reader, const tvms_call_args *call) {
  return unsupported(reader, call);
}

tvms_value tvms_call_alloc_tcgen05_ldst_frag(tvms_reader *reader,
                                             const tvms_call_args *call) {
  return unsupported(reader, call);
}

tvms_value tvms_call_alloc_cast_frag(tvms_reader *reader, const tvms_call_args *call) {
  return unsupported(reader, call);
}
