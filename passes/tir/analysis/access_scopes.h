// The innermost loop or block that holds every access of a buffer.
#ifndef TVMS_PASSES_TIR_ANALYSIS_ACCESS_SCOPES_H
#define TVMS_PASSES_TIR_ANALYSIS_ACCESS_SCOPES_H

#include "ir/node_map.h"

// Puts the FOR or BLOCK into `scopes`, under the BUFFER, for every buffer that `function` accesses;
// the function itself if only it holds all accesses. A loop counts that carries a value from
// one step to the next: what a reduction writes lives outside of its loops, and what is
// indexed by an opaque or ordered axis outside of those. What blocks of threads share lives
// outside of their axes. Matched buffers count as their sources. TVM: DetectBufferAccessLCA.
void tvms_access_scopes_find(tvms_unit *unit, tvms_node *function,
                             tvms_node_map *scopes);

#endif
