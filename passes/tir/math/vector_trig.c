// sin, cos and tan of all floats.
//
// |x| = n * pi / 2 + r, |r| <= pi / 4, in float64: a product with 2 / pi in two parts, 106 digits. Of a large x only the
// fraction counts, and digits of 2 / pi whose product with x is a multiple of 4 are left out: six
// ranges of x have constants of their own, so that the product is always below 2^43 and exact
// to 2^-60, where no float is nearer to a multiple of pi / 2 than 2^-32.
#include "passes/tir/math/vector_exp.h"
#include "passes/tir/math/vector_functions.h"

#include <math.h>

#define HALF_PI 1.57079632679489661923

// 2 / pi without its digits that count for no x from the end of the range before on.
static const struct {
  double below, high, low;
} ranges[] = {
#define RANGE(below, high, low) {below, high, low},
#include "passes/tir/math/vector_math.def"
};

enum { RANGES = sizeof ranges / sizeof ranges[0] };

// The angle in r and the quadrant in the two lowest bits of an int32.
typedef struct {
  tvms_node *r, *quadrant;
} angle;

// Which ranges `a` is below the end of. Floats are compared: half as many registers as of the doubles that are chosen.
static void find_range(vector_steps *s, tvms_node *a, tvms_node *below[RANGES]) {
  for (uint32_t i = 0; i < RANGES - 1; i++)
    below[i] = keep(s, "below", less(s, a, number(s, ranges[i].below)));
}

// Digits of 2 / pi for that range, the first or those behind them.
static tvms_node *digits(vector_steps *s, tvms_node *const below[RANGES],
                         bool is_high) {
  uint32_t i = RANGES - 1;
  tvms_node *value = number64(s, is_high ? ranges[i].high : ranges[i].low);
  while (i-- > 0) {
    tvms_node *own = number64(s, is_high ? ranges[i].high : ranges[i].low);
    value = choose(s, below[i], own, value);
  }
  return value;
}

// The angle is a float64 if it is to be `wide`.
static angle reduce(vector_steps *s, tvms_node *x, bool is_wide) {
  tvms_node *a = keep(s, "a", magnitude(s, x));
  tvms_node *wide = keep(s, "w", convert(s, of_lanes(s, TVMS_FLOAT, 64), a));
  tvms_node *below[RANGES];
  find_range(s, a, below);
  tvms_node *high = keep(s, "h", digits(s, below, true));
  // Its own rounding is needed below: T.fma, since a product could be contracted.
  tvms_node *p = keep(s, "p", fused(s, wide, high, number64(s, 0)));
  tvms_node *rounder = number64(s, TVMS_VECTOR_ROUNDER64);
  tvms_node *t = keep(s, "t", fused(s, wide, high, rounder));
  tvms_node *lost = fused(s, wide, high, mul(s, p, number64(s, -1)));
  lost = fused(s, wide, digits(s, below, false), lost);
  tvms_node *fraction = add(s, sub(s, p, sub(s, t, rounder)), lost);
  tvms_node *r = mul(s, fraction, number64(s, HALF_PI));
  if (!is_wide) r = convert(s, s->dtype, r);
  tvms_node *bits = tvms_vector_reinterpret(s, of_lanes(s, TVMS_INT, 64), t);
  angle result = {.r = keep(s, "r", r)};
  result.quadrant = keep(s, "q", convert(s, of_lanes(s, TVMS_INT, 32), bits));
  return result;
}

// The sine of r plus as many quarters of a turn as `quadrant` says, its sign flipped by `sign`.
static tvms_node *sine(vector_steps *s, tvms_node *r, tvms_node *quadrant,
                       tvms_node *TVMS_NULLABLE sign) {
  tvms_node *square = keep(s, "s", mul(s, r, r));
  tvms_node *p = tvms_vector_polynomial(s, POLYNOMIAL_sin, square);
  tvms_node *of_sin = fused(s, mul(s, r, square), p, r);
  p = tvms_vector_polynomial(s, POLYNOMIAL_cos, square);
  tvms_node *first = fused(s, square, number(s, -0.5), number(s, 1));
  tvms_node *of_cos = fused(s, mul(s, square, square), p, first);
  tvms_node *odd = bitwise(s, TVMS_TIR_bitwise_and, quadrant, whole(s, 1));
  tvms_node *value = choose(s, equal(s, odd, whole(s, 0)), of_sin, of_cos);
  tvms_node *flip = bitwise(s, TVMS_TIR_bitwise_and, quadrant, whole(s, 2));
  flip = shift_left(s, flip, 30);
  if (sign) flip = bitwise(s, TVMS_TIR_bitwise_xor, flip, sign);
  return of_bits(s, bitwise(s, TVMS_TIR_bitwise_xor, bits_of(s, value), flip));
}

tvms_node *tvms_vector_sin(vector_steps *s, tvms_node *const *x) {
  angle reduced = reduce(s, x[0], false);
  return sine(s, reduced.r, reduced.quadrant, sign_of(s, x[0]));
}

tvms_node *tvms_vector_cos(vector_steps *s, tvms_node *const *x) {
  angle reduced = reduce(s, x[0], false);
  tvms_node *next = keep(s, "q1", add(s, reduced.quadrant, whole(s, 1)));
  return sine(s, reduced.r, next, NULL);
}

// A quotient of sine and cosine in float64, since two roundings more would be too many.
tvms_node *tvms_vector_tan(vector_steps *s, tvms_node *const *x) {
  angle reduced = reduce(s, x[0], true);
  tvms_node *r = reduced.r, *square = keep(s, "s", mul(s, r, r));
  tvms_node *p = tvms_vector_polynomial(s, POLYNOMIAL_sin_wide, square);
  tvms_node *of_sin = keep(s, "sine", fused(s, mul(s, r, square), p, r));
  p = tvms_vector_polynomial(s, POLYNOMIAL_cos_wide, square);
  tvms_node *first = fused(s, square, number64(s, -0.5), number64(s, 1));
  tvms_node *of_cos = keep(s, "cosine", fused(s, mul(s, square, square), p, first));
  tvms_node *odd = bitwise(s, TVMS_TIR_bitwise_and, reduced.quadrant, whole(s, 1));
  odd = keep(s, "odd", equal(s, odd, whole(s, 1)));
  tvms_node *minus = mul(s, of_cos, number64(s, -1));
  tvms_node *value =
      quotient(s, choose(s, odd, minus, of_sin), choose(s, odd, of_sin, of_cos));
  tvms_node *bits = bits_of(s, convert(s, s->dtype, value));
  return of_bits(s, bitwise(s, TVMS_TIR_bitwise_xor, bits, sign_of(s, x[0])));
}
