// Contractions as ScheduleCPU makes them.
#ifndef TVMS_PASSES_TIR_CPU_SCHEDULE_CONTRACTION_H
#define TVMS_PASSES_TIR_CPU_SCHEDULE_CONTRACTION_H

#include "passes/tir/cpu/schedule_cpu.h"

// Says why a stage that sums up is not tiled.
void tvms_cpu_tell_not_tiled(tvms_cpu_scheduler *s, const tvms_stage *stage,
                             const char *why);

// The statement in the place of number `at`, if that is a contraction, and of `*used` behind it; NULL: it is none.
tvms_node *TVMS_NULLABLE tvms_cpu_schedule_contraction(tvms_cpu_scheduler *s,
                                                       tvms_list allocated,
                                                       tvms_list stmts, uint32_t at,
                                                       uint32_t *used);

#endif
