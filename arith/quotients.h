// Quotients of one expression by several numbers.
#ifndef TVMS_ARITH_QUOTIENTS_H
#define TVMS_ARITH_QUOTIENTS_H

#include "ir/build.h"

// `expr` with quotients, rounded down, of one expression by multiples of a number as quotients of a new variable:
//
//   (n - 1) // 4 * 2 <= (n - 1) // 2     becomes     v // 2 * 2 <= v
//
// What holds for each v holds for `expr`, and simplifies more often. The same node if there are none.
tvms_node *tvms_arith_join_quotients(tvms_unit *unit, tvms_node *expr);

#endif
