// Loops that together are one axis of a block become one loop.
//
// Before: for io, jo, ii, ji in T.grid(4, 8, 16, 8): i = io * 16 + ii; j = jo * 8 + ji    After: for i, j in T.grid(64, 64)
#ifndef TVMS_PASSES_TIR_CPU_REROLL_H
#define TVMS_PASSES_TIR_CPU_REROLL_H

#include "ir/node.h"

// The statement with a loop for each axis of its block, if plain loops around the block are the digits of its axes, each in all
// of its steps; else the statement itself. What the block sums is added up in the same order, unless `reorders`
// allows another one.
tvms_node *tvms_cpu_reroll(tvms_unit *unit, tvms_node *stmt, bool reorders);

#endif
