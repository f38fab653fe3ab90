// Stages that store in turns: real and imaginary parts, pairs that are rotated, channels of pixels.
//
//   Y[2 * d] = a[d]; Y[2 * d + 1] = b[d]     two stages: vectors of both are zipped, and stored side by side
#ifndef TVMS_PASSES_TIR_CPU_ZIP_H
#define TVMS_PASSES_TIR_CPU_ZIP_H

#include "ir/target.h"
#include "passes/tir/cpu/chain.h"

// The loops in the place of the stages from `at` on that take turns in storing along a line, as many as `*count`
// says then; NULL: they do not. `threads`: the outermost loop is worth them.
tvms_node *TVMS_NULLABLE tvms_cpu_zip(const tvms_chain *chain, uint32_t at,
                                      const tvms_target *target, bool threads,
                                      uint32_t *count);

#endif
