// exp, exp2, exp10, tanh and sigmoid of float64.
//
//   exp(x) = 2^n * exp(r) as for float32 (vector_exp.c), n ln 2 taken from x in two parts;
//   tanh(a) = e / (e + 2) with e = exp(2 a) - 1 = 2^n * (exp(r) - 1) + (2^n - 1), a = |x|;
//   sigmoid(x) = 1 / (1 + e) or e / (1 + e) with e = exp(-|x|).
#include "passes/tir/math/vector_double.h"

#include "passes/tir/math/vector_exp.h"
#include "passes/tir/math/vector_functions.h"

#include <math.h>

#define LOG2_E      0x1.71547652b82fep+0
#define LN2         0x1.62e42fee00000p-1  // its first 33 digits: products with n are exact
#define LN2_LOW     0x1.a39ef35793c76p-33  // the rest
#define LN2_NEAREST 0x1.62e42fefa39efp-1
#define LOG2_10     0x1.a934f0979a371p+1
#define LOG10_2     0x1.34413509f7800p-2  // as ln 2
#define LOG10_2_LOW 0x1.fef311f12b358p-46
#define LN10        0x1.26bb1bbb55516p+1
#define LN10_LOW    (-0x1.f48ad494ea3e9p-53)
#define LEAST       0x1p-512  // what small results are multiplied by at last
#define EXPONENT    52        // the place of a float64's exponent
#define BIAS        1023

// x = n * ln 2 + r; n stands in the low bits of t; rest is r with the second part of n * ln 2 still in it.
typedef struct {
  tvms_node *t, *n, *rest, *r;
} reduced;

// All but r.
static reduced begun(vector_steps *s, tvms_node *x) {
  tvms_node *rounder = number(s, TVMS_VECTOR_ROUNDER64);
  reduced made = {.t = keep(s, "t", fused(s, x, number(s, LOG2_E), rounder))};
  made.n = keep(s, "n", sub(s, made.t, rounder));
  made.rest = keep(s, "rest", fused(s, made.n, number(s, -LN2), x));
  return made;
}

static reduced reduce(vector_steps *s, tvms_node *x) {
  reduced made = begun(s, x);
  made.r = keep(s, "r", fused(s, made.n, number(s, -LN2_LOW), made.rest));
  return made;
}

static int64_t exponent(int n) {
  return (int64_t)(n + BIAS) << EXPONENT;
}

// 2^n times what `more` adds to the exponent.
static tvms_node *power_of_two(vector_steps *s, const reduced *of, tvms_node *more) {
  return of_bits(s, add(s, shift_left(s, bits_of(s, of->t), EXPONENT), more));
}

// exp(r) - 1, as a product with r and one more.
static tvms_node *powers_above(vector_steps *s, tvms_node *r) {
  return fused(s, tvms_vector_polynomial(s, POLYNOMIAL_exp_double, r), r, number(s, 1));
}

// exp(x) for -746 <= x <= 0: rounded once more if it is subnormal.
static tvms_node *exp_below(vector_steps *s, tvms_node *x) {
  reduced of = reduce(s, keep(s, "y", at_least(s, -746, x)));
  tvms_node *p = fused(s, powers_above(s, of.r), of.r, number(s, 1));
  tvms_node *power = power_of_two(s, &of, whole(s, exponent(512)));
  return mul(s, mul(s, p, power), number(s, LEAST));
}

// p * 2^n for -1075 <= n <= 1025, rounded once more if it is subnormal; y has the sign of n.
static tvms_node *scaled(vector_steps *s, tvms_node *p, const reduced *of,
                         tvms_node *y) {
  tvms_node *is_small = keep(s, "small", less(s, y, number(s, 0)));
  tvms_node *more =
      choose(s, is_small, whole(s, exponent(512)), whole(s, exponent(-1)));
  tvms_node *last = choose(s, is_small, number(s, LEAST), number(s, 2));
  return mul(s, mul(s, p, power_of_two(s, of, more)), last);
}

tvms_node *tvms_vector_exp_double(vector_steps *s, tvms_node *const *x) {
  tvms_node *y = keep(s, "y", at_most(s, 710, at_least(s, -746, x[0])));
  reduced of = reduce(s, y);
  tvms_node *p = fused(s, powers_above(s, of.r), of.r, number(s, 1));
  return scaled(s, p, &of, y);
}

tvms_node *tvms_vector_exp_of_sum(vector_steps *s, tvms_node *x, tvms_node *low) {
  reduced of = begun(s, x);
  low = keep(s, "low", fused(s, of.n, number(s, -LN2_LOW), low));
  of.r = keep(s, "r", rounded_sum(s, low, of.rest));
  low = add(s, sub(s, of.rest, of.r), low);
  tvms_node *p = tvms_vector_polynomial(s, POLYNOMIAL_exp_double, of.r);
  p = fused(s, mul(s, of.r, of.r), p, low);
  return scaled(s, add(s, add(s, of.r, p), number(s, 1)), &of, x);
}

tvms_node *tvms_vector_exp2_double(vector_steps *s, tvms_node *const *x) {
  tvms_node *y = keep(s, "y", at_most(s, 1025, at_least(s, -1075.5, x[0])));
  tvms_node *rounder = number(s, TVMS_VECTOR_ROUNDER64);
  reduced of = {.t = keep(s, "t", rounded_sum(s, y, rounder))};
  of.n = keep(s, "n", sub(s, of.t, rounder));
  of.r = keep(s, "r", mul(s, sub(s, y, of.n), number(s, LN2_NEAREST)));
  tvms_node *p = fused(s, powers_above(s, of.r), of.r, number(s, 1));
  return scaled(s, p, &of, y);
}

// The rest of y is multiplied with ln 10, in two parts.
tvms_node *tvms_vector_exp10_double(vector_steps *s, tvms_node *const *x) {
  tvms_node *y = keep(s, "y", at_most(s, 308.5, at_least(s, -324, x[0])));
  tvms_node *rounder = number(s, TVMS_VECTOR_ROUNDER64);
  reduced of = {.t = keep(s, "t", fused(s, y, number(s, LOG2_10), rounder))};
  of.n = keep(s, "n", sub(s, of.t, rounder));
  tvms_node *rest = fused(s, of.n, number(s, -LOG10_2), y);
  rest = keep(s, "rest", rest);
  tvms_node *low = fused(s, of.n, number(s, -LOG10_2_LOW), number(s, 0));
  low = fused(s, low, number(s, LN10), mul(s, rest, number(s, LN10_LOW)));
  of.r = keep(s, "r", fused(s, rest, number(s, LN10), low));
  tvms_node *p = fused(s, powers_above(s, of.r), of.r, number(s, 1));
  return scaled(s, p, &of, y);
}

// upper / d as if d were not rounded, which lacks `lost`. q is the quotient, inverse about 1 / d.
static tvms_node *better(vector_steps *s, tvms_node *upper, tvms_node *d, tvms_node *q,
                         tvms_node *inverse, tvms_node *lost) {
  tvms_node *minus = keep(s, "minus", mul(s, q, number(s, -1)));
  tvms_node *rest = fused(s, minus, lost, fused(s, minus, d, upper));
  return fused(s, rest, inverse, q);
}

tvms_node *tvms_vector_sigmoid_double(vector_steps *s, tvms_node *const *x) {
  tvms_node *minus =
      of_bits(s, bitwise(s, TVMS_TIR_bitwise_or, bits_of(s, x[0]), sign_bit(s)));
  tvms_node *e = keep(s, "e", exp_below(s, minus)), *one = number(s, 1);
  tvms_node *d = keep(s, "d", rounded_sum(s, e, one));
  tvms_node *below = keep(s, "below", less(s, x[0], number(s, 0)));
  tvms_node *upper = keep(s, "u", choose(s, below, e, one));
  tvms_node *q = keep(s, "q", quotient(s, upper, d));
  tvms_node *inverse = choose(s, below, sub(s, one, q), q);
  return better(s, upper, d, q, inverse, sub(s, e, sub(s, d, one)));
}

tvms_node *tvms_vector_tanh_double(vector_steps *s, tvms_node *const *x) {
  tvms_node *y = keep(s, "a", at_most(s, 20, magnitude(s, x[0])));
  reduced of = reduce(s, keep(s, "y", add(s, y, y)));
  tvms_node *p = tvms_vector_polynomial(s, POLYNOMIAL_exp_double, of.r);
  tvms_node *low = fused(s, of.n, number(s, -LN2_LOW), sub(s, of.rest, of.r));
  p = add(s, of.r, fused(s, mul(s, of.r, of.r), p, low));
  tvms_node *power = power_of_two(s, &of, whole(s, exponent(0)));
  power = keep(s, "power", power);
  tvms_node *e = fused(s, power, p, sub(s, power, number(s, 1)));
  e = keep(s, "e", e);
  tvms_node *two = number(s, 2), *half = number(s, 0.5);
  tvms_node *d = keep(s, "d", rounded_sum(s, e, two));
  tvms_node *q = keep(s, "q", quotient(s, e, d));
  tvms_node *inverse = fused(s, q, number(s, -0.5), half);
  // What a much larger e loses is less than what can be said of it so.
  tvms_node *lost = choose(s, less(s, e, number(s, 0x1p50)), sub(s, d, two), e);
  q = better(s, e, d, q, inverse, sub(s, e, lost));
  return signed_as(s, q, x[0]);
}
