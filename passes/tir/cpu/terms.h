// Sums to which each step adds several values.
//
// Before: for k in range(n): C[i, j] = C[i, j] + A[j, k] * B[i, k] + B[j, k] * A[i, k]
// After:  for k in range(n): C[i, j] = C[i, j] + (A[j, k] * B[i, k] + B[j, k] * A[i, k])
#ifndef TVMS_PASSES_TIR_CPU_TERMS_H
#define TVMS_PASSES_TIR_CPU_TERMS_H

#include "ir/node.h"

// The statement with one term for each sum: what is added in a step is added up first. The statement itself if it has
// none of several terms.
tvms_node *tvms_cpu_join_terms(tvms_unit *unit, tvms_node *stmt);

#endif
