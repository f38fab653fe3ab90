// Which steps of a block are needed: from the region that others need, the domains of the block's axes.
// TVM: src/s_tir/schedule/primitive/compute_at.cc.
#ifndef TVMS_SCHEDULE_AXIS_DOMAINS_H
#define TVMS_SCHEDULE_AXIS_DOMAINS_H

#include "arith/int_set.h"
#include "schedule/scope.h"

// Of an axis: what it must take, and the bound within which it may; either may be empty: nothing is known.
typedef struct {
  tvms_int_set dom, bound;
} tvms_axis_domain;

// What is asked: `block` moves to below `loop`, and the others are the blocks there that it serves.
typedef struct {
  int32_t block, loop;
  const tvms_site_vec *others;
  bool
      writes;  // what the block writes is needed (compute_at); else what it reads is provided
} tvms_axis_question;

// Finds the domain of each axis of the block. The analyzer knows the loops around. False after a refusal.
TVMS_NODISCARD bool tvms_axis_domains_find(tvms_sched *sched,
                                           const tvms_axis_question *question,
                                           tvms_analyzer *analyzer,
                                           tvms_axis_domain *domains);

#endif
