// Factors of a sum that are the same in all of its steps.
#ifndef TVMS_PASSES_TIR_CPU_FACTORS_H
#define TVMS_PASSES_TIR_CPU_FACTORS_H

#include "passes/tir/cpu/stage.h"

// Splits a sum of products of reals, which begins with 0, in two statements: the sum of what depends on
// its steps, and its product with the factors that do not (scales of weights, say). `buffer` is what
// stands between, for the root block to allocate. Returns false if there is no such factor. The
// result is rounded otherwise, as when sums are taken in lanes.
TVMS_NODISCARD bool tvms_cpu_take_factors_out(tvms_unit *unit, const tvms_stage *stage,
                                              tvms_node *stmts[2], tvms_node **buffer);

#endif
