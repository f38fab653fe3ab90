// Blocks that reduce to several values at once.
//
//   A[i], B[i] = A[i] + X[i, k], B[i] + X[i, k] * X[i, k]     two sums: two statements
//
//   I[i], M[i] = (I[i] or k, M[i] or X[i, k])                 where the greatest is, and how great
//
// The second is first the greatest, and then the first (or last) step at which it is met.
#ifndef TVMS_PASSES_TIR_CPU_TUPLES_H
#define TVMS_PASSES_TIR_CPU_TUPLES_H

#include "passes/tir/cpu/stage.h"

enum { TVMS_MOST_PARTS = 8 };

// One statement for each value that the block in `nest` reduces to, in the order in which they must run;
// their number is returned, 0 if the nest is something else. The same bits come out, but
// where a search meets a NaN; searches are taken apart only if `searches` is true. With a NaN the step that is
// found is one of the steps, or what the search begins with. What is stored and what is loaded must be
// apart.
uint32_t tvms_cpu_take_tuple_apart(tvms_unit *unit, tvms_node *nest, bool searches,
                                   tvms_node *parts[TVMS_MOST_PARTS]);

#endif
