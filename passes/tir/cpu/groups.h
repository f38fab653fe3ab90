// Axes of a result that are in groups: each group sees operands of its own.
//
//   Y[o] += X[o // 8 * 4 + c] * W[o, c]        o is 8 * g + j: X[4 * g + c] * W[8 * g + j, c]
//
// So it is with the channels of grouped convolutions. With two axes in the place of one, each group is
// a contraction by itself.
#ifndef TVMS_PASSES_TIR_CPU_GROUPS_H
#define TVMS_PASSES_TIR_CPU_GROUPS_H

#include "passes/tir/cpu/stage.h"

// Two axes in the place of the first one of the result that is in groups: the result is stored at
// 8 * g + j. False: there is none, or one axis more would be too many; the stage stays.
bool tvms_cpu_split_groups(tvms_unit *unit, tvms_stage *stage);

// The same for an element-wise stage that loads `buffer` by o // 8: elements in groups, each with what
// was found for its group.
bool tvms_cpu_split_rows(tvms_unit *unit, tvms_stage *stage, const tvms_node *buffer);

// Two axes in the place of `axis`, the inner one of `size` steps, by which its constant extent can be
// divided. False: one axis more would be too many; the stage stays.
bool tvms_cpu_split_axis(tvms_unit *unit, tvms_stage *stage, uint32_t axis,
                         int64_t size);

// Splits an axis of a settled stage, one of those that it sums over if it does, so that a remainder goes that
// steps of it begin anew in, as what was reshaped has them: X[o // 8, (o * 1155 + r) % 9240] is X[g, j * 1155 +
// r]. Looks at what is loaded, or at where it is `stored`. False: there is none.
bool tvms_cpu_split_reshaped(tvms_unit *unit, tvms_stage *stage, bool stored);

#endif
