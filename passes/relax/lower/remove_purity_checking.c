// RemovePurityChecking: pure functions are taken at their word, wrappers that promise
// purity go.
//
// Before: lv = R.call_pure_packed("f", x)
// After:  R.func_attr({"relax.force_pure": True}); lv = R.call_packed("f", x)
//
// Functions that are not pure get no attribute, and calls of other kinds stay.
// TVM: relax.transform.RemovePurityChecking.
#include "ir/object.h"
#include "ir/op.h"
#include "passes/functions.h"

static tvms_node *unwrap_call(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_opcode opcode = tvms_op_called(node);
  bool packed =
      opcode == TVMS_R_call_pure_packed || opcode == TVMS_R_call_inplace_packed;
  if (!packed && opcode != TVMS_R_invoke_pure_closure) return node;
  tvms_node *copy = tvms_node_copy(rewriter->unit, node);
  tvms_call *call = tvms_as_call(copy);
  call->attrs = (tvms_list){0};
  if (packed) {
    call->callee = call->args.items[0];
    call->args = (tvms_list){call->args.items + 1, call->args.len - 1};
  } else {
    call->callee = tvms_op_operator_new(rewriter->unit, TVMS_R_invoke_closure);
  }
  return copy;
}

static tvms_node *force_pure(tvms_rewriter *rewriter, tvms_node *function) {
  if (!(function->flags & TVMS_FLAG_PURE)) return function;
  tvms_node *copy = tvms_node_copy(rewriter->unit, function);
  tvms_node *yes = tvms_object_bool_new(rewriter->unit, true, (tvms_span){0, 0});
  tvms_node *attrs = tvms_as_function(copy)->attrs;
  tvms_as_function(copy)->attrs =
      tvms_object_map_with(rewriter->unit, attrs, "relax.force_pure", yes);
  return copy;
}

static void setup(tvms_rewriter *rewriter) {
  rewriter->leave[TVMS_NODE_CALL] = unwrap_call;
  rewriter->leave[TVMS_NODE_FUNCTION] = force_pure;
}

void tvms_pass_remove_purity_checking(tvms_pass_run *run) {
  tvms_functions_rewrite(run, TVMS_NODE_FUNCTION, setup);
}
