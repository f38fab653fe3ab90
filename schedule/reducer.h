// Reductions that TVM knows: sum, product, minimum, maximum, two sums, and the place of an
// extreme.
#ifndef TVMS_SCHEDULE_REDUCER_H
#define TVMS_SCHEDULE_REDUCER_H

#include "ir/node.h"

enum { TVMS_MOST_REDUCED = 2 };

// What a block with T.init() reduces.
typedef struct {
  tvms_node *reducer;  // COMM_REDUCER
  uint32_t count;      // of buffers
  tvms_node *buffers[TVMS_MOST_REDUCED];
  tvms_node *values[TVMS_MOST_REDUCED];  // combined with what the buffers hold
  tvms_list indices;                     // where they are written
} tvms_reduction;

// Reads the reduction of a block: its init and its body are as many stores, to the same place of
// different buffers, and the values are those of a reducer. Otherwise NULL comes back in
// `reducer`, and a sentence that says what is wrong. TVM:
// GetInitValuesAndUpdatesFromReductionBlock and GetReducerAndCombinerLhsRhs.
const char *TVMS_NULLABLE tvms_reducer_find(tvms_unit *unit, const tvms_block *block,
                                            tvms_reduction *reduction);

#endif
