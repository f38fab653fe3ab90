// Choices of the greater or the less of two.
//
// Before: if A[i, k] > B[i]: B[i] = A[i, k]            T.if_then_else(a < b, a, b)
// After:  B[i] = T.max(A[i, k], B[i])                  T.min(a, b)
#ifndef TVMS_PASSES_TIR_CPU_EXTREMES_H
#define TVMS_PASSES_TIR_CPU_EXTREMES_H

#include "ir/node.h"

// The statement with T.max and T.min for choices that give the same, whatever is compared. The statement itself if it has none.
tvms_node *tvms_cpu_find_extremes(tvms_unit *unit, tvms_node *stmt);

#endif
