// What TVM adds to a function of TIR that was read or made: the root block, and the regions
// of blocks that do not say what they read and write.
#ifndef TVMS_STRUCTINFO_COMPLETE_H
#define TVMS_STRUCTINFO_COMPLETE_H

#include "ir/node.h"

// Completes a PRIM_FUNC in place; its blocks are new and nobody else has seen them. `root_allocs` are the buffers allocated at function level, which become those
// of the root block. Blocks whose lists are missing carry TVMS_FLAG_READS_MISSING and
// TVMS_FLAG_WRITES_MISSING; the flags are gone afterwards. Returns false after a report.
// (Rule: docs/language.md, "Blocks"; from 0.25 on for s_tir functions only.)
bool tvms_complete_prim_func(tvms_unit *unit, tvms_node *function,
                             tvms_node *const *root_allocs, uint32_t root_alloc_count);

#endif
