// SkipAssert: assertions go.
//
// Before: assert n > 0; A[0] = 1.0   After: A[0] = 1.0
//
// What they promise is not used by later passes any more. TVM: tirx.transform.SkipAssert.
#include "ir/build.h"
#include "passes/functions.h"

static tvms_node *TVMS_NULLABLE skip(tvms_rewriter *rewriter, tvms_node *node) {
  (void)rewriter;
  (void)node;
  return NULL;
}

static void setup(tvms_rewriter *rewriter) {
  rewriter->enter[TVMS_NODE_ASSERT] = skip;
}

void tvms_pass_skip_assert(tvms_pass_run *run) {
  tvms_functions_rewrite(run, TVMS_NODE_PRIM_FUNC, setup);
}
