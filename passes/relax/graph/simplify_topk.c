// SimplifyTopK: the one greatest or least element along an axis is a reduction, and its place another.
//
// Before: lv = R.topk(x, k=1, axis=-1, ret_type="both", largest=True, dtype="int64"); gv = lv[0]
// After:  gv = R.max(x, axis=[-1], keepdims=True)
//
// PyTorch's max and min along an axis are exported so. A function of the run time would sort each row. Of equal
// elements both take the first one; where a row has NaN, the results may differ. Places are those of argmax or argmin, and what
// nothing uses is not computed. TVM has no such pass.
#include "ir/object.h"
#include "passes/relax/graph/canonicalize_bindings.h"
#include "passes/relax/graph/dead_code_elimination.h"
#include "passes/relax/graph/op_calls.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

// The place of the greatest or least element of each row, as the data type that topk gives.
static tvms_node *places(tvms_relax_mutator *m, const tvms_call *call, bool largest,
                         int64_t axis) {
  tvms_node *x = call->args.items[0];
  tvms_dtype dtype = tvms_attr_dtype(call, TVMS_ATTR_topk_dtype);
  tvms_node *attrs[TVMS_ATTR_arg_reduction_COUNT] = {
      [TVMS_ATTR_arg_reduction_axis] = tvms_object_int_new(m->unit, axis, TVMS_NO_SPAN),
      [TVMS_ATTR_arg_reduction_keepdims] =
          tvms_object_bool_new(m->unit, true, TVMS_NO_SPAN),
  };
  tvms_opcode op = largest ? TVMS_R_argmax : TVMS_R_argmin;
  tvms_node *made = tvms_relax_op_with(m, op, &x, 1, attrs);
  if (tvms_dtype_same(made->sinfo->dtype, dtype)) return made;
  tvms_node *to = tvms_object_dtype_new(m->unit, dtype, TVMS_NO_SPAN);
  return tvms_relax_op_with(m, TVMS_R_astype, &made, 1, &to);
}

// The results that `call` asks for; NULL: there is not one element of each row, or it is a truth.
static tvms_node *TVMS_NULLABLE reductions(tvms_relax_mutator *m,
                                           const tvms_call *call) {
  tvms_node *x = call->args.items[0];
  if (tvms_attr_int(call, TVMS_ATTR_topk_k, 1) != 1 || !tvms_sinfo_is_tensor(x->sinfo)
      || tvms_dtype_is_void(x->sinfo->dtype) || tvms_dtype_is_bool(x->sinfo->dtype))
    return NULL;
  int64_t axis = tvms_attr_int(call, TVMS_ATTR_topk_axis, -1);
  bool largest = tvms_attr_bool(call, TVMS_ATTR_topk_largest);
  tvms_bytes what = tvms_attr_text(call, TVMS_ATTR_topk_ret_type);
  if (tvms_bytes_is(what, "indices")) return places(m, call, largest, axis);
  tvms_opcode op = largest ? TVMS_R_max : TVMS_R_min;
  tvms_node *most = tvms_relax_op_reduce(m, op, x, &axis, 1, true);
  if (tvms_bytes_is(what, "values")) return most;
  tvms_node *both[] = {most, places(m, call, largest, axis)};
  return tvms_relax_make_tuple(m, both, 2);
}

static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  tvms_relax_mutator *m = r->self;
  node = tvms_relax_leave_call(r, node);
  if (tvms_op_called(node) != TVMS_R_topk) return node;
  tvms_node *made = reductions(m, tvms_as_call(node));
  return made ? tvms_relax_settle(m, made) : node;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  tvms_node *made = tvms_relax_change_calls(run, unit, function, leave_call);
  if (made == function) return function;
  made = tvms_relax_canonicalize_checked(run, unit, made);
  return tvms_dead_code_clean(run, unit, made);
}

void tvms_pass_simplify_topk(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
