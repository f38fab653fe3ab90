// Functions of indices that a trace in JSON has.
#ifndef TVMS_SCHEDULE_GRAPH_H
#define TVMS_SCHEDULE_GRAPH_H

#include "schedule/reader.h"

// An index map as a text (TVM's serialization of objects) as a value.
tvms_sched_value tvms_sched_graph(tvms_sched_reader *r, const char *text,
                                  tvms_span span);

#endif
