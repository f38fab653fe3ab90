// From the values of indices back to the variables that they are made of.
#ifndef TVMS_ARITH_ITER_INVERSE_H
#define TVMS_ARITH_ITER_INVERSE_H

#include "arith/iter_sum.h"

// Puts into `found` for every variable in the sums what it is where sum i has the value
// values[i]. False if a sum does not tell: its parts overlap or leave gaps. TVM:
// InverseAffineIterMap.
TVMS_NODISCARD bool tvms_iter_invert(tvms_iter_mapper *m,
                                     const tvms_iter_sum *const *sums, uint32_t count,
                                     tvms_node *const *values, tvms_node_map *found);

#endif
