// Accesses of one buffer in a statement: where they are, and the same statement with another buffer and other places.
#ifndef TVMS_SCHEDULE_ACCESSES_H
#define TVMS_SCHEDULE_ACCESSES_H

#include "schedule/scope.h"

// What is found of a buffer in a statement.
typedef struct {
  tvms_list indices;  // of the first access
  uint32_t count;     // of accesses
  bool differ;        // others have other indices
  bool opaque;        // the buffer's pointer is used
  bool nested;        // there are blocks in it
} tvms_sched_accesses;

// Looks at all loads and stores of a buffer in `stmt`.
tvms_sched_accesses tvms_sched_accesses_find(tvms_sched *sched, tvms_node *stmt,
                                             const tvms_node *buffer);

// Is an index of a buffer, or of one that the index is read from, known to leave it while the axes of a block run over all of their domains? Where the
// block does something under a condition, which may keep the index inside, it must be known not to.
bool tvms_sched_accesses_leave(tvms_sched *sched, const tvms_block *block,
                               const tvms_node *buffer, tvms_list indices);

// Are ranges of a buffer known to leave it, for any steps of what is around `site`, which counts, too?
bool tvms_sched_ranges_leave(tvms_sched *sched, int32_t site, const tvms_node *buffer,
                             tvms_list ranges);

// The same where sizes are symbolic, unless it is known that they do not leave it: for ranges that
// stood under a condition, which is what kept them inside.
bool tvms_sched_ranges_may_leave(tvms_sched *sched, int32_t site,
                                 const tvms_node *buffer, tvms_list ranges);

// Refuses a block of which it is known that it leaves out steps of its axes where the binding says nothing of it: a loop that does not begin at 0 is
// divided. TVM does not ask, though loop_partition makes such loops.
TVMS_NODISCARD bool tvms_sched_check_steps(tvms_sched *sched, int32_t block);

// The same, and refuses a block of which it is known that an axis does not take all of its domain while the loops of the scope run. With `reduced` only
// reduced axes count.
TVMS_NODISCARD bool tvms_sched_check_whole(tvms_sched *sched, int32_t block,
                                           bool reduced);

// Refuses a scope in which a block uses a buffer, one that the function stores to, and does not declare it; with `only` that buffer. What blocks
// are to each other is found from what they declare, and those that loop_partition puts around others declare nothing. TVM takes their word for it.
TVMS_NODISCARD bool tvms_sched_check_declared(tvms_sched *sched, int32_t scope,
                                              const tvms_node *TVMS_NULLABLE only);

// Does an expression load from a buffer?
bool tvms_sched_loads(const tvms_sched *sched, tvms_node *expr);

// Would a loop that no axis uses, or loops whose windows may overlap, do single steps of a reduction again, those of a loop further out? TVM does not
// ask.
bool tvms_sched_repeats_steps(tvms_sched *sched, int32_t block);

// Refuses a block whose condition says more than that its axes stay in their domains, and would be lost with its loops. TVM does not ask.
TVMS_NODISCARD bool tvms_sched_check_condition(tvms_sched *sched, int32_t block);

// Refuses a block that stores to a buffer under an `if` only: what it would keep apart has no value in the other steps. TVM does not ask.
TVMS_NODISCARD bool tvms_sched_check_stores(tvms_sched *sched, int32_t block,
                                            const tvms_node *buffer);

// What a block really writes where it declares `region`: the place of its store, if its body is only that; else `region`.
tvms_node *tvms_sched_accesses_stored(tvms_sched *sched, const tvms_block *block,
                                      tvms_node *region);

// What takes the place of accesses: another buffer, at these indices wherever the accesses were.
typedef struct {
  const tvms_node *from;
  tvms_node *to;
  tvms_list indices;
  bool inner;  // accesses of blocks in `stmt` change, too; else those blocks stay
} tvms_sched_moved_access;

// `stmt` with all accesses, declared regions and matched parts of the buffer replaced; regions are one element.
tvms_node *tvms_sched_accesses_moved(tvms_sched *sched, tvms_node *stmt,
                                     const tvms_sched_moved_access *moved);

#endif
