// Sizes of a contraction that a tile is chosen by.
#ifndef TVMS_PASSES_TIR_CPU_CONTRACTION_SIZES_H
#define TVMS_PASSES_TIR_CPU_CONTRACTION_SIZES_H

#include "passes/tir/cpu/contraction.h"

// Bytes of the moving operand of one batch; an axis of unknown length is taken to have 512 steps.
int64_t tvms_contraction_moving_bytes(const tvms_contraction *contraction);

// Does a cache of so many bytes not hold the moving operand? One of which neither the columns nor the steps of the sum are known is taken to be too
// large for any: it is read well by few rows wherever it lies.
bool tvms_contraction_is_far(const tvms_contraction *contraction, int64_t cache);

// Columns of the result; those whose number is not known are taken to be 512.
int64_t tvms_contraction_usual_columns(const tvms_contraction *contraction);

// Steps for which one panel of the moving operand serves; an axis of unknown length is taken to have 64.
int64_t tvms_contraction_uses(const tvms_contraction *contraction);

// Is the number of rows known? Without an axis of rows it is 1.
bool tvms_contraction_knows_rows(const tvms_contraction *contraction);

// Are all sizes known, or the same wherever the function is? Else a block with axes, which sees loops around it through
// these alone, must not name them.
bool tvms_contraction_keeps_sizes(const tvms_contraction *contraction);

// Is there an axis of more than one step, beside the rows, that the moving operand does not depend on?
bool tvms_contraction_has_outer(const tvms_contraction *contraction);

// Bytes of the result, of all batches; 0 if that is not known.
double tvms_contraction_result_bytes(const tvms_contraction *c);

// Bytes of the buffer that the resting operand is loaded from; 0 if there is none, or that is not known.
double tvms_contraction_resting_bytes(const tvms_contraction *c);

// Do rows of the moving operand, a load for each step of the one axis of the sum, begin at a line of the caches each, if
// the first one does?
bool tvms_contraction_begins_lines(tvms_unit *unit,
                                   const tvms_contraction *contraction);

// Rounds that `steps` of the sum are taken in: of eight steps to `most`, and multiples of four if these divide them. If none do, rounds
// of `most` leave some over; 0: there are too few steps.
int64_t tvms_contraction_round_of(int64_t steps, int64_t most);

// Pages of memory that one column of the moving operand goes through along the outermost axis of the sum, or -1.
int64_t tvms_contraction_pages(tvms_unit *unit, const tvms_contraction *contraction);

#endif
