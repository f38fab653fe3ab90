// Loops of one nest whose variables have different dtypes.
#ifndef TVMS_PASSES_TIR_CPU_LOOP_DTYPES_H
#define TVMS_PASSES_TIR_CPU_LOOP_DTYPES_H

#include "ir/node.h"

// A body in which the variables of each nest of plain loops, and those of the block that it stands around, have
// the width of the widest one: T.grid(n, 16) has an int64 variable where n is int64, and an int32 one. Indices
// become as wide; where a variable is a value, it is cast back, so that values stay what they are. `body` itself
// if there is no such nest.
tvms_node *tvms_cpu_widen_loops(tvms_unit *unit, tvms_node *body);

#endif
