// Sums of splits: adding, merging, ordering, and back to expressions.
#ifndef TVMS_ARITH_CANONICAL_SUM_H
#define TVMS_ARITH_CANONICAL_SUM_H

#include "arith/canonical.h"

// The split that is `index` itself: factors of 1, no limits.
tvms_canonical_split tvms_canonical_split_of(tvms_node *index);

// True if the split is of that rounding, or needs none: floor division if `floor`,
// truncation otherwise.
bool tvms_canonical_split_fits(const tvms_canonical_split *split, bool floor);

// The split times `scale` as an expression: index % upper // lower * scale, each part
// only where it does something.
tvms_node *tvms_canonical_split_node(tvms_unit *unit, const tvms_canonical_split *split,
                                     int64_t scale);

// The empty sum, which is 0, of a scalar integer dtype. It lies in the unit's arena.
tvms_sum *tvms_canonical_sum_new(tvms_unit *unit, tvms_dtype dtype);

// Adds a split at the end without looking for its place: the caller keeps the order.
void tvms_canonical_sum_append(tvms_unit *unit, tvms_sum *sum,
                               tvms_canonical_split split);

// sum += split * scale, keeping the order.
void tvms_canonical_sum_add(tvms_unit *unit, tvms_sum *sum, tvms_canonical_split split,
                            int64_t scale);

// sum += other * scale, split by split; `other` is unchanged.
void tvms_canonical_sum_add_sum(tvms_unit *unit, tvms_sum *sum, const tvms_sum *other,
                                int64_t scale);

// Multiplies every scale and the constant; overflow wraps, as the dtype's arithmetic
// does.
void tvms_canonical_sum_scale(tvms_sum *sum, int64_t scale);

// Exact division of all scales.
void tvms_canonical_sum_divide(tvms_sum *sum, int64_t by);

// True if nothing is left: no split, and the constant is 0.
bool tvms_canonical_sum_is_zero(const tvms_sum *sum);

// The parts that `by` divides, and the others.
void tvms_canonical_sum_separate(tvms_unit *unit, const tvms_sum *sum, int64_t by,
                                 tvms_sum **divisible, tvms_sum **rest);

// The sum as an expression in TVM's order: what is added, a positive constant, what
// is subtracted, a negative constant.
tvms_node *tvms_canonical_sum_node(tvms_unit *unit, const tvms_sum *sum);

// May a cast to `dtype` be moved inside without changing the value?
bool tvms_canonical_split_takes_cast(tvms_analyzer *analyzer,
                                     const tvms_canonical_split *split,
                                     tvms_dtype dtype);

// The same for a sum: each part and each partial sum must fit the dtype.
bool tvms_canonical_sum_takes_cast(tvms_analyzer *analyzer, const tvms_sum *sum,
                                   tvms_dtype dtype);

// Moves the cast inside; tvms_canonical_split_takes_cast said that it may.
void tvms_canonical_split_cast(tvms_unit *unit, tvms_canonical_split *split,
                               tvms_dtype dtype);

// Moves the cast into every split of the sum; tvms_canonical_sum_takes_cast said that
// it may.
void tvms_canonical_sum_cast(tvms_unit *unit, tvms_sum *sum, tvms_dtype dtype);

#endif
