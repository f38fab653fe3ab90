// A script that is being done: its surface tree and the names it has given. What schedule/script.c is made of.
#ifndef TVMS_SCHEDULE_READER_H
#define TVMS_SCHEDULE_READER_H

#include "grammar/surface.h"
#include "schedule/schedule.h"

typedef struct {
  tvms_sym name;
  tvms_sched_value value;
} tvms_sched_binding;

typedef struct {
  tvms_schedule *schedule;
  tvms_context *context;
  tvms_surface *surface;
  TVMS_VEC(tvms_sched_binding) names;
} tvms_sched_reader;

// Gives a name a value; an older one is forgotten.
void tvms_sched_reader_bind(tvms_sched_reader *r, tvms_sym name,
                            tvms_sched_value value);

// The value of a name, or NULL.
const tvms_sched_value *TVMS_NULLABLE tvms_sched_reader_find(const tvms_sched_reader *r,
                                                             tvms_sym name);

// Reports that something else should stand at a node, and returns false.
TVMS_NODISCARD bool tvms_sched_reader_expected(tvms_sched_reader *r, tvms_ref ref,
                                               const char *what);

// A list with room for `count` values.
tvms_sched_value tvms_sched_reader_list(tvms_sched_reader *r, uint32_t count);

// The value of an expression; calls are done. False after a report.
TVMS_NODISCARD bool tvms_sched_reader_value(tvms_sched_reader *r, tvms_ref ref,
                                            tvms_sched_value *value);

#endif
