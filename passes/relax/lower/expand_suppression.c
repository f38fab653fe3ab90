// vision.all_class_non_max_suppression with ONNX's result: boxes that stay are the first rows of
// a table that has room for more, and dynamic_strided_slice takes as many as there are.
// TVM: legalize_ops/vision.py, since 0.24; every part has the name that it gets there.
#include "passes/relax/lower/expand_suppression.h"

#include "ir/build.h"
#include "passes/relax/make.h"

// A call that only says what the PrimFunc of one part is given.
static tvms_node *part(tvms_expansion *e, const tvms_node *node, tvms_legal_part which,
                       tvms_node *TVMS_NULLABLE operand) {
  tvms_unit *unit = e->mutator->unit;
  tvms_node *call = tvms_node_copy(unit, node);
  tvms_as_call(call)->args = tvms_list_copy(unit, &operand, operand ? 1 : 0);
  tvms_node *made = e->compute(e, call, which);
  return made ? tvms_relax_expansion_bind(e, made) : NULL;
}

// The name of the variable is drawn before those of what the slice becomes.
static tvms_node *bind_slice(tvms_expansion *e, tvms_node *const *args) {
  bool dataflow = tvms_relax_in_dataflow(e->mutator);
  tvms_node *slice = tvms_relax_op(e->mutator, TVMS_R_dynamic_strided_slice, args, 4);
  tvms_node *binding =
      tvms_relax_bind(&e->mutator->emitter, slice, dataflow ? "lv" : "gv", dataflow);
  tvms_var_binding *bound = tvms_as_var_binding(binding);
  bound->value = e->legalize(e, slice);
  bound->var->sinfo = bound->value->sinfo;
  tvms_rewrite_emit(&e->mutator->rewriter, binding);
  return bound->var;
}

tvms_node *tvms_relax_expand_suppression(tvms_expansion *e, tvms_node *call) {
  tvms_bytes format =
      tvms_attr_text(tvms_as_call(call), TVMS_ATTR_all_class_nms_output_format);
  if (tvms_bytes_is(format, "tensorflow")) return NULL;
  tvms_node *both = e->compute(e, call, TVMS_LEGAL_RESULT);
  if (!both) return NULL;
  both = tvms_relax_expansion_bind(e, both);
  tvms_node *item = tvms_relax_make_item(e->mutator, both, 0);
  tvms_node *table = tvms_relax_expansion_bind(e, item);
  item = tvms_relax_make_item(e->mutator, both, 1);
  tvms_node *count = tvms_relax_expansion_bind(e, item);
  tvms_node *begin = part(e, call, TVMS_LEGAL_BEGIN, NULL);
  tvms_node *end = part(e, call, TVMS_LEGAL_END, count);
  tvms_node *strides = part(e, call, TVMS_LEGAL_STRIDES, NULL);
  if (!begin || !end || !strides) return NULL;
  tvms_node *args[] = {table, begin, end, strides};
  tvms_node *fields[] = {bind_slice(e, args), count};
  return tvms_relax_make_tuple(e->mutator, fields, 2);
}
