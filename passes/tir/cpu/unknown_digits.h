// Quotients and remainders by sizes that are not known.
#ifndef TVMS_PASSES_TIR_CPU_UNKNOWN_DIGITS_H
#define TVMS_PASSES_TIR_CPU_UNKNOWN_DIGITS_H

#include "passes/tir/cpu/stage.h"

// `index` with (x * m + y) // m as x and (x * m + y) % m as y, where y is an axis of the stage that has m steps: what is left
// of a reshape that another one undoes.
tvms_node *tvms_stage_settle_digits(tvms_unit *unit, const tvms_stage *stage,
                                    tvms_node *index);

#endif
