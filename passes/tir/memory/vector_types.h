// Buffers whose accesses are all vectors of one length, as buffers of such vectors.
#ifndef TVMS_PASSES_TIR_MEMORY_VECTOR_TYPES_H
#define TVMS_PASSES_TIR_MEMORY_VECTOR_TYPES_H

#include "ir/node.h"

typedef struct {
  bool params;    // buffers that are parameters, too
  bool shuffles;  // elements that are read become parts of the vector that holds them
} tvms_vector_type_options;

// `function` with the element types of its buffers changed where that makes every access one
// of a whole element; the function itself if there is no such buffer. TVM:
// PointerValueTypeRewrite of storage_rewrite.cc.
tvms_node *tvms_vector_types_rewrite(tvms_unit *unit, tvms_node *function,
                                     tvms_vector_type_options options);

#endif
