// Loops whose numbers of steps are known to be none or more.
#ifndef TVMS_PASSES_TIR_CPU_COUNTED_LOOPS_H
#define TVMS_PASSES_TIR_CPU_COUNTED_LOOPS_H

#include "ir/node.h"

// Are there loops in what stands in the loops `around`, and do all have no less than no steps, as many as variables and
// numbers say? What schedules divide into vectors must be so.
bool tvms_cpu_loops_are_counted(tvms_unit *unit, tvms_list around, tvms_node *body);

// Is a statement one loop, without others inside, that goes across the lines of memory more than along them? Vectors gain
// nothing there.
bool tvms_cpu_loop_goes_across(tvms_unit *unit, tvms_node *stmt);

#endif
