// One dtype for all indices of a function.
//
// Descriptions count in int32 where TVM's do: numbers of attributes are int32, dimensions of
// Relax are int64. What stands in an index, a loop, or a condition is brought to int64 in the
// end, and a variable that occurs there is int64 wherever it stands; other values keep their
// dtype, so the casts that are left show where TVM's normaliser has been. TVM:
// IndexDataTypeNormalizer in src/tirx/ir/data_type_rewriter.cc.
#ifndef TVMS_TE_INDEX_DTYPE_H
#define TVMS_TE_INDEX_DTYPE_H

#include "ir/node_map.h"

// The body of a PrimFunc whose indices are of `dtype`: `body` itself if they are already.
// Buffers must have shapes of that dtype.
tvms_node *tvms_te_normalize_indices(tvms_unit *unit, tvms_node *body,
                                     tvms_dtype dtype);

// The same for one expression that is an index, such as a dimension.
tvms_node *tvms_te_normalize_index(tvms_unit *unit, tvms_node *expr, tvms_dtype dtype);

#endif
