// Operands of products that lie across the sum.
#ifndef TVMS_PASSES_TIR_CPU_TURNED_OPERANDS_H
#define TVMS_PASSES_TIR_CPU_TURNED_OPERANDS_H

#include "ir/target.h"
#include "passes/tir/cpu/stage.h"

// Splits a contraction whose resting operand lies along its rows in memory, and not along the sum, in two statements where
// that pays for itself: a copy of the operand that lies along the sum, and the contraction with it. `buffer` is
// the copy, for the root block to allocate. Returns false if the stage is something else or stays as it is.
TVMS_NODISCARD bool tvms_cpu_turn_operand(tvms_unit *unit, const tvms_target *target,
                                          const tvms_stage *stage, tvms_node *stmts[2],
                                          tvms_node **buffer);

#endif
