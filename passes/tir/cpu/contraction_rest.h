// The resting operand of a tile, converted once for all columns of the tile.
//
//   for k: rest[i, k] = float32(A[i, k])     in vectors along the sum, in front of the tile's sums
//
// Where the operand is narrower than the sums, as halves are, each step would convert an element for each row.
#ifndef TVMS_PASSES_TIR_CPU_CONTRACTION_REST_H
#define TVMS_PASSES_TIR_CPU_CONTRACTION_REST_H

#include "passes/tir/cpu/contraction_writer.h"

// Is the resting operand to be converted beforehand? It must be converted from 16 bits and lie along the sum, through which a
// tile goes from end to end, and the second cache, of so many bytes, must hold it beside the panel.
bool tvms_contraction_rests(tvms_unit *unit, const tvms_contraction *c,
                            const tvms_tile *tile, int64_t cache);

// Makes the buffer for the tile at hand, `w->rest`, a load of which takes the place of the conversion; it is NULL
// where the tile does not convert beforehand.
void tvms_contraction_make_rest(tvms_contraction_writer *w);

// Fills it.
tvms_node *tvms_contraction_fill_rest(tvms_contraction_writer *w);

// `term` with the buffer in the place of what it converts.
tvms_node *tvms_contraction_with_rest(tvms_contraction_writer *w, tvms_node *term);

#endif
