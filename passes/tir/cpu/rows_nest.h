// The loops of a group of rows.
#ifndef TVMS_PASSES_TIR_CPU_ROWS_NEST_H
#define TVMS_PASSES_TIR_CPU_ROWS_NEST_H

#include "passes/tir/cpu/rows_plan.h"

// The statement that computes a group row by row, pass by pass:
//
//   for row:                              parallel, if there is enough to do
//     for each pass:                      of several rows in turns
//       lanes = what folds begin with
//       for line: vectors written out     then single vectors, then what is left over
//       result = lanes combined
//
// Folds combine in lanes of their own, which are combined at the end; with one_by_one in the order
// of the text. Everything else is computed as in the text, so results have the same bits. `gone`
// gets the buffers that nothing uses any more.
tvms_node *tvms_line_nest(tvms_unit *unit, const tvms_line_group *group,
                          const tvms_line_plan *plan, tvms_node_map *gone);

#endif
