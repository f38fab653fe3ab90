// Whether places lead out of a buffer.
#ifndef TVMS_SCHEDULE_ENDS_H
#define TVMS_SCHEDULE_ENDS_H

#include "schedule/scope.h"

// Is an index of a buffer, or of one that the index is read from, known to leave it while the axes of a block run over all of their domains? Where the
// block does something under a condition, which may keep the index inside, it must be known not to.
bool tvms_sched_accesses_leave(tvms_sched *sched, const tvms_block *block,
                               const tvms_node *buffer, tvms_list indices);

// Are ranges of a buffer known to leave it, for any steps of what is around `site`, which counts, too?
bool tvms_sched_ranges_leave(tvms_sched *sched, int32_t site, const tvms_node *buffer,
                             tvms_list ranges);

// May they leave it, as far as is known? For ranges that stood under a condition, which is what kept them inside.
bool tvms_sched_ranges_may_leave(tvms_sched *sched, int32_t site,
                                 const tvms_node *buffer, tvms_list ranges);

#endif
