// ConvertBlocksToOpaque: block variables are replaced by what they are bound to.
//
// Before: v_i = T.axis.spatial(n, i); Y[v_i] = X[v_i]   After: Y[i] = X[i]
//
// The blocks stay, without variables. Where a loop counts in another type than the variable of the
// block, its value is cast; TVM leaves operands of two types. TVM: s_tir.transform.ConvertBlocksToOpaque.
#include "ir/fold.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "support/diag_ids.h"

// A variable of the block in what is computed before the block begins is refused.
static void refuse_own(tvms_unit *unit, const tvms_node *node, const tvms_node *part,
                       const tvms_block *block) {
  tvms_memory *memory = &unit->context->memory;
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_node *var = tvms_as_iter_var(block->iter_vars.items[i])->var;
    if (!tvms_walk_contains(memory, (tvms_node *)(uintptr_t)part, var)) continue;
    tvms_diag_report(&unit->context->diags, TVMS_D_block_variable_early, node->span,
                     tvms_symbol_text(unit->context, tvms_as_var(var)->name));
    return;
  }
}

static tvms_node *convert(tvms_rewriter *rewriter, tvms_node *node) {
  const tvms_block_realize *realize = tvms_as_block_realize(node);
  const tvms_block *block = tvms_as_block(realize->block);
  if (block->iter_vars.len == 0) return TVMS_REWRITE_BELOW;
  tvms_unit *unit = rewriter->unit;
  refuse_own(unit, node, realize->predicate, block);
  for (uint32_t i = 0; i < realize->iter_values.len; i++)
    refuse_own(unit, node, realize->iter_values.items[i], block);
  tvms_node *predicate = tvms_rewrite(rewriter, realize->predicate);
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *iter = tvms_as_iter_var(block->iter_vars.items[i]);
    tvms_node *value = tvms_rewrite(rewriter, realize->iter_values.items[i]);
    // A loop may count in another type than the block's variable.
    tvms_node *cast = tvms_build_cast(unit, iter->var->dtype, value, TVMS_NO_SPAN);
    tvms_node_map_put(&rewriter->known, iter->var, cast ? cast : value);
  }
  tvms_node *opaque = tvms_node_copy(unit, &block->head);
  tvms_as_block(opaque)->iter_vars = (tvms_list){0};
  tvms_node *copy = tvms_node_copy(unit, node);
  tvms_as_block_realize(copy)->iter_values = (tvms_list){0};
  tvms_as_block_realize(copy)->predicate = predicate;
  tvms_as_block_realize(copy)->block = tvms_rewrite_below(rewriter, opaque);
  return copy;
}

static void setup(tvms_rewriter *rewriter) {
  rewriter->enter[TVMS_NODE_BLOCK_REALIZE] = convert;
}

void tvms_pass_convert_blocks_to_opaque(tvms_pass_run *run) {
  tvms_functions_rewrite(run, TVMS_NODE_PRIM_FUNC, setup);
}
