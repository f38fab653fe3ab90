// Normal form of sums: what arith/canonical.c computes with. Private to arith/.
//
// A split is ((index mod upper) div lower) * scale; a sum is splits plus a constant.
// Within a sum, splits of one index stand together, large `lower` first.
#ifndef TVMS_ARITH_CANONICAL_H
#define TVMS_ARITH_CANONICAL_H

#include "arith/internal.h"

typedef struct {
  tvms_node *index;
  int64_t lower;  // 1: no division
  int64_t upper;  // TVMS_POS_INF: no modulo; else a multiple of lower
  int64_t scale;
  bool floor;  // rounding of both operations
} tvms_canonical_split;

typedef struct {
  tvms_dtype dtype;
  tvms_canonical_split *args;
  uint32_t len, cap;
  int64_t base;
  // Of a long sum: where the splits of an index begin, by its hash; position + 1, 0: free.
  uint32_t *TVMS_NULLABLE slots;
  uint32_t slot_mask;
  uint32_t placed;  // how many splits `slots` knows
} tvms_sum;

// The canonical part of a visit: arith/canonical.c.
tvms_node *tvms_simplifier_visit_canonical(tvms_simplifier *s, tvms_node *node);

#endif
