// Stages that compute anew, in place, what the stage in front has stored.
//
// Before: for i: Y[i] = A[i] + B[i]     for i: Y[i] = T.max(Y[i], 0)
// After:  for i: Y[i] = T.max(A[i] + B[i], 0)
#ifndef TVMS_PASSES_TIR_CPU_OVERWRITTEN_H
#define TVMS_PASSES_TIR_CPU_OVERWRITTEN_H

#include "passes/tir/cpu/chain.h"

// Joins such stages of a chain whose buffers are apart. What takes long is computed as often as before.
void tvms_chain_join_overwritten(tvms_chain *chain);

#endif
