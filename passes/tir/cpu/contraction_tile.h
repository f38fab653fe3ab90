// One tile of a contraction: rows and vectors of the result whose sums are in registers.
#ifndef TVMS_PASSES_TIR_CPU_CONTRACTION_TILE_H
#define TVMS_PASSES_TIR_CPU_CONTRACTION_TILE_H

#include "passes/tir/cpu/contraction_writer.h"

// panel[...] = moving operand, for the columns at hand and all steps of the sum.
tvms_node *tvms_contraction_fill_tile(tvms_contraction_writer *w);

// The tile at w->row and w->columns: its sums, what follows them, what it stores.
tvms_node *tvms_contraction_write_tile(tvms_contraction_writer *w);

#endif
