// Conditions along a line: where they change, and what they are between two such places.
#ifndef TVMS_PASSES_TIR_CPU_SEGMENTS_H
#define TVMS_PASSES_TIR_CPU_SEGMENTS_H

#include "passes/tir/cpu/rows.h"

enum { TVMS_MOST_SEGMENTS = 8 };

// Adds the place `at` of a line of `length` steps to the `count` that are known, in order, if it lies in
// between and there is room; returns how many there are then.
uint32_t tvms_line_add_cut(int64_t *cuts, uint32_t count, int64_t length, int64_t at);

// Places of a line of `length` steps where a condition of T.if_then_else in `expr` changes, added in
// order to the `count` ones that are known: there at most TVMS_MOST_SEGMENTS - 1. Places that no
// number is known for are left out.
uint32_t tvms_line_cuts(tvms_unit *unit, tvms_node *expr, const tvms_node *line,
                        int64_t length, int64_t *cuts, uint32_t count);

// Is each condition of T.if_then_else in `expr` the same for all steps of the axis between two such
// places?
bool tvms_line_cuts_suffice(tvms_unit *unit, tvms_node *expr,
                            const tvms_stage_axis *axis);

// `expr` for lines from `begin` up to `end`: what a condition chooses there, if that is known.
tvms_node *tvms_line_between(tvms_unit *unit, tvms_node *expr, const tvms_node *line,
                             int64_t begin, int64_t end);

#endif
