// Steps of loops that touch different elements.
#ifndef TVMS_PASSES_TIR_CPU_PIECES_APART_H
#define TVMS_PASSES_TIR_CPU_PIECES_APART_H

#include "passes/tir/cpu/pieces.h"

// How many loops stand around both pieces.
uint32_t tvms_cpu_pieces_shared_loops(const tvms_piece *a, const tvms_piece *b);

// Can two accesses touch the same element only in the same step of the first `shared` loops, which stand around both
// pieces?
bool tvms_cpu_pieces_tell_apart(const tvms_pieces *pieces, const tvms_piece_access *a,
                                const tvms_piece_access *b, uint32_t shared);

#endif
