// Operands of sums that lie with zeros between their elements, as transposed convolutions have them.
//
// Before: D[y] = T.if_then_else(y % 2 == 0, X[y // 2], 0)     P[y] = T.if_then_else(2 <= y, D[y - 2], 0)
//         Y[y] += P[y + a] * W[a]
// After:  Y[y] += T.if_then_else(2 <= y + a, T.if_then_else((y + a - 2) % 2 == 0, X[(y + a - 2) // 2], 0), 0) * W[a]
#ifndef TVMS_PASSES_TIR_CPU_SPREAD_OPERANDS_H
#define TVMS_PASSES_TIR_CPU_SPREAD_OPERANDS_H

#include "passes/tir/cpu/distribute.h"

// Computes such operands where sums read them that are taken apart by residues then. The list itself if there are
// none; `d` gets the buffers that nothing uses any more.
tvms_list tvms_cpu_join_spread(tvms_distribution *d, tvms_list stmts);

#endif
