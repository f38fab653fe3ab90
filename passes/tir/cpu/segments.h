// Conditions along a line: where they change, and what they are between two such places.
#ifndef TVMS_PASSES_TIR_CPU_SEGMENTS_H
#define TVMS_PASSES_TIR_CPU_SEGMENTS_H

#include "arith/analyzer.h"
#include "passes/tir/cpu/rows.h"

enum { TVMS_MOST_SEGMENTS = 8 };

// Steps of an axis, from `begin` up to `end`; NULL: all of them.
typedef struct {
  tvms_node *TVMS_NULLABLE begin, *TVMS_NULLABLE end;
} tvms_line_range;

// Places where a line is cut, in order: `begins` of them that many steps behind its begin, and `ends`, of a line whose
// length is not known, that many in front of its end. There are at most TVMS_MOST_SEGMENTS - 1.
typedef struct {
  tvms_unit *unit;
  tvms_node *length;
  int64_t begin[TVMS_MOST_SEGMENTS], end[TVMS_MOST_SEGMENTS];
  uint32_t begins, ends;
} tvms_line_cuts;

// No cuts of a line of `length` steps.
tvms_line_cuts tvms_line_cuts_new(tvms_unit *unit, tvms_node *length);

// Adds the place `at` if it lies in between, of a line whose length is not known not far behind its begin, and there is room.
void tvms_line_cuts_add(tvms_line_cuts *cuts, int64_t at);

// Adds the place `at` in front of the end in the same way.
void tvms_line_cuts_add_back(tvms_line_cuts *cuts, int64_t at);

// How many steps a line of unknown length must have for the cuts to be in order.
int64_t tvms_line_cuts_least(const tvms_line_cuts *cuts);

// The steps of segment `at`: there is one more than there are cuts.
tvms_line_range tvms_line_cuts_segment(const tvms_line_cuts *cuts, uint32_t at);

// Adds the places where a condition of T.if_then_else in `expr` changes along the line with the variable `line`. Places
// that no number is known for are left out.
void tvms_line_cuts_find(tvms_line_cuts *cuts, tvms_node *expr, const tvms_node *line);

// Is each condition of T.if_then_else in `expr` the same for all steps of the axis between two such
// places? The length of the axis must be known.
bool tvms_line_cuts_suffice(tvms_unit *unit, tvms_node *expr,
                            const tvms_stage_axis *axis);

// What the sides of a comparison differ by grows by this number with each step of the axis with the variable `var`: it
// holds least at the last step if that is above 0, at the first one if below. 0: it does not grow, or not by a number
// that is known.
int64_t tvms_line_growth(tvms_unit *unit, tvms_node *comparison, const tvms_node *var);

// A comparison at that of the steps `range` of the axis with the variable `var` at which it holds least: if it does
// there, it does for all of them. Others, and those that are not linear in it, are returned as they are.
tvms_node *tvms_line_least(tvms_unit *unit, tvms_node *comparison, const tvms_node *var,
                           const tvms_line_range *range);

// A condition for steps `range` of the axis with the variable `var`: its comparisons that hold, or do not, for all of them
// are left out. `analyzer` knows of other variables.
tvms_node *tvms_line_settle(tvms_analyzer *analyzer, tvms_unit *unit,
                            tvms_node *condition, const tvms_node *var,
                            const tvms_line_range *range);

// `expr` for steps `range` of a line: what a condition chooses there, if that is known.
tvms_node *tvms_line_between(tvms_unit *unit, tvms_node *expr, const tvms_node *line,
                             const tvms_line_range *range);

#endif
