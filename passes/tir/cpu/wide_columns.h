// Sums along the columns of large tensors, several rows at a time.
//
//   for g: sums[:] = 0                                    columns whose sums the first cache holds
//     for kb: for j: for k in 8: sums[j] += X[kb * 8 + k, g + j]
//     Y[g + j] = sums[j]
//
// Sums that stay in registers for all rows read a few lines of each row, and then those of the next one, which are in another page.
#ifndef TVMS_PASSES_TIR_CPU_WIDE_COLUMNS_H
#define TVMS_PASSES_TIR_CPU_WIDE_COLUMNS_H

#include "ir/target.h"
#include "passes/tir/cpu/rows.h"

// The loops of the first member of a group, if it sums along such columns and no other one sums; elements are combined in the
// order of the text. `cores`: of threads that are worth while. NULL: it does not, or reads too little.
tvms_node *TVMS_NULLABLE tvms_cpu_wide_columns(tvms_unit *unit,
                                               const tvms_line_group *group,
                                               const tvms_target *target,
                                               int64_t cores);

#endif
