// What is known of blocks: that their axes are sums of loops, that they read only what was written before, and that those in them are
// stages of a pipeline.
//
// TVM finds this out when a schedule begins, and most steps leave it as it is; whether a later step is allowed depends on that, and not
// on what would be found anew. So a schedule from a text keeps it, too. A scheduler finds it anew each time: it has no trace of TVM's to
// agree with. TVM: SBlockInfo of src/s_tir/schedule/state.cc.
#ifndef TVMS_SCHEDULE_FLAGS_H
#define TVMS_SCHEDULE_FLAGS_H

#include "schedule/state.h"

// Lets the function keep what is known of its blocks, and finds that out.
void tvms_sched_flags_keep(tvms_sched *sched);

// Finds out anew what is known of a block and all in it, but whether its own axes are sums. TVM: UpdateScopeSBlockInfo.
void tvms_sched_flags_renew(tvms_sched *sched, int32_t block);

// Says of a new block that its axes are what they are, that it reads what was written, and that it is a pipeline.
void tvms_sched_flags_give(tvms_sched *sched, int32_t block);

// Finds out anew whether the axes of a block are sums.
void tvms_sched_flags_axes(tvms_sched *sched, int32_t block);

// The flags of a block, which a step may change; NULL: they are not kept.
tvms_sched_flags *TVMS_NULLABLE tvms_sched_flags_of(const tvms_sched *sched,
                                                    int32_t block);

// Is every axis a sum of loops, and do they not depend on each other?
bool tvms_sched_flags_affine(const tvms_sched *sched, int32_t block);

// Does the block read only what blocks of its scope wrote before?
bool tvms_sched_flags_cover(tvms_sched *sched, int32_t block);

// Do all blocks in this one read only what was written before, and does none write what an earlier one reads?
bool tvms_sched_flags_pipeline(tvms_sched *sched, int32_t block);

#endif
