// RemoveAssume: promises about values go.
//
// Before: T.assume(A[0] == 0); B[0] = 1   After: B[0] = 1
//
// T.assume says what simplification may rely on and is never executed. RemoveNoOp then takes
// away what has become empty. TVM: tirx.transform.RemoveAssume.
#include "ir/build.h"
#include "passes/functions.h"

static tvms_node *leave_evaluate(tvms_rewriter *r, tvms_node *node) {
  bool promise = tvms_call_opcode(tvms_as_evaluate(node)->value) == TVMS_TIR_assume;
  return promise ? tvms_stmt_none(r->unit, node->span) : node;
}

static void setup(tvms_rewriter *rewriter) {
  rewriter->leave[TVMS_NODE_EVALUATE] = leave_evaluate;
}

void tvms_pass_remove_assume(tvms_pass_run *run) {
  tvms_functions_rewrite(run, TVMS_NODE_PRIM_FUNC, setup);
  run->part(run, "RemoveNoOp");
}
