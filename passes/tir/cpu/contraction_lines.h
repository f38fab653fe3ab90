// Filling a panel whose columns lie in lines that are no neighbours in memory.
#ifndef TVMS_PASSES_TIR_CPU_CONTRACTION_LINES_H
#define TVMS_PASSES_TIR_CPU_CONTRACTION_LINES_H

#include "passes/tir/cpu/contraction_writer.h"

// panel[...] = moving operand for the strip at hand, line by line.
tvms_node *tvms_contraction_fill_lines(tvms_contraction_writer *w);

// The most lines of a strip, where their length or number is not known: as many as the panel has room for.
tvms_node *tvms_contraction_most_lines(tvms_contraction_writer *w);

// Columns of the panel where steps of a window share its lines.
int64_t tvms_contraction_shared_columns(const tvms_contraction_writer *w);

// The column of that panel at which column w->place of the strip is for a step of the window.
tvms_node *tvms_contraction_shared_place(tvms_contraction_writer *w);

#endif
