// exp, log, tanh and sigmoid of float64.
//
//   exp(x) = 2^n * exp(r) as for float32 (vector_exp.c), n ln 2 taken from x in two parts;
//   log(x) = k ln 2 + log(1 + f), x = 2^k * (1 + f), log(1 + f) from s = f / (2 + f):
//            f - (f^2 / 2 - s * (f^2 / 2 + s^2 * …)), so that what is rounded is small against f;
//   tanh(a) = e / (e + 2) with e = exp(2 a) - 1 = 2^n * (exp(r) - 1) + (2^n - 1), a = |x|;
//   sigmoid(x) = 1 / (1 + e) or e / (1 + e) with e = exp(-|x|).
#include "passes/tir/math/vector_exp.h"
#include "passes/tir/math/vector_functions.h"
#include "passes/tir/math/vector_log.h"

#include <math.h>

#define LOG2_E    0x1.71547652b82fep+0
#define LN2       0x1.62e42fee00000p-1  // its first 33 digits: products with n are exact
#define LN2_LOW   0x1.a39ef35793c76p-33  // the rest
#define SQRT_HALF 0x3fe6a09e667f3bcd     // the bits of sqrt(1/2)
#define NORMAL    0x1p-1022              // the least number that is not subnormal
#define LEAST     0x1p-512               // what small results are multiplied by at last
#define EXPONENT  52                     // the place of a float64's exponent
#define BIAS      1023

// x = n * ln 2 + r; n stands in the low bits of t; rest is r with the second part of n * ln 2 still in it.
typedef struct {
  tvms_node *t, *n, *rest, *r;
} reduced;

static reduced reduce(vector_steps *s, tvms_node *x) {
  tvms_node *rounder = number(s, TVMS_VECTOR_ROUNDER64);
  reduced made = {.t = keep(s, "t", fused(s, x, number(s, LOG2_E), rounder))};
  made.n = keep(s, "n", sub(s, made.t, rounder));
  made.rest = keep(s, "rest", fused(s, made.n, number(s, -LN2), x));
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

tvms_node *tvms_vector_exp_double(vector_steps *s, tvms_node *const *x) {
  tvms_node *y = keep(s, "y", at_most(s, 710, at_least(s, -746, x[0])));
  reduced of = reduce(s, y);
  tvms_node *p = fused(s, powers_above(s, of.r), of.r, number(s, 1));
  tvms_node *is_small = keep(s, "small", less(s, y, number(s, 0)));
  tvms_node *more =
      choose(s, is_small, whole(s, exponent(512)), whole(s, exponent(-1)));
  tvms_node *last = choose(s, is_small, number(s, LEAST), number(s, 2));
  return mul(s, mul(s, p, power_of_two(s, &of, more)), last);
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

// k as a float64: in the low bits of a sum it needs no conversion, which some vector units lack.
static tvms_node *as_double(vector_steps *s, tvms_node *k) {
  tvms_node *rounder = number(s, TVMS_VECTOR_ROUNDER64);
  return sub(s, of_bits(s, add(s, k, bits_of(s, rounder))), rounder);
}

tvms_node *tvms_vector_log_double(vector_steps *s, tvms_node *const *x) {
  tvms_node *tiny = keep(s, "tiny", less(s, x[0], number(s, NORMAL)));
  tvms_node *scaled = mul(s, x[0], number(s, 0x1p54));
  tvms_node *bits = keep(s, "b", bits_of(s, choose(s, tiny, scaled, x[0])));
  tvms_node *above = sub(s, bits, whole(s, SQRT_HALF));
  tvms_node *steps = bitwise(s, TVMS_TIR_shift_right, above, whole(s, EXPONENT));
  steps = keep(s, "k", steps);
  tvms_node *m = of_bits(s, sub(s, bits, shift_left(s, steps, EXPONENT)));
  tvms_node *less_k = choose(s, tiny, number(s, -54), number(s, 0));
  tvms_node *k = keep(s, "e", add(s, as_double(s, steps), less_k));
  tvms_node *f = keep(s, "f", sub(s, m, number(s, 1)));
  tvms_node *half = keep(s, "half", mul(s, f, number(s, 0.5)));
  tvms_node *ratio = keep(s, "s", quotient(s, f, add(s, f, number(s, 2))));
  tvms_node *square = keep(s, "z", mul(s, ratio, ratio));
  tvms_node *p = tvms_vector_polynomial(s, POLYNOMIAL_log_double, square);
  tvms_node *sum = fused(s, square, p, mul(s, half, f));
  tvms_node *low = fused(s, k, number(s, LN2_LOW), mul(s, ratio, sum));
  tvms_node *lost = fused(s, half, f, mul(s, low, number(s, -1)));
  tvms_node *value = fused(s, k, number(s, LN2), sub(s, f, lost));
  return tvms_vector_log_limits(s, value, x[0]);
}
