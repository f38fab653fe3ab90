// DispatchSortScan: sorting, running sums and products as the device at hand does them.
//
// Before: lv = R.sort(x, axis=0)
// After:  lv = R.call_tir(cls.sort, (x,), out_ty=R.Tensor((n,), "float32")), and a private
//         PrimFunc sort, which calls the packed function tvm.contrib.sort.sort
//
// What each operator becomes stands in te/dispatch.def, for CPUs; TVM asks for a target, and a
// call without a device is one for a CPU here. TVM's kernels for GPUs are not built: a call for
// one stays, with a note. So does a call whose shapes are not known, where TVM fails.
// TVM: relax.backend.DispatchSortScan.
#include "ir/op.h"
#include "passes/relax/lower/legalized_call.h"
#include "passes/relax/mutator.h"
#include "passes/relax/on_gpu.h"
#include "support/diag_ids.h"

static tvms_node *dispatch(tvms_rewriter *r, tvms_node *node) {
  tvms_relax_mutator *m = r->self;
  node = tvms_relax_leave_call(r, node);
  if (tvms_op_called(node) == TVMS_R_NONE) return node;
  const tvms_call *call = tvms_as_call(node);
  tvms_unit *unit = tvms_functions_open_unit(m->run);
  tvms_legalized legalized = {0};
  if (!tvms_legalize_dispatched(unit, m->unit, call, &legalized)) {
    tvms_functions_drop_unit(m->run, unit);
    return node;
  }
  if (tvms_relax_is_on_gpu(m->unit, node->sinfo)) {
    tvms_functions_drop_unit(m->run, unit);
    tvms_diag_report(&m->run->context->diags, TVMS_D_kernel_not_built, node->span,
                     tvms_op_of(tvms_op_called(node))->name);
    return node;
  }
  tvms_sym name =
      tvms_functions_add_unique(m->run, legalized.name, unit, legalized.function);
  return tvms_relax_call_legalized(m->unit, call, name, &legalized);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  return tvms_relax_change_calls(run, unit, function, dispatch);
}

void tvms_pass_dispatch_sort_scan(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
