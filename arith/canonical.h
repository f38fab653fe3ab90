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

tvms_canonical_split tvms_canonical_split_of(tvms_node *index);
bool tvms_canonical_split_fits(const tvms_canonical_split *split, bool floor);
tvms_node *tvms_canonical_split_node(tvms_unit *unit, const tvms_canonical_split *split,
                                     int64_t scale);

tvms_sum *tvms_canonical_sum_new(tvms_unit *unit, tvms_dtype dtype);
void tvms_canonical_sum_append(tvms_unit *unit, tvms_sum *sum,
                               tvms_canonical_split split);
// sum += split * scale, keeping the order.
void tvms_canonical_sum_add(tvms_unit *unit, tvms_sum *sum, tvms_canonical_split split,
                            int64_t scale);
void tvms_canonical_sum_add_sum(tvms_unit *unit, tvms_sum *sum, const tvms_sum *other,
                                int64_t scale);
void tvms_canonical_sum_scale(tvms_sum *sum, int64_t scale);
// Exact division of all scales.
void tvms_canonical_sum_divide(tvms_sum *sum, int64_t by);
bool tvms_canonical_sum_is_zero(const tvms_sum *sum);
// The parts that `by` divides, and the others.
void tvms_canonical_sum_separate(tvms_unit *unit, const tvms_sum *sum, int64_t by,
                                 tvms_sum **divisible, tvms_sum **rest);
tvms_node *tvms_canonical_sum_node(tvms_unit *unit, const tvms_sum *sum);

// May a cast to `dtype` be moved inside without changing the value?
bool tvms_canonical_split_takes_cast(tvms_analyzer *analyzer,
                                     const tvms_canonical_split *split,
                                     tvms_dtype dtype);
bool tvms_canonical_sum_takes_cast(tvms_analyzer *analyzer, const tvms_sum *sum,
                                   tvms_dtype dtype);
void tvms_canonical_split_cast(tvms_unit *unit, tvms_canonical_split *split,
                               tvms_dtype dtype);
void tvms_canonical_sum_cast(tvms_unit *unit, tvms_sum *sum, tvms_dtype dtype);

#endif
