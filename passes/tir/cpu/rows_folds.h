// Lanes of folds: the partial results that a pass over a line combines, side by side.
#ifndef TVMS_PASSES_TIR_CPU_ROWS_FOLDS_H
#define TVMS_PASSES_TIR_CPU_ROWS_FOLDS_H

#include "passes/tir/cpu/rows_element.h"

// Element `place` of a buffer of lanes.
tvms_node *tvms_line_lane(tvms_line_writer *w, tvms_node *lanes, tvms_node *place);

// Stores it.
tvms_node *tvms_line_store_lane(tvms_line_writer *w, tvms_node *lanes, tvms_node *place,
                                tvms_node *value);

// Makes the lanes of member `at`, a fold of the pass at hand, and appends what fills them to
// `stmts` and their buffer to `allocated`.
void tvms_line_begin_fold(tvms_line_writer *w, uint32_t at, tvms_node_vec *stmts,
                          tvms_node_vec *allocated);

// Appends what combines the lanes with each other and with the initial value, and stores the result.
void tvms_line_end_fold(tvms_line_writer *w, uint32_t at, tvms_node_vec *stmts);

#endif
