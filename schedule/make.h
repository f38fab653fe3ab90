// Parts of what steps make: axes, points of buffers, blocks that copy, and the loops around them.
#ifndef TVMS_SCHEDULE_MAKE_H
#define TVMS_SCHEDULE_MAKE_H

#include "schedule/state.h"

// A fresh variable "ax3": letters and a number.
tvms_node *tvms_sched_numbered(tvms_sched *sched, const char *letters, uint32_t number,
                               tvms_dtype dtype);

// A fresh variable of this name.
tvms_node *tvms_sched_named(tvms_sched *sched, const char *name, tvms_dtype dtype);

// A spatial axis `var` from 0 to `extent`, whose dtype the 0 has, too.
tvms_node *tvms_sched_axis(tvms_sched *sched, tvms_node *var, tvms_node *extent);

// The region of one element: each range is an index and 1.
tvms_node *tvms_sched_point(tvms_sched *sched, tvms_node *buffer,
                            tvms_node *const *indices, uint32_t rank);

// buffer[indices] = value
tvms_node *tvms_sched_store(tvms_sched *sched, tvms_node *buffer,
                            tvms_node *const *indices, uint32_t rank, tvms_node *value);

// A block without anything but its name, which is copied.
tvms_block *tvms_sched_block_new(tvms_sched *sched, const char *name);

// The realization of a block. `predicate` NULL: always.
tvms_node *tvms_sched_realize_new(tvms_sched *sched, tvms_block *block,
                                  tvms_node *const *values, uint32_t count,
                                  tvms_node *TVMS_NULLABLE predicate);

// A copy from one buffer to another as a block: `axes` and what they are bound to, and where it reads and writes in terms of the axes.
// Loops are for the caller to put around.
typedef struct {
  const char *name;
  tvms_node *from, *to;
  tvms_node *const *axes, *const *values;
  uint32_t count;
  tvms_node *const *from_at, *const *to_at;
  uint32_t from_rank, to_rank;
} tvms_copy_block;

// The realization of such a block; the BLOCK comes back in `*block`.
tvms_node *tvms_sched_copy_block(tvms_sched *sched, const tvms_copy_block *copy,
                                 tvms_node **block);

// A serial loop like tvms_sched_for whose beginning is given, too.
tvms_node *tvms_sched_for_from(tvms_sched *sched, tvms_node *var, tvms_node *min,
                               tvms_node *extent, tvms_node *body);

// The constant 0 of a dtype of numbers.
tvms_node *tvms_sched_zero(tvms_sched *sched, tvms_dtype dtype);

// The BLOCK at the end of a chain of loops.
tvms_node *tvms_sched_block_in(const tvms_node *nest);

// What a map gives for `values` in the place of its variables, simplified.
tvms_list tvms_sched_mapped(tvms_sched *sched, const tvms_index_map *map,
                            tvms_list values);

#endif
