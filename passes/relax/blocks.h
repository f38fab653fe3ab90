// Blocks of bindings in a sequence: joined where passes leave gaps, and made longer.
#ifndef TVMS_PASSES_RELAX_BLOCKS_H
#define TVMS_PASSES_RELAX_BLOCKS_H

#include "ir/node.h"

// The SEQ_EXPR `sequence` without empty blocks, and with one block in the place of
// neighbours of one kind; the same node if it is so already.
tvms_node *tvms_relax_merge_blocks(tvms_unit *unit, tvms_node *sequence);

// A SEQ_EXPR like `sequence` with one more binding at its end, in a block that is not a dataflow
// block, and with `body` for its result.
tvms_node *tvms_relax_append_binding(tvms_unit *unit, const tvms_node *sequence,
                                     tvms_node *binding, tvms_node *body);

#endif
