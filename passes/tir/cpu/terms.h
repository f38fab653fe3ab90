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

// A nest that takes products away from a result, as one that adds them up with the other sign, which can be given to the sum
// behind it: C[i, j] - A[i, k] * B[k, j] is C[i, j] + A[i, k] * B[k, j] * -1. The statement itself if it is none.
tvms_node *tvms_cpu_add_difference(tvms_unit *unit, tvms_node *stmt);

#endif
