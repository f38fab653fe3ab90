// The only block in a loop, with that loop and all below it, as a block.
#ifndef TVMS_SCHEDULE_BLOCKIZE_LOOP_H
#define TVMS_SCHEDULE_BLOCKIZE_LOOP_H

#include "schedule/blockize.h"

// The block in the place of the one loop right below `above`: an outer block with the loops and an inner one. The block of the divided
// `b` is the only one there.
tvms_node *tvms_sched_blockize_loop(tvms_sched_blockizing *b);

// Divides the only block in a loop. Refuses if there are several, or it cannot be divided; close `b` in any case.
TVMS_NODISCARD bool tvms_sched_blockize_begin(tvms_sched_blockizing *b,
                                              tvms_sched *sched, int32_t loop,
                                              bool keep_units);

#endif
