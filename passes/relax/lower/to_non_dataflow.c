// ToNonDataflow: dataflow blocks become plain ones, their variables plain variables.
//
// Before: with R.dataflow(): lv = R.exp(x); R.output(lv)   After: lv = R.exp(x)
//
// Neighbouring plain blocks become one. TVM: relax.transform.ToNonDataflow.
#include "passes/functions.h"
#include "support/vec.h"

static tvms_node *plain_variable(tvms_rewriter *rewriter, tvms_node *var) {
  if (!(var->flags & TVMS_FLAG_DATAFLOW) || !tvms_dtype_is_void(var->dtype)) return var;
  tvms_node *plain = tvms_node_copy(rewriter->unit, var);
  plain->flags &= (uint8_t)~TVMS_FLAG_DATAFLOW;
  return plain;
}

static tvms_node *plain_block(tvms_rewriter *rewriter, tvms_node *block) {
  if (!(block->flags & TVMS_FLAG_DATAFLOW)) return block;
  tvms_node *plain = tvms_node_copy(rewriter->unit, block);
  plain->flags &= (uint8_t)~TVMS_FLAG_DATAFLOW;
  return plain;
}

static tvms_node *join_blocks(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_list blocks = tvms_as_seq_expr(node)->blocks;
  if (blocks.len < 2) return node;
  tvms_memory *memory = &rewriter->unit->context->memory;
  TVMS_VEC(tvms_node *) bindings = {0};
  for (uint32_t i = 0; i < blocks.len; i++) {
    tvms_list part = tvms_as_binding_block(blocks.items[i])->bindings;
    for (uint32_t j = 0; j < part.len; j++)
      tvms_vec_push(memory, &bindings, part.items[j]);
  }
  tvms_binding_block *block =
      tvms_node_make(rewriter->unit, BINDING_BLOCK, blocks.items[0]->span);
  block->bindings = tvms_list_copy(rewriter->unit, bindings.items, bindings.len);
  tvms_vec_fini(memory, &bindings);
  tvms_node *joined = tvms_node_copy(rewriter->unit, node);
  tvms_node *only = &block->head;
  tvms_as_seq_expr(joined)->blocks = tvms_list_copy(rewriter->unit, &only, 1);
  return joined;
}

static void setup(tvms_rewriter *rewriter) {
  rewriter->enter[TVMS_NODE_VAR] = plain_variable;
  rewriter->leave[TVMS_NODE_BINDING_BLOCK] = plain_block;
  rewriter->leave[TVMS_NODE_SEQ_EXPR] = join_blocks;
}

void tvms_pass_to_non_dataflow(tvms_pass_run *run) {
  tvms_functions_rewrite(run, TVMS_NODE_FUNCTION, setup);
}
