// Traces in JSON.
#ifndef TVMS_SCHEDULE_JSON_H
#define TVMS_SCHEDULE_JSON_H

#include "schedule/reader.h"

// Does a trace: the list that the text is. False after a report.
TVMS_NODISCARD bool tvms_sched_json_run(tvms_sched_reader *r, tvms_ref list);

#endif
