// Schedules as texts: TVM's traces in Python's form and in JSON, and what people write by hand.
//
//   b = sch.get_sblock("C")
//   i, j, k = sch.get_loops(b)
//   i0, i1 = sch.split(i, [None, 4])
//   sch.reorder(i0, j, k, i1)
//
// A line is a call of a step (schedule/instructions.def), or an assignment of its result. Lists may be taken
// apart, indexed and given with a star; no other Python is understood. A text that is one list is a trace in JSON:
// [[[kind, inputs, attributes, outputs], …], decisions].
#ifndef TVMS_SCHEDULE_SCRIPT_H
#define TVMS_SCHEDULE_SCRIPT_H

#include "schedule/schedule.h"

// Does what a text says, to the first step that cannot be done. False after a report.
TVMS_NODISCARD bool tvms_schedule_run_script(tvms_schedule *schedule,
                                             tvms_source *source);

// The same for steps that stand in a program's comments, behind a line `# SCHEDULE:` and up to a line that is no comment. False also
// if there are none.
TVMS_NODISCARD bool tvms_schedule_run_comments(tvms_schedule *schedule,
                                               tvms_source *program);

#endif
