// Lines that are shorter than a vector: one vector, of which some lanes count.
//
//   for lane in T.vectorized(8):
//     sums[lane] = sums[lane] + T.if_then_else(1 <= lane + k and lane + k < 8, X[lane + k - 1], 0) * W[k]
//   for lane in T.vectorized(8):
//     if lane < 7:
//       Y[lane] = sums[lane]
//
// Padding of a window along such a line is lanes that are left out of its loads, so there is no padded image.
#ifndef TVMS_PASSES_TIR_CPU_ROWS_MASK_H
#define TVMS_PASSES_TIR_CPU_ROWS_MASK_H

#include "passes/tir/cpu/rows_element.h"

// Lanes of the vector that a stage's line along `axis` fits in, if lanes can be left out of vectors of `bits`
// (0: of none), no load goes along it in steps of more than two elements, and steps of the sum are few enough to
// be written out; else 0.
int64_t tvms_line_masked_lanes(tvms_unit *unit, uint32_t bits, const tvms_stage *stage,
                               uint32_t axis);

// May steps of its sum along the line come in front of the others, and steps of the tile behind them all? What is loaded
// of a line then serves all of these that meet it, and no sum waits for itself: windows of 7 x 7 over lines of 7 take three
// fifths of the time, of 3 x 3 nine tenths. In steps of two, whose lanes are picked from what neighbouring steps of the
// sum pick from, too, that pays for large windows over lines that one vector holds.
bool tvms_line_masked_along(tvms_unit *unit, uint32_t bits, const tvms_stage *stage,
                            uint32_t axis, int64_t lanes);

// An expression of member `at` in which what may lie outside of a buffer in the lanes behind the line is not
// loaded. `condition` holds where the expression chooses by it; NULL: it does not.
tvms_node *tvms_line_mask_loads(tvms_line_writer *w, uint32_t at, tvms_node *expr,
                                tvms_node *TVMS_NULLABLE condition);

// `stmt`, which stores a vector of the line, for the lanes that count.
tvms_node *tvms_line_mask_store(tvms_line_writer *w, tvms_node *stmt);

#endif
