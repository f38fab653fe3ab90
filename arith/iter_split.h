// Expressions as sums of iterators.
#ifndef TVMS_ARITH_ITER_SPLIT_H
#define TVMS_ARITH_ITER_SPLIT_H

#include "arith/iter_sum.h"

// An expression, or the sum that it is; one of both is NULL.
typedef struct {
  tvms_node *TVMS_NULLABLE expr;
  const tvms_iter_sum *TVMS_NULLABLE sum;
} tvms_iter_value;

// The sum that `expr` is; `failed` is set if variables of the mapper stand where no iterator can.
tvms_iter_value tvms_iter_value_of(tvms_iter_mapper *m, tvms_node *expr);

// `expr` as one iterator behind a base, or a base alone.
const tvms_iter_sum *tvms_iter_sum_of(tvms_iter_mapper *m, tvms_node *expr);

#endif
