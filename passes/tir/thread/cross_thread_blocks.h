// What a reduction over threads becomes.
#ifndef TVMS_PASSES_TIR_THREAD_CROSS_THREAD_BLOCKS_H
#define TVMS_PASSES_TIR_THREAD_CROSS_THREAD_BLOCKS_H

#include "schedule/reducer.h"

// The axis of threads that a loop is bound to, "threadIdx.x"; NULL: none.
const char *TVMS_NULLABLE tvms_cross_thread_tag(const tvms_context *context,
                                                const tvms_for *loop);

// The statement that the outermost of the loops `over` becomes, which are those of the reduction of
// `realize`. Adds the buffers that the block around must allocate to `scratchpads`.
tvms_node *tvms_cross_thread_blocks(tvms_unit *unit, const tvms_block_realize *realize,
                                    const tvms_for *const *over, uint32_t over_len,
                                    const tvms_reduction *reduction,
                                    tvms_node_vec *scratchpads);

#endif
