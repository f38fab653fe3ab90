// AnnotateTIROpPattern: every PrimFunc says how it relates elements, for FuseOps.
//
// Before: def add(…)   After: def add(…) with T.func_attr({"op_pattern": 0})
//
// Functions that say so already keep it. TVM: relax.transform.AnnotateTIROpPattern.
#include "ir/object.h"
#include "passes/functions.h"
#include "passes/op_pattern.h"

static tvms_node *annotate(tvms_pass_run *run, tvms_unit *unit, tvms_node *node) {
  tvms_node *attrs = tvms_as_prim_func(node)->attrs;
  int64_t given;
  if (tvms_object_as_int(tvms_object_map_get(attrs, "op_pattern"), &given) && given)
    return node;
  tvms_op_pattern pattern = tvms_op_pattern_of(run->context, unit->dialect, node);
  tvms_node *value = tvms_object_int_new(unit, pattern, (tvms_span){0, 0});
  tvms_node *copy = tvms_node_copy(unit, node);
  tvms_as_prim_func(copy)->attrs =
      tvms_object_map_with(unit, attrs, "op_pattern", value);
  return copy;
}

void tvms_pass_annotate_tir_op_pattern(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, annotate);
}
