// HoistExpression: conditions and bindings move out of loops that they do not depend on.
//
// Before: for i in range(16): if n < 3: A[i] = 0.0 else: A[i] = 1.0
// After:  if n < 3: for i in range(16): A[i] = 0.0
//         else: for i in range(16): A[i] = 1.0
//
// The body of the loop stands in both branches, and each is simplified by its condition.
// Nothing moves across several statements, or if it reads or has effects. The options are
// sets of flags, as in TVM (passes/tir/loop/hoist.h). TVM: s_tir.transform.HoistExpression.
#include "passes/functions.h"
#include "passes/tir/loop/hoist.h"

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  return tvms_stmt_hoist(
      run, unit, function,
      TVMS_OPTION(run, HoistExpression, hoisted_conditionals).number,
      TVMS_OPTION(run, HoistExpression, hoisted_let_bindings).number);
}

void tvms_pass_hoist_expression(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
