// Padding that windows step over.
//
//   P[y, x, c] = T.if_then_else(1 <= y and 1 <= x, X[y - 1, x - 1, c], 0)
//   W[y, x, c] += P[y + ky, x + kx, c] * F[ky, kx, c]
//
// becomes a window over X itself that leaves out the steps whose element is padding: they add nothing.
// (Infinity times the padding is not a number; whoever needs that keeps the padded image.)
//
// Where windows go along the line in steps of two or more, what they load is taken apart in any case, and
// a padded image saves nothing: its first and last places are then segments of their own, each of one element.
#ifndef TVMS_PASSES_TIR_CPU_PADDING_H
#define TVMS_PASSES_TIR_CPU_PADDING_H

#include "passes/tir/cpu/segments.h"

// Does `to` load what `from` stores once, as an element of a sum, product or extreme to which the
// other side of `from`'s T.if_then_else adds nothing? Lines of `to` must be whole lines of what
// is chosen, so that the condition is the same for a whole vector, or go along them in larger steps, or be
// one vector whose lanes can be left out.
bool tvms_line_padding_adds_nothing(const tvms_chain *chain, const tvms_stage *from,
                                    const tvms_stage *to);

// The condition under which a step of the member counts, and in `term` what it then combines;
// NULL: all count, or conditions change along its line in many places; `masked`: these are lanes of one vector.
tvms_node *TVMS_NULLABLE tvms_line_padding_condition(tvms_unit *unit,
                                                     const tvms_line_member *member,
                                                     bool masked, tvms_node **term);

// What the member combines at each step, chosen by `lanes` in the place of the whole condition.
tvms_node *tvms_line_padding_chosen(tvms_unit *unit, const tvms_line_member *member,
                                    tvms_node *lanes);

// Adds the places of a member's line where such a condition changes.
void tvms_line_padding_cuts(const tvms_line_member *member, tvms_node *condition,
                            tvms_line_cuts *cuts);

// How many steps at the begin of an axis of the member, and at its end, such a condition leaves something out at. False:
// more than a few, or that is not known.
bool tvms_line_padding_borders(tvms_unit *unit, const tvms_line_member *member,
                               tvms_node *condition, const tvms_stage_axis *axis,
                               int64_t *low, int64_t *high);

// Steps of the axis around the line, and of the line, for which a condition is asked.
typedef struct {
  const tvms_stage_axis *TVMS_NULLABLE around;
  tvms_line_range tile, line;
  // Steps of both that have no padding, of an axis whose length is not known: what is counted from its begin ends before the
  // last of them, what is counted from its end begins behind the first one.
  tvms_line_range tile_inside, line_inside;
  bool masked;  // the line is one vector, whose lanes may differ
} tvms_line_part;

// Parts of a condition, by the loops of the member in which they are asked.
typedef struct {
  // Behind the loop of this axis of the sum, the deepest one that it depends on.
  tvms_node *TVMS_NULLABLE levels[TVMS_MOST_STAGE_AXES];
  tvms_node *TVMS_NULLABLE always;  // depends on no axis of the sum
  tvms_node *TVMS_NULLABLE tile;    // depends on the axis around the line
  tvms_node *TVMS_NULLABLE lanes;   // depends on the line, which is one vector
} tvms_line_padding_guards;

// Splits a condition for a part of the elements. What holds for all of these is left out.
tvms_line_padding_guards tvms_line_padding_split(tvms_unit *unit,
                                                 const tvms_line_member *member,
                                                 tvms_node *condition,
                                                 const tvms_line_part *part);

#endif
