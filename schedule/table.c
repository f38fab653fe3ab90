// The rows of schedule/instructions.def as tables.
#include "schedule/table.h"

#include "schedule/steps.h"

#include <string.h>

static const tvms_sched_param params[] = {
#define STEP(Kind, name, former, FormerKind, function)
#define PARAM(Kind, name, type, place, initial)                                        \
  {#name, TVMS_PARAM_##type, TVMS_PLACE_##place, initial},
#include "schedule/instructions.def"
};

// Indices of parameters: PARAM_Split_loop; and of a row's first one.
enum {
#define STEP(Kind, name, former, FormerKind, function)                                 \
  FIRST_##Kind, BEFORE_##Kind = FIRST_##Kind - 1,
#define PARAM(Kind, name, type, place, initial) PARAM_##Kind##_##name,
#include "schedule/instructions.def"
  PARAM_COUNT
};

static const tvms_sched_row rows[] = {
#define STEP(Kind, name, former, FormerKind, function)                                 \
  {#Kind, #name, former, FormerKind, tvms_step_##function, FIRST_##Kind},
#define PARAM(Kind, name, type, place, initial)
#include "schedule/instructions.def"
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

const tvms_sched_row *TVMS_NULLABLE tvms_schedule_row_at(uint32_t index) {
  return index < ROW_COUNT ? &rows[index] : NULL;
}

uint32_t tvms_schedule_param_count(const tvms_sched_row *row) {
  const tvms_sched_row *next = row + 1;
  uint32_t end = next < rows + ROW_COUNT ? next->first : PARAM_COUNT;
  return end - row->first;
}

const tvms_sched_param *tvms_schedule_param(const tvms_sched_row *row, uint32_t index) {
  return &params[row->first + index];
}

const tvms_sched_row *TVMS_NULLABLE tvms_schedule_find_row(const char *name) {
  for (uint32_t i = 0; i < ROW_COUNT; i++) {
    const tvms_sched_row *row = &rows[i];
    const char *const names[] = {row->name, row->kind, row->former, row->former_kind};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
      if (names[k][0] && strcmp(names[k], name) == 0) return row;
  }
  return NULL;
}
