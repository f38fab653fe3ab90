// Statements of a body in forms that ScheduleCPU can schedule.
//
// Loops get one statement each (distribute.c, reroll.c), sums a constant to begin with (initials.c), reductions to several
// values (tuples.c) and windows (windows.c) are taken apart, what is computed in front of a sum, or need not be, is moved
// (producers.c, factors.c, early_stages.c, late_operands.c).
#ifndef TVMS_PASSES_TIR_CPU_PREPARE_H
#define TVMS_PASSES_TIR_CPU_PREPARE_H

#include "ir/node_map.h"
#include "passes/manager.h"

typedef struct {
  tvms_pass_run *run;
  tvms_unit *unit;
  bool reorders;         // sums of floats may be taken in another order
  bool rooted;           // there is a block that allocates buffers
  bool noalias;          // buffers of parameters are apart
  tvms_list allocated;   // by the block around; gets those that are made
  tvms_node_vec *added;  // gets the buffers that are made
  tvms_node_map *gone;   // gets those that nothing uses any more
} tvms_preparation;

// The statements as they can be scheduled. The list lives in the unit's arena.
tvms_list tvms_cpu_prepare(tvms_preparation *p, tvms_list stmts);

#endif
