// The state of ScheduleCPU, and what others ask it for.
#ifndef TVMS_PASSES_TIR_CPU_SCHEDULE_CPU_H
#define TVMS_PASSES_TIR_CPU_SCHEDULE_CPU_H

#include "ir/node_map.h"
#include "ir/target.h"
#include "passes/functions.h"
#include "passes/tir/cpu/contraction.h"
#include "passes/tir/cpu/shared_memory.h"

typedef struct {
  tvms_pass_run *run;
  tvms_unit *unit;
  const tvms_prim_func *function;
  tvms_target target;
  uint32_t mask_bits;  // as in tvms_chain
  tvms_node_map gone;  // buffers that nothing uses any more
  bool reorders;       // sums of floats may be taken in lanes
  bool noalias;        // buffers of parameters are apart
  bool rooted;         // there is a root block
  bool within;         // a block inside of loops: what it does stays on one thread
  bool untiled;        // contractions are rows like everything else
  bool threaded;       // a statement of it has so much to do that it runs on threads,
                       // or one of what is called before or behind it
  const tvms_cpu_views *views;
  tvms_node_map shared;     // buffers that are views of one memory, in the body at hand
  tvms_node_vec preparers;  // statements in front of all others
  tvms_node_vec added;      // buffers for the root block to allocate
  tvms_list around;         // loops that stay around what is at hand
  tvms_list axes;           // of blocks that do
} tvms_cpu_scheduler;

// What is made from now on has the place of this statement. Returns where the unit was before.
tvms_span tvms_cpu_begin_at(tvms_cpu_scheduler *s, const tvms_node *stmt);

// What becomes of the body of a function or a block that allocates these buffers; NULL: it stays.
tvms_node *TVMS_NULLABLE tvms_cpu_schedule_body(tvms_cpu_scheduler *s,
                                                tvms_list allocated, tvms_node *body);

// The buffers that are still allocated: without those that nothing uses any more, and with those that were added.
tvms_list tvms_cpu_without_gone(tvms_cpu_scheduler *s, tvms_list allocated);

#endif
