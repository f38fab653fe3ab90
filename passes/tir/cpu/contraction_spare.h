// The one column that vectors leave over: its sums are taken in lanes, along the sum.
//
//   for k: spare[k] = B[k, 48]                          once for all rows
//   for k, i: lanes[i, 0:16] += spare[16 * k:16 * k + 16] * A[i, 16 * k:16 * k + 16]
//   sums[i, 48] = lanes[i, 0] + ... + lanes[i, 15]
//
// A vector of its own would take a sixteenth of the work for one of 49 columns, but as much time as 16 of
// them. (49 are the pixels of the last images of many networks.)
#ifndef TVMS_PASSES_TIR_CPU_CONTRACTION_SPARE_H
#define TVMS_PASSES_TIR_CPU_CONTRACTION_SPARE_H

#include "passes/tir/cpu/contraction_writer.h"

// Can a column be summed so: are terms products of the two operands, and does the resting one take one element
// after the other along the sum, of which there are some?
bool tvms_contraction_can_spare(tvms_unit *unit, const tvms_contraction *contraction,
                                int64_t lanes);

// Makes the buffer of the spare column of the strip at hand, if it has one; NULL: it has none.
tvms_node *TVMS_NULLABLE tvms_contraction_make_spare(tvms_contraction_writer *w);

// spare[...] = moving operand at that column, for all steps of the sum, or of its block.
tvms_node *tvms_contraction_fill_spare(tvms_contraction_writer *w);

// sums[..., last] += the products of the spare column, for the rows of the tile at hand.
tvms_node *tvms_contraction_add_spare(tvms_contraction_writer *w);

#endif
