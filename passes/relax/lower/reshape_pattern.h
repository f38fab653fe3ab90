// PrimFuncs that only give their tensor another shape.
#ifndef TVMS_PASSES_RELAX_LOWER_RESHAPE_PATTERN_H
#define TVMS_PASSES_RELAX_LOWER_RESHAPE_PATTERN_H

#include "ir/node.h"

// True if it is proved that the PRIM_FUNC `function` copies every element of its first buffer to
// the place with the same number in row-major order of its last buffer.
bool tvms_relax_reshapes(tvms_context *context, tvms_dialect dialect,
                         const tvms_node *function);

#endif
