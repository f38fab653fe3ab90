// Blocks of several PrimFuncs in one: names and regions.
#ifndef TVMS_PASSES_RELAX_FUSE_MERGE_BLOCKS_H
#define TVMS_PASSES_RELAX_FUSE_MERGE_BLOCKS_H

#include "ir/node.h"

// A statement whose blocks have names of their own, and declare each buffer once, as TVM's FusedTIRConstructor leaves
// them. New nodes lie in `unit`.
tvms_node *tvms_fuse_merge_blocks(tvms_unit *unit, tvms_node *body);

#endif
