// Reads that come too early: steps that trust what blocks declare may turn the order of blocks around.
#ifndef TVMS_SCHEDULE_EARLY_H
#define TVMS_SCHEDULE_EARLY_H

#include "schedule/state.h"

// How many of the buffers that blocks allocate are read, in the order of the text, before anything is written to them.
uint32_t tvms_sched_early_reads(const tvms_sched *sched, tvms_node *function);

#endif
