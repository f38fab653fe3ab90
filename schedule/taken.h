// Which steps of its axes the loops around a block take, and whether some are taken again.
#ifndef TVMS_SCHEDULE_TAKEN_H
#define TVMS_SCHEDULE_TAKEN_H

#include "schedule/scope.h"

// Refuses a block of which it is known that it leaves out steps of its axes where the binding says nothing of it: a loop that does not begin at 0 is
// divided. TVM does not ask, though loop_partition makes such loops.
TVMS_NODISCARD bool tvms_sched_check_steps(tvms_sched *sched, int32_t block);

// The same, and refuses a block of which it is known that an axis does not take all of its domain while the loops of the scope run. With `reduced` only
// reduced axes count.
TVMS_NODISCARD bool tvms_sched_check_whole(tvms_sched *sched, int32_t block,
                                           bool reduced);

// Would a loop that no axis uses, or loops whose windows may overlap, do single steps of a reduction again, those of a loop further out? TVM does not
// ask.
bool tvms_sched_repeats_steps(tvms_sched *sched, int32_t block);

// Refuses a block whose condition says more than that its axes stay in their domains, and would be lost with its loops. TVM does not ask.
TVMS_NODISCARD bool tvms_sched_check_condition(tvms_sched *sched, int32_t block);

#endif
