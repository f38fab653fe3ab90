// What the next row loads, fetched while the row at hand is stored.
//
// The first pass over a row waits for memory, and the last one, which stores past the caches, loads nothing from there:
//
//   for j: Y[row, j] = …                    for j: Y[row, j] = …; prefetch X[row + 1, j]
#ifndef TVMS_PASSES_TIR_CPU_ROWS_FETCH_H
#define TVMS_PASSES_TIR_CPU_ROWS_FETCH_H

#include "passes/tir/cpu/rows_plan.h"

// Chooses what a pass of a planned group fetches, if it stores past the caches.
void tvms_line_plan_fetch(tvms_unit *unit, const tvms_line_group *group, uint32_t pass,
                          tvms_line_plan *plan);

#endif
