// Buffers of a size that is a formula, and small whatever it gives.
#ifndef TVMS_PASSES_TIR_MEMORY_LIFT_BOUND_H
#define TVMS_PASSES_TIR_MEMORY_LIFT_BOUND_H

#include "ir/node.h"

// A function in which buffers that are known to be small enough for the stack have a number as their size: the
// most that they need. The function itself if there are none. Nodes are made in its unit.
tvms_node *tvms_lift_bound(tvms_unit *unit, tvms_node *function);

#endif
