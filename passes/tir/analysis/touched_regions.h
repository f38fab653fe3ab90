// The parts of allocated buffers that a function touches.
#ifndef TVMS_PASSES_TIR_ANALYSIS_TOUCHED_REGIONS_H
#define TVMS_PASSES_TIR_ANALYSIS_TOUCHED_REGIONS_H

#include "ir/node_map.h"

// Puts one BUFFER_REGION for each buffer that a block or statement of `body` allocates into
// `regions`, under the BUFFER: the hull of all its accesses, as seen from the allocation.
// Loops around it stay variables, unless they are threads that share the buffer. A dimension
// that cannot be bounded, or only by what a loop changes, is whole; with `whole` also one where a long
// formula says where the touched part begins or ends. What T.allocate makes counts
// if one buffer of its dtype is over it. With `inside` no region
// leaves the shape. Blocks must be opaque. False after a report: a buffer of a block is never
// accessed. TVM: BufferAccessRegionCollector.
TVMS_NODISCARD bool tvms_touched_regions_collect(tvms_unit *unit, tvms_node *body,
                                                 bool inside, bool whole,
                                                 tvms_node_map *regions);

#endif
