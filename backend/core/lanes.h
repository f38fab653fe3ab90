// Vectors of indices of which it is known where their lanes are from one place on.
#ifndef TVMS_BACKEND_CORE_LANES_H
#define TVMS_BACKEND_CORE_LANES_H

#include "ir/node.h"

enum { TVMS_MOST_LANES = 64, TVMS_MOST_LANE_BASES = 4 };

// Lane i is the sum of the bases and offsets[i].
typedef struct {
  const tvms_node *bases[TVMS_MOST_LANE_BASES];  // scalars
  uint32_t base_count;
  int64_t offsets[TVMS_MOST_LANES];
  uint32_t count;
  int64_t least, span;  // all offsets are in least … least + span - 1
} tvms_lanes;

// Reads an integer vector: ramps, what is computed of ramps of numbers, and what is added to all of their lanes.
// Returns false if it is anything else.
bool tvms_lanes_read(const tvms_node *index, tvms_lanes *lanes);

// The lanes of a vector of truths as bits, lane 0 the least; false: numbers alone do not decide them.
bool tvms_lanes_truths(const tvms_node *predicate, uint64_t *bits);

#endif
