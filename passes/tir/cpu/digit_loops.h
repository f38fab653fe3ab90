// Loops that a block takes apart by quotients and remainders become a loop for each digit.
//
// Before: for f in range(64 * 32): i = f // 32; j = f % 32    After: for i, j in T.grid(64, 32)
#ifndef TVMS_PASSES_TIR_CPU_DIGIT_LOOPS_H
#define TVMS_PASSES_TIR_CPU_DIGIT_LOOPS_H

#include "ir/node.h"

// The statement with loops for the digits of each plain loop of a known number of steps that axes of a block are
// bound to, or the place of a store is computed from, by quotients and remainders that divide each other; the steps keep their order. The
// statement itself if there is none.
tvms_node *tvms_cpu_split_digits(tvms_unit *unit, tvms_node *stmt);

#endif
