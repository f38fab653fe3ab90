// Planning copies that turn: how large their squares are, and of which axes.
#ifndef TVMS_PASSES_TIR_CPU_ROWS_TURN_H
#define TVMS_PASSES_TIR_CPU_ROWS_TURN_H

#include "passes/tir/cpu/rows_plan.h"

// Plans squares of a member that loads one thing, `load`, along the axis around its line (turn.h), if it has room for them.
// Axes that lie side by side with one of the two in all that is loaded and stored become one with it in the member. `most`: lanes of
// a vector of the elements.
void tvms_line_plan_turn(tvms_unit *unit, tvms_line_member *member, tvms_node *load,
                         const tvms_target *target, int64_t most,
                         tvms_line_pass_plan *plan);

#endif
