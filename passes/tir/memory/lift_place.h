// Places in one memory for what is used at different times.
#ifndef TVMS_PASSES_TIR_MEMORY_LIFT_PLACE_H
#define TVMS_PASSES_TIR_MEMORY_LIFT_PLACE_H

#include "support/memory.h"
#include "support/vec.h"

// What lies in a workspace while these statements run: a tensor, or the memory of a call.
typedef struct {
  int64_t bytes, begin;  // -1: it has no place yet
  uint32_t first, last;
} tvms_lift_piece;

typedef TVMS_VEC(tvms_lift_piece) tvms_lift_pieces;

// The next place that pieces may begin at.
int64_t tvms_lift_place_aligned(int64_t bytes);

// Gives each piece its place, and returns where the last one ends: the largest first, each at the first place
// that is free as long as it is used.
int64_t tvms_lift_place_first(tvms_lift_pieces *pieces);

// The same where each of `shares` threads (at least two) works on its part of each piece: the largest first, each where the fewest
// bytes belong to another thread than in the pieces that lie there at other times, and little memory is added. Returns -1, and
// leaves pieces without places, if that takes more than `limit` bytes, or too long to find out.
int64_t tvms_lift_place_shares(tvms_memory *memory, tvms_lift_pieces *pieces,
                               uint32_t shares, int64_t limit);

#endif
