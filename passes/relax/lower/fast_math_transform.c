// FastMathTransform: expensive functions become PrimFuncs that approximate them.
//
// Before: lv = R.exp(x)
// After:  lv = R.call_tir(cls.fast_exp, (x,), out_ty=R.Tensor((n,), "float32")), and a private
//         PrimFunc fast_exp of a polynomial and a shift of bits
//
// R.exp, R.tanh, R.erf and R.nn.softmax are replaced (te/fast.def), whatever their type: only those
// of float32, and R.erf of float16, are approximated, the others get a PrimFunc of the exact function.
// A call whose shape or data type is not known is refused. TVM fails on modules that call functions
// of their own; here these calls stay. TVM: relax.transform.FastMathTransform.
#include "ir/op.h"
#include "passes/relax/lower/legalized_call.h"
#include "passes/relax/mutator.h"
#include "support/diag_ids.h"

static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  tvms_relax_mutator *m = r->self;
  node = tvms_relax_leave_call(r, node);
  tvms_opcode opcode = tvms_op_called(node);
  if (opcode == TVMS_R_NONE || !tvms_legalize_has_fast(opcode)) return node;
  const tvms_call *call = tvms_as_call(node);
  tvms_unit *unit = tvms_functions_open_unit(m->run);
  tvms_legalized legalized = {0};
  if (!tvms_legalize_fast(unit, m->unit, call, &legalized)) {
    tvms_functions_drop_unit(m->run, unit);
    tvms_diag_report(&m->run->context->diags, TVMS_D_fast_unknown, node->span,
                     tvms_op_of(opcode)->name);
    return node;
  }
  tvms_sym name =
      tvms_functions_add_unique(m->run, legalized.name, unit, legalized.function);
  return tvms_relax_call_legalized(m->unit, call, name, &legalized);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  return tvms_relax_change_calls(run, unit, function, leave_call);
}

void tvms_pass_fast_math_transform(tvms_pass_run *run) {
  tvms_functions_change_by_name(run, TVMS_NODE_FUNCTION, change);
}
