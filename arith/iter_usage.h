// The sources in sums of iterators, and the splits of each.
#ifndef TVMS_ARITH_ITER_USAGE_H
#define TVMS_ARITH_ITER_USAGE_H

#include "arith/iter_sum.h"

// A source and the splits of it that stand in the sums.
typedef struct {
  tvms_iter_mark *mark;
  TVMS_VEC(tvms_iter_split) splits;
} tvms_iter_usage;

typedef TVMS_VEC(tvms_iter_usage) tvms_iter_usages;

// Adds what stands in a sum, and in the sums that its sources are. TVM: IterMarkSplitCollector.
void tvms_iter_usages_add(tvms_memory *memory, tvms_iter_usages *usages,
                          const tvms_iter_sum *sum);

// The usage of a source, or NULL.
const tvms_iter_usage *TVMS_NULLABLE
tvms_iter_usages_find(const tvms_iter_usages *usages, const tvms_iter_mark *mark);

// Frees what the list holds.
void tvms_iter_usages_fini(tvms_memory *memory, tvms_iter_usages *usages);

#endif
