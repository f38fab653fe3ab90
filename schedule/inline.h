// What compute_inline, reverse_compute_inline and fuse_reduction_epilogue have in common.
#ifndef TVMS_SCHEDULE_INLINE_H
#define TVMS_SCHEDULE_INLINE_H

#include "schedule/scope.h"

// Does the scope use the pointer of a buffer, or match a part of it? Refuses if so.
TVMS_NODISCARD bool tvms_inline_check_opaque(tvms_sched *sched, int32_t scope,
                                             const tvms_node *buffer);

// The statement that goes with a block: the block, or the outermost loop that has nothing else. NULL after a refusal: the scope would be
// empty.
const tvms_node *TVMS_NULLABLE tvms_inline_leaf(tvms_sched *sched, int32_t block);

// Removes `leaf` from the scope of site `scope`, forgets the buffer, and rewrites the rest with `hook`, set for loads (`kind`
// BUFFER_LOAD) or stores. Blocks that named the buffer say anew what they read and write.
void tvms_inline_rewrite(tvms_sched *sched, int32_t scope, const tvms_node *leaf,
                         tvms_node *buffer, tvms_node_kind kind,
                         tvms_rewrite_hook *hook, void *self);

// Finds what the axes of a block are where `indices` have the values of the variables `places`. `exact`: the indices must tell
// all places apart, and have all of them.
TVMS_NODISCARD bool tvms_inline_inverse(tvms_sched *sched, const tvms_block *block,
                                        tvms_list indices, bool exact,
                                        tvms_node *const *places, tvms_node_map *found);

// New variables for `indices`.
tvms_node **tvms_inline_places(tvms_sched *sched, tvms_list indices);

#endif
