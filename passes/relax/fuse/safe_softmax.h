// A softmax whose rows without a finite score are 0, not NaN, as front ends write it out.
#ifndef TVMS_PASSES_RELAX_FUSE_SAFE_SOFTMAX_H
#define TVMS_PASSES_RELAX_FUSE_SAFE_SOFTMAX_H

#include "structinfo/definitions.h"
#include "te/attention_tiles.h"

// The softmax in a call, and what its rows give; NULL: it is none. These are taken:
//
//   softmax(x)
//   where(not any(x != -inf along the rows), 0, softmax(x)), as PyTorch's decompositions have it: the rows of
//     equal, logical_not, max between casts, and logical_not
//   where(isnan(softmax(x)), 0, softmax(x)), as its exporter of ONNX has it
//
// Who else uses x and what lies between is not asked.
const tvms_call *TVMS_NULLABLE
tvms_relax_safe_softmax(const tvms_relax_definitions *definitions,
                        const tvms_node *value, tvms_attention_empty *empty);

#endif
