// Stages whose results are a few elements side by side, each from elsewhere, as stages that store in turns (zip.h).
//
// Before: for x, c in T.grid(640, 3): Y[x, c] = X[c, x]
// After:  for x: Y[x, 0] = X[0, x]     for x: Y[x, 1] = X[1, x]     for x: Y[x, 2] = X[2, x]
#ifndef TVMS_PASSES_TIR_CPU_SHORT_AXIS_H
#define TVMS_PASSES_TIR_CPU_SHORT_AXIS_H

#include "passes/tir/cpu/stage.h"

enum { TVMS_MOST_TURNS = 4 };

// How many stages `made` gets, one for each step of the axis that a stage stores along; 0: the axis has room for squares (turn.h), or
// what is loaded lies side by side along it, or does not along the next one.
uint32_t tvms_cpu_split_short_axis(tvms_unit *unit, const tvms_stage *stage,
                                   tvms_stage made[TVMS_MOST_TURNS]);

#endif
