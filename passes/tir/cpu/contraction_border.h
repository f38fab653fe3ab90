// Steps of a window that read nothing but padding.
//
//   P[y, x, c] = T.if_then_else(1 <= y and y < 15, X[y - 1, x, c], 0)
//   Y[y, x, f] += P[y + r, x + s, c] * W[r, s, c, f]
//
// The first line of Y adds nothing at r = 0, and the last one nothing at the last r: those steps are left out. (Infinity times
// the padding is not a number; whoever needs that takes sums in the order of the text.)
#ifndef TVMS_PASSES_TIR_CPU_CONTRACTION_BORDER_H
#define TVMS_PASSES_TIR_CPU_CONTRACTION_BORDER_H

#include "passes/tir/cpu/contraction_writer.h"
#include "passes/tir/cpu/tile.h"

// Finds such steps of a contraction whose tile is chosen, statement number `at` of these; the padding is stored by one in front
// of it. Sets `c->border`.
void tvms_contraction_find_border(tvms_unit *unit, tvms_list stmts, uint32_t at,
                                  const tvms_tile *tile, tvms_contraction *c);

// `body`, what is done at a step of the axis of the border, where that adds something.
tvms_node *tvms_contraction_inside_border(tvms_contraction_writer *w, tvms_node *step,
                                          tvms_node *body);

#endif
