// Indices along a line that are no linear function of it: of what repeats, goes round or follows a formula.
#ifndef TVMS_PASSES_TIR_CPU_ROWS_INDEX_H
#define TVMS_PASSES_TIR_CPU_ROWS_INDEX_H

#include "passes/tir/cpu/rows_element.h"

// The load `now` of `old`, which the text has, with quotients and remainders in its indices taken apart: what all
// lanes have in common, and what is known of each. X[(j * 16 + lane) // 2] is X[j * 8 + lane // 2].
tvms_node *tvms_line_settle_load(tvms_line_writer *w, const tvms_node *old,
                                 tvms_node *now);

// Does a member of the pass load at places that only numbers and the axis of the line say, by no linear function? If
// the vectors of a short line are written out, it is known where each lane loads.
bool tvms_line_follows_formula(const tvms_line_writer *w);

// After how many steps of the line do quotients and remainders, in the places where a stage loads, go on as they
// began? 1 if there are none by numbers, or it takes more steps than `most`. X[j // 3] is three times X[0], three times
// X[1]: vectors that together are a multiple of 3 long know where each lane loads, but for a place they share.
int64_t tvms_line_period(tvms_unit *unit, const tvms_stage *stage,
                         const tvms_node *line, int64_t most);

#endif
