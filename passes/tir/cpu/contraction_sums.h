// Adding up: the loops of a tile's sum.
#ifndef TVMS_PASSES_TIR_CPU_CONTRACTION_SUMS_H
#define TVMS_PASSES_TIR_CPU_CONTRACTION_SUMS_H

#include "passes/tir/cpu/contraction_writer.h"

// The statement that adds the terms of the tile at hand to its sums, which have begun.
tvms_node *tvms_contraction_add_up(tvms_contraction_writer *w);

#endif
