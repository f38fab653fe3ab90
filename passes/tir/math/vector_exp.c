// Exponentials and what is made of them: exp, exp2, exp10, sigmoid, tanh, erf.
//
// x = n * ln 2 + r with a whole n, |r| <= ln 2 / 2: exp(x) = 2^n * exp(r). Adding 1.5 * 2^23 rounds to n and
// leaves it in the low bits of the sum, from where a shift makes 2^n of it: no conversion
// to integers, which would have to saturate.
#include "passes/tir/math/vector_exp.h"

#include "passes/tir/math/vector_functions.h"

#include <math.h>

#define LN2      0.69314718055994530942
#define LOG2_E   1.44269504088896340736
#define LN10     2.30258509299404568402
#define LOG2_10  3.32192809488736234787
#define LOG10_2  0.30102999566398119521
#define LEAST    0x1p-64  // what small results are multiplied by at last
#define EXPONENT 23       // the place of a float32's exponent
#define BIAS     127

static tvms_node *nearest(vector_steps *s, tvms_node *shifted) {
  return keep(s, "n", sub(s, shifted, number(s, TVMS_VECTOR_ROUNDER)));
}

// x - n * of, |n| < 256. The first part of `of` has so few digits that it is subtracted without error.
static tvms_node *rest(vector_steps *s, tvms_node *x, tvms_node *n, double of) {
  double first = floor(of * 0x1p14) * 0x1p-14;
  tvms_node *r = fused(s, n, number(s, -first), x);
  return fused(s, n, number(s, first - of), r);
}

static tvms_node *exp_of_rest(vector_steps *s, tvms_node *r) {
  tvms_node *one = number(s, 1), *p = tvms_vector_polynomial(s, POLYNOMIAL_exp, r);
  return fused(s, fused(s, p, r, one), r, one);
}

// exp(r) times a power of two, a step less, with 1.1 units in the last place more of error.
static tvms_node *short_exp(vector_steps *s, tvms_node *r, double scale) {
  tvms_node *p = tvms_vector_polynomial_times(s, POLYNOMIAL_exp_short, r, scale);
  return fused(s, p, r, number(s, scale));
}

// 2^n times what `more` adds to the exponent; n stands in the low bits.
static tvms_node *power_of_two(vector_steps *s, tvms_node *bits, tvms_node *more) {
  return of_bits(s, add(s, shift_left(s, bits, EXPONENT), more));
}

static int32_t exponent(int n) {
  return (int32_t)((uint32_t)(n + BIAS) << EXPONENT);
}

// The same of 2^n * -1.
static int32_t negative(int n) {
  return exponent(n) - INT32_MAX - 1;
}

tvms_node *tvms_vector_scale(vector_steps *s, tvms_node *p, tvms_node *bits,
                             tvms_node *is_small) {
  is_small = keep(s, "small", is_small);
  tvms_node *more = choose(s, is_small, whole(s, exponent(64)), whole(s, exponent(-1)));
  tvms_node *last = choose(s, is_small, number(s, LEAST), number(s, 2));
  return mul(s, mul(s, p, power_of_two(s, bits, more)), last);
}

tvms_node *tvms_vector_exp(vector_steps *s, tvms_node *const *x) {
  tvms_node *y = keep(s, "y", at_most(s, 89, at_least(s, -104, x[0])));
  tvms_node *t =
      keep(s, "t", fused(s, y, number(s, LOG2_E), number(s, TVMS_VECTOR_ROUNDER)));
  tvms_node *r = keep(s, "r", rest(s, y, nearest(s, t), LN2));
  return tvms_vector_scale(s, short_exp(s, r, 1), bits_of(s, t),
                           less(s, y, number(s, 0)));
}

tvms_node *tvms_vector_exp_below(vector_steps *s, tvms_node *x) {
  tvms_node *y = keep(s, "y", at_least(s, -104, x));
  tvms_node *t =
      keep(s, "t", fused(s, y, number(s, LOG2_E), number(s, TVMS_VECTOR_ROUNDER)));
  tvms_node *r = keep(s, "r", rest(s, y, nearest(s, t), LN2));
  tvms_node *power = power_of_two(s, bits_of(s, t), whole(s, exponent(64)));
  return mul(s, short_exp(s, r, LEAST), power);
}

tvms_node *tvms_vector_exp2_inside(vector_steps *s, tvms_node *r) {
  return fused(s, tvms_vector_polynomial(s, POLYNOMIAL_exp2, r), r, number(s, 1));
}

tvms_node *tvms_vector_exp2(vector_steps *s, tvms_node *const *x) {
  tvms_node *y = keep(s, "y", at_most(s, 129, at_least(s, -151, x[0])));
  tvms_node *t = keep(s, "t", rounded_sum(s, y, number(s, TVMS_VECTOR_ROUNDER)));
  tvms_node *r = keep(s, "r", sub(s, y, nearest(s, t)));
  tvms_node *p = tvms_vector_exp2_inside(s, r);
  return tvms_vector_scale(s, p, bits_of(s, t), less(s, y, number(s, 0)));
}

tvms_node *tvms_vector_exp10(vector_steps *s, tvms_node *const *x) {
  tvms_node *y = keep(s, "y", at_most(s, 38.75, at_least(s, -46, x[0])));
  tvms_node *t =
      keep(s, "t", fused(s, y, number(s, LOG2_10), number(s, TVMS_VECTOR_ROUNDER)));
  tvms_node *n = nearest(s, t);
  tvms_node *r = keep(s, "r", mul(s, rest(s, y, n, LOG10_2), number(s, LN10)));
  return tvms_vector_scale(s, exp_of_rest(s, r), bits_of(s, t),
                           less(s, y, number(s, 0)));
}

// 1 / (1 + exp(-x)), both parts of the quotient 2^-64 as large, so that exp(-x) is a number as far as the result is more than 0.
// exp(-x) = 2^n * (1 - h): the negative power is what h is multiplied by.
tvms_node *tvms_vector_sigmoid(vector_steps *s, tvms_node *const *x) {
  tvms_node *y = keep(s, "y", at_most(s, 40, at_least(s, -104, x[0])));
  tvms_node *rounder = number(s, TVMS_VECTOR_ROUNDER), *last = number(s, LEAST);
  tvms_node *t = keep(s, "t", fused(s, y, number(s, -LOG2_E), rounder));
  tvms_node *minus = keep(s, "n", sub(s, rounder, t));
  tvms_node *r = keep(s, "r", rest(s, y, minus, LN2));
  tvms_node *p = tvms_vector_polynomial(s, POLYNOMIAL_exp_minus, r);
  tvms_node *h = fused(s, mul(s, r, r), p, r);
  tvms_node *power = power_of_two(s, bits_of(s, t), whole(s, negative(-64)));
  power = keep(s, "power", power);
  return quotient(s, last, sub(s, fused(s, h, power, last), power));
}

// f / (f + 3/2), f = 3/4 * (exp(2 a) - 1), a = |x|. Where the result is below 1/4, and rounding has the most
// effect, the divisor is from 3/2 to 2 then, and loses least. 2 a is never computed: a less multiples of ln 2 / 2
// goes into powers of twice of it.
tvms_node *tvms_vector_tanh(vector_steps *s, tvms_node *const *x) {
  const double part = 0.75;
  tvms_node *y = keep(s, "y", at_most(s, 9.5, magnitude(s, x[0])));
  tvms_node *rounder = number(s, TVMS_VECTOR_ROUNDER);
  tvms_node *t = keep(s, "t", fused(s, y, number(s, 2 * LOG2_E), rounder));
  tvms_node *r = keep(s, "r", fused(s, nearest(s, t), number(s, -LN2 / 2), y));
  tvms_node *p = tvms_vector_polynomial(s, POLYNOMIAL_exp_part, r);
  tvms_node *h = fused(s, r, number(s, 2 * part), mul(s, mul(s, r, r), p));
  tvms_node *bits = keep(s, "bits", shift_left(s, bits_of(s, t), EXPONENT));
  tvms_node *power = of_bits(s, add(s, bits, whole(s, exponent(0))));
  // The bits of 3/4 are those of 1/2 and half of a step of the exponent.
  int32_t three_quarters = exponent(-1) + (1 << (EXPONENT - 1));
  tvms_node *rest = of_bits(s, add(s, bits, whole(s, three_quarters)));
  rest = sub(s, rest, number(s, part));
  tvms_node *f = keep(s, "f", fused(s, h, power, rest));
  return signed_as(s, quotient(s, f, add(s, f, number(s, 2 * part))), x[0]);
}

// x + x * … near 0, 1 - 2^n * 2^r elsewhere: the polynomial is log2(1 - erf(x)) / x.
tvms_node *tvms_vector_erf(vector_steps *s, tvms_node *const *x) {
  tvms_node *a = keep(s, "a", magnitude(s, x[0]));
  tvms_node *square = keep(s, "s", mul(s, x[0], x[0]));
  tvms_node *p = tvms_vector_polynomial(s, POLYNOMIAL_erf, square);
  tvms_node *near = keep(s, "near", fused(s, p, x[0], x[0]));
  tvms_node *y = keep(s, "y", at_most(s, 3.95, a));
  tvms_node *q = keep(s, "q", tvms_vector_polynomial(s, POLYNOMIAL_erfc, y));
  tvms_node *rounder = number(s, TVMS_VECTOR_ROUNDER);
  tvms_node *t = keep(s, "t", fused(s, q, y, rounder));
  tvms_node *minus = keep(s, "n", sub(s, rounder, t));
  tvms_node *r = keep(s, "r", fused(s, q, y, minus));
  p = tvms_vector_polynomial(s, POLYNOMIAL_exp2_short, r);
  p = fused(s, p, r, number(s, 1));
  tvms_node *power = power_of_two(s, bits_of(s, t), whole(s, negative(0)));
  tvms_node *far = fused(s, p, power, number(s, 1));
  return choose(s, less(s, a, number(s, 1)), near, signed_as(s, far, x[0]));
}
