// DispatchSampling: samples from distributions as the device at hand draws them.
//
// Before: y = R.multinomial_from_uniform(prob, u, rows, dtype="int64")
// After:  lv = R.cumsum(prob, axis=1, dtype="float32", exclusive=False)
//         y = R.call_tir(cls.get_sample_index, (lv, u, rows), out_ty=…), and a private PrimFunc
//         get_sample_index, which looks for the first running sum that is greater
//
// The running sum is left to DispatchSortScan. TVM asks for a target, and a call without a
// device is one for a CPU here. TVM's kernels for GPUs are not built: a call for one stays,
// with a note. So does a call whose shapes are not known, where TVM fails.
// TVM: relax.backend.DispatchSampling.
#include "ir/object.h"
#include "passes/relax/make.h"
#include "passes/relax/mutator.h"
#include "passes/relax/on_gpu.h"
#include "support/diag_ids.h"
#include "te/legalize.h"
#include "te/sample_index.h"

enum { SUMS, SAMPLES, ROWS, OPERANDS };

static tvms_node *running_sum(tvms_relax_mutator *m, tvms_node *prob) {
  tvms_unit *unit = m->unit;
  tvms_node *attrs[] = {tvms_object_int_new(unit, 1, TVMS_NO_SPAN),
                        tvms_object_dtype_new(unit, prob->sinfo->dtype, TVMS_NO_SPAN),
                        tvms_object_bool_new(unit, false, TVMS_NO_SPAN)};
  tvms_node *sum = tvms_relax_op_with(m, TVMS_R_cumsum, &prob, 1, attrs);
  return tvms_relax_emit(&m->emitter, &m->rewriter, sum,
                         tvms_relax_in_dataflow(m) ? "lv" : "gv");
}

static tvms_node *draw(tvms_relax_mutator *m, tvms_node *node) {
  tvms_list args = tvms_as_call(node)->args;
  tvms_unit *unit = tvms_functions_open_unit(m->run);
  tvms_te_sample_dtypes dtypes = {
      .sums = args.items[SUMS]->sinfo->dtype,
      .samples = args.items[SAMPLES]->sinfo->dtype,
      .rows = args.items[ROWS]->sinfo->dtype,
      .places = node->sinfo->dtype,
  };
  tvms_node *function = tvms_te_sample_index(unit, &dtypes);
  if (!function) {
    tvms_functions_drop_unit(m->run, unit);
    return node;
  }
  tvms_sym name = tvms_functions_add_unique(m->run, "get_sample_index", unit, function);
  tvms_node *operands[OPERANDS] = {running_sum(m, args.items[SUMS]),
                                   args.items[SAMPLES], args.items[ROWS]};
  tvms_list all = tvms_list_copy(m->unit, operands, OPERANDS);
  return tvms_relax_make_call_tir(m->unit, name, all, node->sinfo, node->span);
}

static tvms_node *dispatch(tvms_rewriter *r, tvms_node *node) {
  tvms_relax_mutator *m = r->self;
  node = tvms_relax_leave_call(r, node);
  tvms_opcode opcode = tvms_op_called(node);
  if (opcode != TVMS_R_multinomial_from_uniform
      || !tvms_legalize_is_possible(tvms_as_call(node))) {
    return node;
  }
  if (!tvms_relax_is_on_gpu(m->unit, node->sinfo)) return draw(m, node);
  tvms_diag_report(&m->run->context->diags, TVMS_D_kernel_not_built, node->span,
                   tvms_op_of(opcode)->name);
  return node;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  return tvms_relax_change_calls(run, unit, function, dispatch);
}

void tvms_pass_dispatch_sampling(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
