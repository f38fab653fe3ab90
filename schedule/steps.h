// The functions of the steps: what the rows of schedule/instructions.def name.
#ifndef TVMS_SCHEDULE_STEPS_H
#define TVMS_SCHEDULE_STEPS_H

#include "schedule/schedule.h"

#define STEP(Kind, name, former, FormerKind, function)                                 \
  tvms_step_function tvms_step_##function;
#define PARAM(Kind, name, type, place, initial)
#include "schedule/instructions.def"

// Indices of the parameters of a step: TVMS_ARG(Split, factors).
enum {
#define STEP(Kind, name, former, FormerKind, function)                                 \
  TVMS_ARG_FIRST_##Kind, TVMS_ARG_BEFORE_##Kind = TVMS_ARG_FIRST_##Kind - 1,
#define PARAM(Kind, name, type, place, initial) TVMS_ARG_AT_##Kind##_##name,
#include "schedule/instructions.def"
};
#define TVMS_ARG(Kind, name) (TVMS_ARG_AT_##Kind##_##name - TVMS_ARG_FIRST_##Kind)

#endif
