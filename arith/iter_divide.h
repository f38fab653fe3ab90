// Sums of iterators as outer and inner parts; what arith/iter_map.c divides with.
#ifndef TVMS_ARITH_ITER_DIVIDE_H
#define TVMS_ARITH_ITER_DIVIDE_H

#include "arith/iter_map.h"
#include "arith/iter_sum.h"

// Divides sums: those variables for which `is_inner` has an entry run inside. Gets the parts as expressions, and the conditions on
// either. False: it cannot be done. TVM: SubspaceDivider.
TVMS_NODISCARD bool tvms_iter_divide(tvms_iter_mapper *m, const tvms_node_map *is_inner,
                                     const tvms_iter_sum *const *sums, uint32_t count,
                                     tvms_iter_parts *parts);

#endif
