// Sums of splits: adding, merging, ordering, and back to expressions.
#ifndef TVMS_ARITH_CANONICAL_SUM_H
#define TVMS_ARITH_CANONICAL_SUM_H

#include "arith/canonical.h"

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
