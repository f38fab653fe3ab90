// Loops that go as often as memory says, as those over the lines of sparse matrices do.
//
// Before: for d in range(64): for l in range(P[b + 1] - P[b]): ...
// After:  n = P[b + 1] - P[b]    for d in range(64): for l in range(T.max(n, 0)): ...
#ifndef TVMS_PASSES_TIR_CPU_LOADED_COUNTS_H
#define TVMS_PASSES_TIR_CPU_LOADED_COUNTS_H

#include "ir/node.h"

// The body of a loop with variables for such bounds, which `binds` gets, to stand in front of it. The body itself if
// it has none that are the same in all of it.
tvms_node *tvms_cpu_bind_counts(tvms_unit *unit, tvms_node *body, tvms_list *binds);

#endif
