// Copies that turn: what is stored along one axis and loaded along another.
//
//   B[j, i] = A[i, j]     squares of as many rows and columns as a vector has lanes are loaded by
//                         rows, turned in registers by shuffles, and stored by columns
#ifndef TVMS_PASSES_TIR_CPU_TURN_H
#define TVMS_PASSES_TIR_CPU_TURN_H

#include "passes/tir/cpu/rows.h"

// If the only member of a group loads one thing along another axis than its line, puts that axis
// in front of the line and returns the load; NULL: it does not turn. The load stands in the
// member's value.
tvms_node *TVMS_NULLABLE tvms_line_turned_load(tvms_unit *unit, tvms_line_group *group);

// The steps from the first of two buffers, `rows` vectors of `lanes` elements, to the same with each
// square of `lanes` vectors turned, in one of the two, which is returned in `turned`. `like` has
// the dtype of indices.
tvms_node *tvms_line_turn(tvms_unit *unit, const tvms_node *like, int64_t rows,
                          int64_t lanes, tvms_node *const *buffers, tvms_node **turned);

#endif
