// The trace of a schedule: what was done, as TVM writes it.
#ifndef TVMS_SCHEDULE_TRACE_H
#define TVMS_SCHEDULE_TRACE_H

#include "schedule/schedule.h"
#include "support/strbuf.h"

// Appends step `index` as a call: `l1, l2 = sch.get_loops(block=b0)`. TVM: Trace.as_python.
void tvms_trace_write_python(const tvms_schedule *schedule, uint32_t index,
                             tvms_strbuf *out);

// Appends the steps as JSON: [[[kind, inputs, attributes, outputs], …], []]. TVM: Trace.as_json.
void tvms_trace_write_json(const tvms_schedule *schedule, tvms_strbuf *out);

#endif
