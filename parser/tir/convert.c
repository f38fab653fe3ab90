// From values to expressions of TIR.
#include "parser/tir/convert.h"

#include "ir/fold.h"
#include "parser/eval/convert.h"
#include "parser/eval/iterate.h"
#include "parser/tir/access.h"
#include "parser/tir/tir.h"

tvms_node *tvms_eval_to_expr(tvms_reader *reader, tvms_eval_value value, tvms_ref ref) {
  tvms_unit *unit = reader->unit;
  tvms_span span = tvms_reader_span_of(reader, ref);
  switch (value.kind) {
  case TVMS_EVAL_NODE: break;
  case TVMS_EVAL_INT:
    if (value.flags & TVMS_EVAL_LARGE) {
      tvms_reader_report(reader, number_too_big, ref);
      return NULL;
    }
    return tvms_build_literal_int(unit, value.as.i, span);
  case TVMS_EVAL_BOOL: return tvms_bool_imm_new(unit, value.as.i != 0, span);
  case TVMS_EVAL_FLOAT:
    return tvms_build_float(unit, TVMS_DTYPE(FLOAT, 32), value.as.f, span);
  case TVMS_EVAL_STR: return tvms_string_imm_new(unit, value.as.text, value.len, span);
  case TVMS_EVAL_META: return tvms_eval_to_expr(reader, value.as.items[0], ref);
  default:
    tvms_eval_report_wrong_type(reader, ref, NULL, "an expression", value);
    return NULL;
  }
  tvms_node *node = value.as.node;
  if (node->kind == TVMS_NODE_ITER_VAR) return tvms_as_iter_var(node)->var;
  if (tvms_node_class_of(node) == TVMS_CLASS_EXPR) return node;
  if (node->kind == TVMS_NODE_BUFFER_REGION)
    return tvms_tir_region_load(reader, node, ref);
  tvms_eval_report_wrong_type(reader, ref, NULL, "an expression", value);
  return NULL;
}

bool tvms_eval_to_exprs(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                        tvms_list *list) {
  tvms_eval_value one[1] = {value};
  tvms_eval_items items = {one, 1};
  if (!tvms_eval_value_is_known(value)) {
    reader->failed = true;
    return false;
  }
  if (value.kind != TVMS_EVAL_NODE && value.kind != TVMS_EVAL_INT
      && !tvms_eval_iterate(reader, value, ref, &items)) {
    return false;
  }
  *list = (tvms_list){tvms_arena_array(&reader->unit->arena, tvms_node *, items.len),
                      items.len};
  bool known = true;
  for (uint32_t i = 0; i < items.len; i++) {
    list->items[i] = tvms_eval_to_expr(reader, items.items[i], ref);
    known = known && list->items[i];
  }
  if (!known) reader->failed = true;
  return known;
}
