// CanonicalizeLoop: loops begin at 0 and go in steps of 1.
//
// Before: for i in T.serial(2, n, step=3): A[i] = 0.0
// After:  for i in range((n + 2) // 3): A[i * 3 + 2] = 0.0
//
// Other loops stay as they are. A step that is not provably positive is refused: the loop
// might never end. TVM: s_tir.transform.CanonicalizeLoop.
#include "arith/analyzer.h"
#include "ir/fold.h"
#include "passes/functions.h"
#include "support/diag_ids.h"

static tvms_node *leave_loop(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_unit *unit = rewriter->unit;
  const tvms_for *loop = tvms_as_for(node);
  bool single = !loop->step || tvms_node_is_int(loop->step, 1);
  if (single && tvms_node_is_int(loop->min, 0)) return node;
  tvms_node *step = loop->step;
  if (!step) step = tvms_int_imm_new(unit, loop->var->dtype, 1, TVMS_NO_SPAN);
  tvms_analyzer *analyzer = tvms_analyzer_new(unit);
  if (!tvms_analyzer_can_prove_ge(analyzer, step, 1)) {
    tvms_diag_report(&unit->context->diags, TVMS_D_loop_step, node->span);
    tvms_analyzer_free(analyzer);
    return node;
  }
  tvms_span none = TVMS_NO_SPAN;
  tvms_node *place = tvms_build_binary(unit, TVMS_NODE_MUL, loop->var, step, none);
  place = tvms_build_binary(unit, TVMS_NODE_ADD, place, loop->min, none);
  tvms_node *count = tvms_build_ceil_div(unit, loop->extent, step, none);
  tvms_node *copy = tvms_node_copy(unit, node);
  tvms_for *changed = tvms_as_for(copy);
  changed->body = tvms_substitute_one(unit, loop->body, loop->var, place);
  changed->min = tvms_int_imm_new(unit, loop->var->dtype, 0, none);
  changed->extent = tvms_analyzer_simplify(analyzer, count);
  changed->step = NULL;
  tvms_analyzer_free(analyzer);
  return copy;
}

static void setup(tvms_rewriter *rewriter) {
  rewriter->leave[TVMS_NODE_FOR] = leave_loop;
}

void tvms_pass_canonicalize_loop(tvms_pass_run *run) {
  tvms_functions_rewrite(run, TVMS_NODE_PRIM_FUNC, setup);
}
