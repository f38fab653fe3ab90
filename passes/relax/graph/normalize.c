// Normalize: the form in which passes want Relax functions.
//
// Before: with R.dataflow(): … R.output(a)      After: with R.dataflow(): … R.output(a, b)
//         with R.dataflow(): … R.output(b)
//
// Empty blocks go and neighbours of one kind become one. That every argument is a leaf, that
// each value has its type and that nobody uses the result of a statement holds of every
// program that tvms has read or made. TVM: relax.transform.Normalize.
#include "passes/functions.h"
#include "passes/relax/blocks.h"
#include "passes/relax/retype.h"

static tvms_node *merge_blocks(tvms_rewriter *rewriter, tvms_node *sequence) {
  return tvms_relax_merge_blocks(rewriter->unit, sequence);
}

static void setup(tvms_rewriter *rewriter) {
  rewriter->leave[TVMS_NODE_SEQ_EXPR] = merge_blocks;
}

void tvms_pass_normalize(tvms_pass_run *run) {
  tvms_functions_rewrite(run, TVMS_NODE_FUNCTION, setup);
}
