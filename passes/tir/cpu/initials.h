// What sums begin with, before they are looked at as contractions.
//
// Before: C[i, j] = 0     C[i, j] += A[i, k] * B[k, j]     two statements
// After:  one, which begins with 0
//
// Before: C[i, j] += A[i, k] * B[k, j], or a sum that begins with b[j]
// After:  t[i, j] = sum of A[i, k] * B[k, j]     C[i, j] = C[i, j] + t[i, j], or b[j] + t[i, j]
#ifndef TVMS_PASSES_TIR_CPU_INITIALS_H
#define TVMS_PASSES_TIR_CPU_INITIALS_H

#include "passes/tir/cpu/stage.h"

// The statements with contractions that begin where a statement in front stores a constant as one statement; `stmts`
// itself if there are none. What stands between may not use the result.
tvms_list tvms_cpu_join_initials(tvms_unit *unit, tvms_list stmts);

// A sum that chooses, in each step, between a constant and what it has so far, by whether the step is the first one, as one that begins
// with the constant: C[i, j] = T.Select(k == 0, 0, C[i, j]) + A[i, k] * B[k, j]. The statement itself if it is none.
tvms_node *tvms_cpu_begin_by_choice(tvms_unit *unit, tvms_node *stmt);

// All that a stage adds to what it stores, in the order of the text; NULL: it does something else, or adds
// what is made of the same buffer.
tvms_node *TVMS_NULLABLE tvms_cpu_all_addends(tvms_unit *unit, const tvms_stage *stage);

// Splits a sum that begins with something else than a constant in two statements: the sum from 0 on, and what adds it
// to what it begins with; `buffer` is what stands between, for the root block to allocate. Reals are rounded otherwise
// then: unless `reorders` allows that, and for what is no sum, the first statement stores what it begins with and the
// second one goes on from there, and `buffer` is NULL. Returns false if the sum is as well scheduled as it is.
TVMS_NODISCARD bool tvms_cpu_take_initial_out(tvms_unit *unit, const tvms_stage *stage,
                                              bool reorders, tvms_node *stmts[2],
                                              tvms_node **buffer);

// Can all statements of a replacement be scheduled, as products or as rows?
bool tvms_cpu_replaces(tvms_unit *unit, const tvms_replacement *made);

#endif
