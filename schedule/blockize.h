// Blocks divided between the loops around and those in them: what blockize and tensorize make.
// TVM: src/s_tir/schedule/primitive/blockize_tensorize.cc.
#ifndef TVMS_SCHEDULE_BLOCKIZE_H
#define TVMS_SCHEDULE_BLOCKIZE_H

#include "schedule/schedule.h"
#include "schedule/scope.h"

typedef struct {
  tvms_sched *sched;
  int32_t block;
  int32_t above;  // site, loop or block, whose body the outer block gets into
  bool keep_units;
  tvms_domain_vec outside, inside;  // loops
  tvms_node *outer_predicate, *inner_predicate;
  tvms_iter_part *axes;
  tvms_node_vec outer_axes, outer_values, inner_axes, inner_values;
  tvms_node_map vars;  // axis -> what it is in terms of the new ones
  tvms_analyzer *analyzer;
} tvms_sched_blockizing;

// Prepares the division of `block` by the loops below the site `above` and the others, in the caller's storage.
void tvms_sched_blockize_open(tvms_sched_blockizing *b, tvms_sched *sched,
                              int32_t block, int32_t above, bool keep_units);

// Frees what a division holds.
void tvms_sched_blockize_close(tvms_sched_blockizing *b);

// Divides the block and makes the axes. `first` has the outer ones if several blocks share them. False after a refusal.
TVMS_NODISCARD bool
tvms_sched_blockize_divide(tvms_sched_blockizing *b,
                           const tvms_sched_blockizing *TVMS_NULLABLE first);

// The block in terms of the new axes, simplified where it changed; it has none itself.
tvms_block *tvms_sched_blockize_renamed(tvms_sched_blockizing *b);

// The inner block: `whole`, as tvms_sched_blockize_renamed gives it, with its axes and without what initialises.
tvms_block *tvms_sched_blockize_inner(tvms_sched_blockizing *b,
                                      const tvms_block *whole);

// Regions while the inner axes run.
tvms_list tvms_sched_blockize_widened(tvms_sched_blockizing *b, tvms_list regions);

// The realization of a block.
tvms_node *tvms_sched_blockize_realize(tvms_sched_blockizing *b, tvms_block *block,
                                       const tvms_node_vec *values,
                                       tvms_node *predicate);

// The loops from the block up to the site above, which does not count, around `stmt`.
tvms_node *tvms_sched_blockize_loops(tvms_sched_blockizing *b, tvms_node *stmt);

#endif
