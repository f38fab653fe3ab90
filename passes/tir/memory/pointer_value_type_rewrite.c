// PointerValueTypeRewrite: buffers that are read and written in vectors hold vectors.
//
// Before: A: T.Buffer((16,), "float32"); A[i * 4:i * 4 + 4] = x
// After:  A: T.Buffer((4,), "float32x4"); A[T.Div(i * 4, 4)] = x
//
// Parameters change, too. A buffer with accesses of several lengths stays; single elements that
// are read are picked from the vector. In 0.22 pointers that are parameters or bound change in the
// same way. TVM also gives memory that is accessed as one other type that type, even where its
// size would be another; here it keeps its own. TVM: tirx.transform.PointerValueTypeRewrite.
#include "passes/functions.h"
#include "passes/tir/memory/vector_types.h"

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  (void)run;
  tvms_vector_type_options options = {.params = true, .shuffles = true};
  return tvms_vector_types_rewrite(unit, function, options);
}

void tvms_pass_pointer_value_type_rewrite(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
