// Do functions of indices tell all places apart? TVM does not ask everywhere, and then elements are lost.
#ifndef TVMS_SCHEDULE_INJECTIVE_H
#define TVMS_SCHEDULE_INJECTIVE_H

#include "schedule/state.h"

// Is it proved that the variables, which run from 0 over `extents`, are known where `indices` are? False also if that is not known.
bool tvms_sched_is_injective(tvms_sched *sched, tvms_list vars, tvms_list extents,
                             tvms_list indices);

#endif
