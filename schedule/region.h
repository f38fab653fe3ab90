// Regions of buffers that blocks touch while loops around them run.
#ifndef TVMS_SCHEDULE_REGION_H
#define TVMS_SCHEDULE_REGION_H

#include "arith/int_set.h"
#include "schedule/scope.h"

// The BUFFER_REGION of a list that names a buffer, or NULL.
tvms_node *TVMS_NULLABLE tvms_sched_region_of(tvms_list regions,
                                              const tvms_node *buffer);

// `node` with the axes of a block replaced by what they are bound to.
tvms_node *tvms_sched_bound(tvms_sched *sched, const tvms_block_realize *realize,
                            tvms_node *node);

// A BUFFER_REGION in terms of loops, and the loops that run: from site `low` up to below `high`.
typedef struct {
  tvms_node *region;
  tvms_node *predicate;
  int32_t low, high;
} tvms_sched_span;

// Finds what the region covers, one set per dimension: with `upper` sets that hold it, otherwise exactly. Loops of threads further
// up run, too, where they share what is stored in the buffer. False: not exactly known.
TVMS_NODISCARD bool tvms_sched_cover(tvms_sched *sched, const tvms_sched_span *span,
                                     bool upper, tvms_int_set *sets);

// Adds the loops of threads, from `site` on upwards, that share what is stored in a buffer.
void tvms_sched_add_threads(tvms_sched *sched, const tvms_node *buffer, int32_t site,
                            tvms_domain_vec *domains);

// The ranges that hold a region of a block in terms of loops, cut to the buffer where they are not known. `condition` may be NULL.
tvms_list tvms_sched_relax(tvms_sched *sched, int32_t block, tvms_node *region,
                           int32_t high, tvms_node *TVMS_NULLABLE condition);

// Is it known that a block, and those in it, write all places of these ranges of a buffer while the loops up to the site `high` run? As far as is
// seen: each must be a sum of loops without gaps.
bool tvms_sched_writes_all(tvms_sched *sched, int32_t block, const tvms_node *buffer,
                           int32_t high, tvms_list ranges);

// Do the blocks of a scope write before all that `consumer` reads of them? TVM: region_cover.
bool tvms_sched_is_covered(tvms_sched *sched, int32_t consumer);

// All of a buffer as ranges, which begin at an int32, as TVM has them.
tvms_list tvms_sched_full_ranges(tvms_sched *sched, const tvms_node *buffer);

#endif
