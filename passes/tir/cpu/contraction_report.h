// What is told of a tiled contraction: its axes, its tile, and how fast it is to be.
#ifndef TVMS_PASSES_TIR_CPU_CONTRACTION_REPORT_H
#define TVMS_PASSES_TIR_CPU_CONTRACTION_REPORT_H

#include "passes/tir/cpu/tile.h"
#include "support/strbuf.h"

// Appends the axes of a contraction by their roles: "6 rows, 9 x 7 columns, sums of 3 x 3".
void tvms_contraction_report_axes(const tvms_contraction *contraction,
                                  tvms_strbuf *out);

// Appends its tile, how operands are read, what runs on threads, and the share of the peak that
// follows from it, `epilogues` stages being computed behind each tile.
void tvms_contraction_report_tile(const tvms_contraction *contraction,
                                  const tvms_tile *tile, uint32_t epilogues,
                                  tvms_strbuf *out);

#endif
