// Sums of which only every s-th step counts, as those of transposed convolutions do.
//
//   Y[y] += T.if_then_else((y - a) % 2 == 0, X[(y - a) // 2] * W[a], 0)       three of four steps of two such axes add 0
//   even[y] += X[y - a] * W[2 * a]; odd[y] += X[y - a] * W[2 * a + 1]         y and a by what they leave when divided by s
//   Y[2 * y] = even[y]; Y[2 * y + 1] = odd[y]
#ifndef TVMS_PASSES_TIR_CPU_RESIDUES_H
#define TVMS_PASSES_TIR_CPU_RESIDUES_H

#include "passes/tir/cpu/stage.h"

// Does a condition ask for a sum to be taken apart?
bool tvms_cpu_has_residues(tvms_unit *unit, const tvms_stage *stage);

// Takes a sum apart by residues. False: none of its conditions asks for that.
bool tvms_cpu_split_residues(tvms_unit *unit, const tvms_stage *stage,
                             tvms_replacement *made);

#endif
