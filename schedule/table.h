// The steps that schedules have, and their parameters.
#ifndef TVMS_SCHEDULE_TABLE_H
#define TVMS_SCHEDULE_TABLE_H

#include "schedule/schedule.h"

// The row of a method ("get_block" too) or of a kind of a trace; NULL: there is none.
const tvms_sched_row *TVMS_NULLABLE tvms_schedule_find_row(const char *name);

// Row `index` of the table, or NULL behind the last one.
const tvms_sched_row *TVMS_NULLABLE tvms_schedule_row_at(uint32_t index);

// How many parameters a row has.
uint32_t tvms_schedule_param_count(const tvms_sched_row *row);

// Parameter `index` of a row.
const tvms_sched_param *tvms_schedule_param(const tvms_sched_row *row, uint32_t index);

#endif
