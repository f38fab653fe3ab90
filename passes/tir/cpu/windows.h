// Windows whose reduction can be done along one axis after the other.
#ifndef TVMS_PASSES_TIR_CPU_WINDOWS_H
#define TVMS_PASSES_TIR_CPU_WINDOWS_H

#include "passes/tir/cpu/stage.h"

// Splits a sum, greatest or least over windows in two statements where that halves the work: the
// reduction of each column of the windows, which all windows that have it share, and that of the columns of a
// window. `buffer` is what stands between, for the root block to allocate. Returns false if the stage is something
// else. `reorders`: sums of floats may be added up in another order.
TVMS_NODISCARD bool tvms_cpu_take_window_apart(tvms_unit *unit, const tvms_stage *stage,
                                               bool reorders, tvms_node *stmts[2],
                                               tvms_node **buffer);

#endif
