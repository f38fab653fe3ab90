// Access regions of the blocks of a description, and the block around all of them.
#ifndef TVMS_TE_ACCESS_H
#define TVMS_TE_ACCESS_H

#include "te/te.h"

// Fills in what the block of a stage reads and writes. What a reduction updates counts as
// written only.
void tvms_te_set_access(tvms_te *te, tvms_node *block);

// The root block that allocates `allocs`.
tvms_node *tvms_te_root(tvms_te *te, tvms_node *body, tvms_list allocs);

#endif
