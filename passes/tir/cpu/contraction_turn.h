// Filling a panel from an operand that lies in memory along the sum.
#ifndef TVMS_PASSES_TIR_CPU_CONTRACTION_TURN_H
#define TVMS_PASSES_TIR_CPU_CONTRACTION_TURN_H

#include "passes/tir/cpu/contraction_writer.h"

// Can the moving operand be loaded along the sum for the columns at hand, and be turned in
// registers? Where the number of steps is not known, tvms_contraction_holds_square says when.
bool tvms_contraction_can_turn(const tvms_contraction_writer *w);

// Has the sum, or its block at hand, as many steps as a square? NULL: it has, which is known.
tvms_node *TVMS_NULLABLE tvms_contraction_holds_square(tvms_contraction_writer *w);

// panel[...] = moving operand for the columns at hand, in squares of as many columns and steps of
// the sum as a vector has lanes. The last squares overlap the ones before.
tvms_node *tvms_contraction_fill_turned(tvms_contraction_writer *w);

#endif
