// AnnotateIrregularLoop: loops that T.break_loop or T.continue_loop may leave are marked.
//
// Before: for i in range(n): if c: T.break_loop()
// After:  for i in T.serial(n, annotations={"irregular_loop_mark": 1}): ...
//
// The mark keeps passes that count steps away from the loop. Only serial loops may be left
// early, and none that asks to be unrolled, partitioned or pipelined.
// TVM: s_tir.transform.AnnotateIrregularLoop. It does not have the option: with `serial`, loops that ask to be unrolled or run
// otherwise are serial ones without what they ask for, since passes behind it would let a jump leave the loop around.
#include "ir/build.h"
#include "ir/object.h"
#include "passes/functions.h"
#include "support/diag_ids.h"

// Annotations that count on every step being made.
static const char *const regular[] = {
    "pragma_auto_unroll_max_step",
    "pragma_unroll_explicit",
    "pragma_loop_partition_hint",
    "software_pipeline_stage",
};

typedef struct {
  bool serial;  // every loop that a jump may leave is
  bool jumps;   // something in the body at hand leaves the step
} marking;

static bool is_annotated(const tvms_for *loop) {
  for (size_t i = 0; i < sizeof regular / sizeof *regular; i++) {
    if (tvms_object_map_get(loop->annotations, regular[i])) return true;
  }
  return false;
}

static tvms_node *without_wishes(tvms_unit *unit, tvms_node *annotations) {
  for (size_t i = 0; i < sizeof regular / sizeof *regular; i++)
    annotations = tvms_object_map_with(unit, annotations, regular[i], NULL);
  return annotations;
}

static tvms_node *mark(tvms_rewriter *rewriter, tvms_node *node) {
  const marking *m = rewriter->self;
  tvms_unit *unit = rewriter->unit;
  const tvms_for *loop = tvms_as_for(node);
  bool regular_only = loop->for_kind != TVMS_FOR_SERIAL || is_annotated(loop);
  if (regular_only && !m->serial) {
    tvms_diag_report(&unit->context->diags, TVMS_D_irregular_loop, node->span);
    return node;
  }
  tvms_node *copy = tvms_node_copy(unit, node);
  tvms_node *kept = loop->annotations;
  if (regular_only) kept = without_wishes(unit, kept);
  tvms_as_for(copy)->for_kind = TVMS_FOR_SERIAL;
  tvms_as_for(copy)->annotations = tvms_object_map_with(
      unit, kept, "irregular_loop_mark", tvms_object_int_new(unit, 1, TVMS_NO_SPAN));
  return copy;
}

// Rewrites what is inside a loop; *jumps tells whether something in it leaves the step.
static tvms_node *rewrite_body(tvms_rewriter *rewriter, tvms_node *node, bool *jumps) {
  marking *m = rewriter->self;
  bool outer = m->jumps;
  m->jumps = false;
  node = tvms_rewrite_below(rewriter, node);
  *jumps = m->jumps;
  m->jumps = outer;
  return node;
}

static tvms_node *enter_for(tvms_rewriter *rewriter, tvms_node *node) {
  bool jumps;
  node = rewrite_body(rewriter, node, &jumps);
  return jumps ? mark(rewriter, node) : node;
}

static tvms_node *enter_while(tvms_rewriter *rewriter, tvms_node *node) {
  bool jumps;
  return rewrite_body(rewriter, node, &jumps);
}

static tvms_node *enter_evaluate(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_tir_opcode op = tvms_call_opcode(tvms_as_evaluate(node)->value);
  if (op == TVMS_TIR_break_loop || op == TVMS_TIR_continue_loop)
    ((marking *)rewriter->self)->jumps = true;
  return node;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  marking m = {.serial = TVMS_OPTION(run, AnnotateIrregularLoop, serial).number != 0};
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &m);
  rewriter.roles = TVMS_IN(BODY);
  rewriter.enter[TVMS_NODE_FOR] = enter_for;
  rewriter.enter[TVMS_NODE_WHILE] = enter_while;
  rewriter.enter[TVMS_NODE_EVALUATE] = enter_evaluate;
  function = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  return function;
}

void tvms_pass_annotate_irregular_loop(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
