// LowerInitBlock: T.init() becomes an `if` on the first step of every reduced axis.
//
// Before: with T.init(): Y[v_i] = 0.0   After: if v_k == 0: Y[v_i] = 0.0
//
// Without a reduced axis what initialises comes first, with no condition. TVM:
// s_tir.transform.LowerInitBlock.
#include "ir/fold.h"
#include "passes/functions.h"

static tvms_node *first_step(tvms_unit *unit, const tvms_block *block) {
  tvms_node *condition = NULL;
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *iter = tvms_as_iter_var(block->iter_vars.items[i]);
    if (iter->iter_type != TVMS_ITER_COMM_REDUCE) continue;
    tvms_node *min = tvms_as_range(iter->dom)->min;
    tvms_node *first =
        tvms_build_binary(unit, TVMS_NODE_EQ, iter->var, min, TVMS_NO_SPAN);
    condition = condition ? tvms_build_binary(unit, TVMS_NODE_AND, condition, first,
                                              TVMS_NO_SPAN)
                          : first;
  }
  return condition;
}

static tvms_node *lower_init(tvms_rewriter *rewriter, tvms_node *node) {
  const tvms_block *block = tvms_as_block(node);
  if (!block->init) return node;
  tvms_unit *unit = rewriter->unit;
  tvms_node *condition = first_step(unit, block);
  tvms_node *init = block->init;
  if (condition) {
    tvms_if_then_else *branch = tvms_node_make(unit, IF_THEN_ELSE, block->init->span);
    branch->condition = condition;
    branch->then_case = block->init;
    init = &branch->head;
  }
  tvms_node *copy = tvms_node_copy(unit, node);
  tvms_as_block(copy)->init = NULL;
  tvms_as_block(copy)->body = tvms_stmt_pair(unit, init, block->body);
  return copy;
}

static void setup(tvms_rewriter *rewriter) {
  rewriter->leave[TVMS_NODE_BLOCK] = lower_init;
}

void tvms_pass_lower_init_block(tvms_pass_run *run) {
  tvms_functions_rewrite(run, TVMS_NODE_PRIM_FUNC, setup);
}
