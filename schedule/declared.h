// What blocks store to, against what they declare.
#ifndef TVMS_SCHEDULE_DECLARED_H
#define TVMS_SCHEDULE_DECLARED_H

#include "schedule/scope.h"

// Refuses a scope in which a block uses a buffer, one that the function stores to, and does not declare it; with `only` that buffer. What blocks
// are to each other is found from what they declare, and those that loop_partition puts around others declare nothing. TVM takes their word for it.
TVMS_NODISCARD bool tvms_sched_check_declared(tvms_sched *sched, int32_t scope,
                                              const tvms_node *TVMS_NULLABLE only);

// Refuses a block that stores to a buffer under an `if` only: what it would keep apart has no value in the other steps. TVM does not ask.
TVMS_NODISCARD bool tvms_sched_check_stores(tvms_sched *sched, int32_t block,
                                            const tvms_node *buffer);

// What a block really writes where it declares `region`: the place of its stores, if it is the same for all and told by the axes; else `region`.
tvms_node *tvms_sched_stored_region(tvms_sched *sched, const tvms_block *block,
                                    tvms_node *region);

#endif
