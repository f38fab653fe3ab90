// Doing a step: its values checked and completed, its function called, and what was done kept for the trace.
#ifndef TVMS_SCHEDULE_PERFORM_H
#define TVMS_SCHEDULE_PERFORM_H

#include "schedule/table.h"

// Does a step with one value for each parameter, NONE where none was given: then its initial value counts. `span` is where
// the script says so. False after a report.
TVMS_NODISCARD bool tvms_schedule_perform(tvms_schedule *schedule,
                                          const tvms_sched_row *row,
                                          const tvms_sched_value *args, tvms_span span,
                                          tvms_sched_value *result);

#endif
