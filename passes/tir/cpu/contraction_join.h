// Rows or columns of a contraction that are several axes, taken as one.
#ifndef TVMS_PASSES_TIR_CPU_CONTRACTION_JOIN_H
#define TVMS_PASSES_TIR_CPU_CONTRACTION_JOIN_H

#include "passes/tir/cpu/contraction_nest.h"

// Joins an axis around the rows with them where all that moves along either, in the contraction and in the stages behind it,
// goes on from row to row as it does within one: the lines of an image whose channels come last. False: there is no such axis, or
// it has an unknown number of steps where the rows have a known one.
bool tvms_contraction_join_rows(tvms_unit *unit, const tvms_contraction *contraction,
                                const tvms_epilogue *epilogues, uint32_t count,
                                tvms_contraction *joined);

// Do the stages behind a contraction go through its columns, which are several axes, as it does: from element to
// element, wherever they depend on them?
bool tvms_contraction_keeps_columns(tvms_unit *unit,
                                    const tvms_contraction *contraction,
                                    const tvms_epilogue *epilogues, uint32_t count);

#endif
