// What runs and what holds around an expression while a rewriter goes through a statement, and indices written as the sums of
// iterators that they are there. TVM: IRMutatorWithAnalyzer::IterMapSimplifyWithContext.
//
// A rewriter calls tvms_sched_iter_loop as its enter hook of FOR, and tvms_sched_iter_axes in that of BLOCK; conditions are heard of
// through its watch.
#ifndef TVMS_SCHEDULE_ITER_SCOPE_H
#define TVMS_SCHEDULE_ITER_SCOPE_H

#include "arith/scopes.h"
#include "schedule/scope.h"

typedef struct {
  tvms_rewrite_watch watch;
  tvms_sched *sched;
  tvms_scopes facts;
  tvms_domain_vec domains;   // of loops and axes around
  tvms_node_vec conditions;  // that hold
} tvms_sched_iter;

// Prepares `scope`, in the caller's storage, and makes it the watch of a rewriter.
void tvms_sched_iter_init(tvms_sched_iter *scope, tvms_sched *sched, tvms_rewriter *r);

// Frees what the scope holds.
void tvms_sched_iter_fini(tvms_sched_iter *scope);

// A loop rewritten below, in which its variable runs.
tvms_node *tvms_sched_iter_loop(tvms_sched_iter *scope, tvms_rewriter *r,
                                tvms_node *node);

// Lets the axes of a block run, and returns the mark by which tvms_sched_iter_leave ends that.
uint32_t tvms_sched_iter_axes(tvms_sched_iter *scope, const tvms_block *block);

// Ends the run of the axes of a block.
void tvms_sched_iter_leave(tvms_sched_iter *scope, uint32_t mark);

// The indices as sums of iterators where they are such; a variable stays one where a constant would take its place.
tvms_list tvms_sched_iter_simplify(tvms_sched_iter *scope, tvms_list indices);

#endif
