// Functions of indices that a script writes.
#ifndef TVMS_SCHEDULE_LAMBDA_H
#define TVMS_SCHEDULE_LAMBDA_H

#include "schedule/reader.h"

// A LAMBDA as a value, whose index map is made when its axes are known.
tvms_sched_value tvms_sched_lambda(tvms_sched_reader *r, tvms_ref ref);

#endif
