// Sorting by a packed function, for descriptions that need an order.
#ifndef TVMS_TE_LEGALIZE_SORT_H
#define TVMS_TE_LEGALIZE_SORT_H

#include "te/te.h"

// The places along an axis of as many elements of each row as `counts` says, greatest first;
// those behind them are in their places.
tvms_node *tvms_te_argsort_counted(tvms_te *te, tvms_node *x, tvms_node *counts,
                                   int64_t axis);

// The places of the elements of `x` along an axis in order, as numbers of `dtype`.
tvms_node *tvms_te_argsort(tvms_te *te, tvms_node *x, int64_t axis, bool ascends,
                           tvms_dtype dtype);

#endif
