// The loops over the rows of a contraction.
#ifndef TVMS_PASSES_TIR_CPU_CONTRACTION_ROWS_H
#define TVMS_PASSES_TIR_CPU_CONTRACTION_ROWS_H

#include "passes/tir/cpu/contraction_writer.h"

// The loops over all rows of the columns at hand, or w->in_rows for each tile of rows. The variables of the other axes are set.
tvms_node *tvms_contraction_over_rows(tvms_contraction_writer *w);

#endif
