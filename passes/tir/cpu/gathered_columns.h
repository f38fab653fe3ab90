// Columns of a product that do not lie side by side: blocks of few channels, one of two parts of complex numbers.
//
//   Y[o // 4, h, w, o % 4] += X[h, w, k] * W[o // 4, k, o % 4]     vectors of four
//   gathered[k, o] = W[..]; columns[h, w, o] += X[h, w, k] * gathered[k, o]; Y[..] = columns[h, w, o]
#ifndef TVMS_PASSES_TIR_CPU_GATHERED_COLUMNS_H
#define TVMS_PASSES_TIR_CPU_GATHERED_COLUMNS_H

#include "ir/target.h"
#include "passes/tir/cpu/stage.h"

// Gathers the columns of a sum whose result has too few of them side by side for a vector, of 16 bytes without a target.
// False: it stays, and what was made means nothing.
bool tvms_cpu_gather_columns(tvms_unit *unit, const tvms_target *TVMS_NULLABLE target,
                             const tvms_stage *stage, tvms_replacement *made);

#endif
