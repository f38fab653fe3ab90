// UnrollLoop: the steps of short loops written out.
//
// Before: for i in T.unroll(2): A[i] = 0.0   After: A[0] = 0.0; A[1] = 0.0
//
// Loops marked T.unroll are written out always, serial ones if they are short enough for
// the options and hold no loop that stays. TVM: tirx.transform.UnrollLoop.
#include "ir/fold.h"
#include "passes/functions.h"

typedef struct {
  int64_t max_step;
  int64_t max_depth;
  int64_t max_extent;
  bool explicit_unroll;
  bool over;  // the bound was reported
  // Of the part of the function gone through so far:
  int64_t steps;
  int64_t unrolled;  // depth of loops written out
  int64_t kept;      // depth of loops that stay
} unroller;

// No program has more statements in one loop; without a bound nested loops fill all memory.
enum { MOST_STEPS = 1 << 20 };

// Sizes beyond this count as not known, as in TVM.
static int64_t extent_of(const tvms_for *loop) {
  if (!tvms_node_is_int_imm(loop->extent)) return -1;
  int64_t extent = tvms_as_int_imm(loop->extent)->value;
  return extent <= INT32_MAX ? extent : -1;
}

static tvms_node *write_out(tvms_unit *unit, const tvms_for *loop, int64_t extent) {
  tvms_memory *memory = &unit->context->memory;
  tvms_node_vec stmts = {0};
  for (int64_t i = 0; i < extent; i++) {
    tvms_node *step = tvms_int_imm_new(unit, loop->var->dtype, i, TVMS_NO_SPAN);
    tvms_node *value =
        tvms_build_binary(unit, TVMS_NODE_ADD, loop->min, step, TVMS_NO_SPAN);
    // Each step defines variables of its own.
    tvms_node *body = i > 0 ? tvms_stmt_copy(unit, loop->body) : loop->body;
    body = tvms_substitute_one(unit, body, loop->var, value);
    tvms_stmt_push(memory, &stmts, body);
  }
  return tvms_stmt_seq(unit, &stmts, loop->head.span);
}

static tvms_node *leave_loop(tvms_rewriter *rewriter, tvms_node *node) {
  unroller *u = rewriter->self;
  const tvms_for *loop = tvms_as_for(node);
  int64_t extent = extent_of(loop);
  bool automatic = loop->for_kind == TVMS_FOR_SERIAL && extent >= 0 && u->kept == 0
                   && u->unrolled <= u->max_depth;
  automatic &= extent * u->steps <= u->max_step || extent <= u->max_extent;
  bool marked = loop->for_kind == TVMS_FOR_UNROLLED;
  if (marked && extent < 0) {
    tvms_diag_report(&rewriter->unit->context->diags, TVMS_D_unroll_extent, node->span);
    return node;
  }
  if (!automatic && !marked) {
    u->kept++;
    return node;
  }
  if (u->over) return node;
  if (u->explicit_unroll && (u->steps + 1) * extent > MOST_STEPS) {
    u->over = true;
    tvms_diag_report(&rewriter->unit->context->diags, TVMS_D_unroll_limit, node->span,
                     (uint32_t)MOST_STEPS);
    return node;
  }
  u->steps *= extent;
  u->unrolled++;
  if (u->explicit_unroll || (extent <= u->max_extent && u->max_extent == 1)) {
    return write_out(rewriter->unit, loop, extent);
  }
  if (marked) return node;
  tvms_node *copy = tvms_node_copy(rewriter->unit, node);
  tvms_as_for(copy)->for_kind = TVMS_FOR_UNROLLED;
  return copy;
}

static tvms_node *count_step(tvms_rewriter *rewriter, tvms_node *node) {
  unroller *u = rewriter->self;
  u->steps++;
  return node;
}

// Each statement of a sequence is judged on its own; what it cost adds up.
static tvms_node *enter_seq(tvms_rewriter *rewriter, tvms_node *node) {
  unroller *u = rewriter->self;
  tvms_unit *unit = rewriter->unit;
  tvms_list old = tvms_as_seq(node)->stmts;
  tvms_node_vec stmts = {0};
  bool same = true;
  for (uint32_t i = 0; i < old.len; i++) {
    unroller before = *u;
    u->steps = u->unrolled = u->kept = 0;
    tvms_node *stmt = tvms_rewrite(rewriter, old.items[i]);
    u->steps += before.steps;
    if (before.kept > u->kept) u->kept = before.kept;
    if (before.unrolled > u->unrolled) u->unrolled = before.unrolled;
    same &= stmt == old.items[i];
    tvms_stmt_push(&unit->context->memory, &stmts, stmt);
  }
  if (!same) return tvms_stmt_seq(unit, &stmts, node->span);
  tvms_vec_fini(&unit->context->memory, &stmts);
  return node;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  unroller u = {
      .max_step = TVMS_OPTION(run, UnrollLoop, auto_max_step).number,
      .max_depth = TVMS_OPTION(run, UnrollLoop, auto_max_depth).number,
      .max_extent = TVMS_OPTION(run, UnrollLoop, auto_max_extent).number,
      .explicit_unroll = TVMS_OPTION(run, UnrollLoop, explicit_unroll).number,
  };
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &u);
  rewriter.leave[TVMS_NODE_FOR] = leave_loop;
  rewriter.leave[TVMS_NODE_STORE] = count_step;
  rewriter.leave[TVMS_NODE_EVALUATE] = count_step;
  rewriter.enter[TVMS_NODE_SEQ] = enter_seq;
  tvms_node *changed = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  return changed;
}

void tvms_pass_unroll_loop(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
