// Normal form of sums: what arith/canonical.c computes with. Private to arith/.
//
// A *split* is ((index mod upper) div lower) * scale: a run of the digits of an index,
// shifted. A *sum* is splits plus a constant. With upper = infinity, lower = 1 and
// scale = 1 a split is the index itself, so every integer expression is a sum.
//
//   i * 8 + j + 3          {i, scale 8} {j}                       base 3
//   x % 16 // 4 * 2        {x, upper 16, lower 4, scale 2}        base 0
//   x // 4 * 4 + x % 4     {x, lower 4, scale 4} {x, upper 4}     base 0
//
// Invariants: upper is infinity or a multiple of lower; both operations of a split round
// the same way (`floor`); the splits of one index stand together, large `lower` first,
// and no two of them are alike in all but the scale. The last row shows what that order is
// for: neighbours whose digits meet merge when the sum becomes an expression, here to x.
//
// Dividing a sum by a constant c parts it into the splits whose scale c divides and the
// rest: (i * 8 + j) // 8 is i + j // 8, and i alone if 0 <= j < 8 is known. Nearly all that
// is proved about indices comes from this step.
//
// A sum that is being built belongs to whoever holds it and may be changed in place; the
// expression that it came from is never changed. TVM: src/arith/canonical_simplify.cc.
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
