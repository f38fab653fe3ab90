// What numbers the text of an expression can give, from the bounds of the loops around it.
//
//   for i in range(28):
//       T.Cast("int64", T.floor(T.Cast("float32", i) * T.float32(2.5) - T.float32(0.5)))        -1 … 67
//
// Such a float becomes an integer without a look at whether the type has it.
#ifndef TVMS_BACKEND_C_RANGES_H
#define TVMS_BACKEND_C_RANGES_H

#include "ir/node.h"

typedef struct {
  bool known;
  double least, most;
} c_interval;

// The ranges of variables by id, fewer than `ids`: those of loops with constant bounds. They live as long as what the
// context's scratch arena holds.
const c_interval *tvms_c_ranges_find(tvms_context *context, tvms_node *body,
                                     uint32_t ids);

// Is a float a number, and its whole part one that the integer type `to` has?
bool tvms_c_ranges_fit(const c_interval *ranges, const tvms_node *value, tvms_dtype to);

#endif
