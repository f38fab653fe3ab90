// What a region of a buffer covers while variables run, dimension by dimension. TVM: EstimateRegionStrictBound and
// EstimateRegionUpperBound of src/arith/int_set.cc.
#ifndef TVMS_ARITH_ITER_REGION_H
#define TVMS_ARITH_ITER_REGION_H

#include "arith/int_set.h"
#include "arith/iter_map.h"

// A region and the variables that run below it.
typedef struct {
  tvms_unit *unit;
  tvms_analyzer *analyzer;
  const tvms_iter_domain *domains;
  uint32_t domain_count;
  tvms_node *predicate;  // holds wherever the region is accessed
  bool falls;  // steps that fall must not leave gaps, either; TVM does not ask
  tvms_node *const *mins, *const *extents;
  uint32_t rank;
} tvms_iter_region;

// Finds the sets if they can be told exactly. False: they cannot, or dimensions depend on each other.
TVMS_NODISCARD bool tvms_iter_region_strict(const tvms_iter_region *region,
                                            tvms_int_set *sets);

// Finds sets that hold the region; `sets_of` are the domains as sets, for what is no iterator.
void tvms_iter_region_upper(const tvms_iter_region *region, const tvms_domains *sets_of,
                            tvms_int_set *sets);

#endif
