// The distinct elements of a tensor, or its distinct parts along an axis: what numpy.unique
// gives, as relax.run.unique calls it.
#ifndef TVMS_INTERP_UNIQUE_H
#define TVMS_INTERP_UNIQUE_H

#include "runtime/value.h"
#include "support/arena.h"

// What is asked for besides the values themselves.
typedef struct {
  bool sorted;   // by value; else as they first occur
  bool index;    // where each occurs first
  bool inverse;  // which of the values each part has
  bool counts;
  bool by_axis;  // parts along `axis`; else elements, and the values are a vector
  int64_t axis;  // from 0
} tvms_interp_unique;

// A tensor, or a tuple of a tensor and what was asked for, which the caller owns; a value of
// kind 0 if memory is short.
tvms_value tvms_interp_unique_of(tvms_heap *heap, tvms_arena *scratch,
                                 const tvms_tensor *x, const tvms_interp_unique *how);

#endif
