// Statements of a body in forms that ScheduleCPU can schedule.
//
// Loops get one statement each (tails.c, distribute.c, reroll.c) and no less than no steps (loop_extents.c), sums one term (terms.c), operands their padding (padded_operands.c), sums a
// constant to begin with (initials.c), reductions to several values (tuples.c) and windows (windows.c) are taken apart,
// what is computed in front of a sum, or need not be, is moved (producers.c, factors.c, early_stages.c, late_operands.c),
// operands that lie across the sum are turned
// (turned_operands.c), and sums of products of bytes taken four steps at a time (quads.c).
#ifndef TVMS_PASSES_TIR_CPU_PREPARE_H
#define TVMS_PASSES_TIR_CPU_PREPARE_H

#include "ir/target.h"
#include "passes/manager.h"
#include "passes/tir/cpu/distribute.h"

typedef struct {
  tvms_pass_run *run;
  const tvms_target *TVMS_NULLABLE target;  // tvms_cpu_prepare needs it
  bool rooted;                              // there is a block that allocates buffers
  bool noalias;                             // buffers of parameters are apart
  const tvms_prim_func *TVMS_NULLABLE function;  // tvms_cpu_prepare needs it
  tvms_list around, axes;  // loops around the statements, and axes of blocks around
  tvms_distribution body;
} tvms_preparation;

// Loops in a form in which stages have them: one for each axis, around one statement. The list itself if nothing changes,
// else one in the unit's arena.
tvms_list tvms_cpu_straighten(tvms_preparation *p, tvms_list stmts);

// The statements as they can be scheduled. The list lives in the unit's arena.
tvms_list tvms_cpu_prepare(tvms_preparation *p, tvms_list stmts);

#endif
