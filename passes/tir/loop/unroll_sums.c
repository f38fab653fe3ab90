// UnrollSums: loops that add to vectors take several of their steps at a time.
//
// Before: for k in range(64):
//             for i in T.unroll(6): S[i * 16:i * 16 + 16] = S[i * 16:i * 16 + 16] + A[k] * B[k * 16:k * 16 + 16]
// After:  for k in range(16):
//             for u in T.unroll(4):
//                 for i in T.unroll(6): S[...] = S[...] + A[k * 4 + u] * B[(k * 4 + u) * 16:(k * 4 + u) * 16 + 16]
//
// Counting steps and addresses takes instructions beside multiply-add units that have something to do in every
// cycle: tiles of 14 rows by 2 vectors take 3 % less time on a Sapphire Rapids. From 24 sums on, the tiles of AVX-512, it
// is hidden (Zen 4), while twice as many take a seventh more of the time to compile. Steps keep their order. Loops are taken
// that are a straight line of stores of vectors at places that no step changes, with a number of steps that four,
// three or two divide. TVM has no such pass: its users split and unroll the loop in their schedules.
#include "ir/build.h"
#include "ir/fold.h"
#include "ir/stmt.h"
#include "ir/walk.h"
#include "passes/functions.h"

enum {
  WIDEST = 512,        // bits of a register; longer vectors count as several stores
  MOST_IN_FOUR = 24,   // stores in the new body, with four steps
  MOST_IN_TWO = 46,    // with two
  MOST_IN_THREE = 69,  // with three, which is taken if two do not divide the loop
  MOST_IN_FUNCTION = 1024,  // code generation is to keep its full optimisation
  NO_SUMS = -1
};

typedef struct {
  int64_t most;    // steps
  int64_t stores;  // added so far
} unroller;

static bool depends(tvms_unit *unit, tvms_list indices, const tvms_node *var) {
  for (uint32_t i = 0; i < indices.len; i++) {
    if (tvms_walk_contains(&unit->context->memory, indices.items[i], var)) return true;
  }
  return false;
}

static int64_t count_sums(tvms_unit *unit, const tvms_node *stmt, const tvms_node *var);

static int64_t count_in_sequence(tvms_unit *unit, tvms_list stmts,
                                 const tvms_node *var) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < stmts.len; i++) {
    int64_t count = count_sums(unit, stmts.items[i], var);
    if (count == NO_SUMS || (sum += count) > MOST_IN_THREE) return NO_SUMS;
  }
  return sum;
}

static int64_t count_in_loop(tvms_unit *unit, const tvms_for *loop,
                             const tvms_node *var) {
  if (loop->for_kind != TVMS_FOR_UNROLLED || !tvms_node_is_int_imm(loop->extent))
    return NO_SUMS;
  int64_t extent = tvms_as_int_imm(loop->extent)->value;
  if (extent < 1 || extent > MOST_IN_THREE) return NO_SUMS;
  int64_t count = count_sums(unit, loop->body, var);
  return count == NO_SUMS || count * extent > MOST_IN_THREE ? NO_SUMS : count * extent;
}

// Vectors that a step of the loop over `var` adds to, or NO_SUMS if it does something else, or too much. What is fetched
// into the caches counts as nothing.
static int64_t count_sums(tvms_unit *unit, const tvms_node *stmt,
                          const tvms_node *var) {
  int64_t kinds[3];
  switch ((int)stmt->kind) {
  case TVMS_NODE_SEQ: return count_in_sequence(unit, tvms_as_seq(stmt)->stmts, var);
  case TVMS_NODE_FOR: return count_in_loop(unit, tvms_as_for(stmt), var);
  case TVMS_NODE_EVALUATE:
    return tvms_call_prefetched(tvms_as_evaluate(stmt)->value, kinds) ? 0 : NO_SUMS;
  case TVMS_NODE_STORE: {
    const tvms_store *store = tvms_as_store(stmt);
    bool sums = store->value->dtype.lanes > 1 && !depends(unit, store->indices, var);
    int64_t bits = (int64_t)store->value->dtype.lanes * store->value->dtype.bits;
    return sums ? (bits + WIDEST - 1) / WIDEST : NO_SUMS;
  }
  default: return NO_SUMS;
  }
}

// Steps to take together, or 1.
static int64_t steps_of(const unroller *u, int64_t extent, int64_t stores) {
  static const struct {
    int64_t steps, most;
  } choices[] = {{4, MOST_IN_FOUR}, {2, MOST_IN_TWO}, {3, MOST_IN_THREE}};
  for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
    int64_t steps = choices[i].steps, most = choices[i].most;
    bool fits =
        stores * steps <= most && u->stores + stores * (steps - 1) <= MOST_IN_FUNCTION;
    if (steps <= u->most && extent % steps == 0 && fits) return steps;
  }
  return 1;
}

static tvms_node *take_together(tvms_unit *unit, const tvms_for *loop, int64_t extent,
                                int64_t steps) {
  tvms_node *outer = tvms_var_like(unit, loop->var),
            *inner = tvms_var_like(unit, loop->var);
  tvms_node *by = tvms_int_imm_new(unit, outer->dtype, steps, TVMS_NO_SPAN);
  tvms_node *at = tvms_build_binary(unit, TVMS_NODE_MUL, outer, by, TVMS_NO_SPAN);
  at = tvms_build_binary(unit, TVMS_NODE_ADD, at, inner, TVMS_NO_SPAN);
  tvms_node *body = tvms_substitute_one(unit, loop->body, loop->var, at);
  body = tvms_stmt_loop_like(unit, loop, inner, TVMS_FOR_UNROLLED, steps, body);
  return tvms_stmt_loop_like(unit, loop, outer, TVMS_FOR_SERIAL, extent / steps, body);
}

static tvms_node *leave_loop(tvms_rewriter *rewriter, tvms_node *node) {
  unroller *u = rewriter->self;
  const tvms_for *loop = tvms_as_for(node);
  bool plain = loop->for_kind == TVMS_FOR_SERIAL && !loop->annotations
               && (!loop->step || tvms_node_is_int(loop->step, 1))
               && tvms_node_is_int(loop->min, 0) && tvms_node_is_int_imm(loop->extent);
  if (!plain) return node;
  int64_t stores = count_sums(rewriter->unit, loop->body, loop->var);
  if (stores < 1) return node;
  int64_t extent = tvms_as_int_imm(loop->extent)->value;
  int64_t steps = steps_of(u, extent, stores);
  if (steps == 1 || extent < 1) return node;
  u->stores += stores * (steps - 1);
  return take_together(rewriter->unit, loop, extent, steps);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  unroller u = {.most = TVMS_OPTION(run, UnrollSums, steps).number};
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &u);
  rewriter.leave[TVMS_NODE_FOR] = leave_loop;
  tvms_node *changed = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  return changed;
}

void tvms_pass_unroll_sums(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
