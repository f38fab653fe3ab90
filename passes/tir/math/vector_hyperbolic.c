// sinh and cosh of float32 and float64.
//
// |x| = n ln 2 + r, |r| <= ln 2 / 2, as for exp. All is computed a quarter as large, so that no result that is a number overflows, and doubled twice:
//   cosh(x) = 2 * (g + 1 / (16 * g)), g = exp(a) / 4 = 2^(n - 2) * exp(r);
//   sinh(a) = 2 * (g + g / (g + 1/4) / 4), g = (exp(a) - 1) / 4 = 2^(n - 2) * (exp(r) - 1) + (2^(n - 2) - 1/4), a = |x|:
// of g and of the sum, what rounding takes from the large parts goes to the little ones.
#include "passes/tir/math/vector_exp.h"
#include "passes/tir/math/vector_functions.h"

// What is known of a width.
typedef struct {
  double rounder;               // added to n, leaves it in the low bits
  double log2_e, ln2, ln2_low;  // products of the first part with n are exact
  double most;                  // beyond, results are infinite
  int exponent, bias;
  polynomial powers;  // exp(r) = 1 + r + r^2 * …
} width;

static const width single = {
    TVMS_VECTOR_ROUNDER, 0x1.715476p+0, 0x1.62ep-1, 0x1.0bfbe8p-15, 89.6, 23, 127,
    POLYNOMIAL_exp};
static const width twice = {TVMS_VECTOR_ROUNDER64,
                            0x1.71547652b82fep+0,
                            0x1.62e42fee00000p-1,
                            0x1.a39ef35793c76p-33,
                            710.5,
                            52,
                            1023,
                            POLYNOMIAL_exp_double};

// exp(a) = 4 * power * (1 + p + low), a = |x|
typedef struct {
  tvms_node *a, *power, *p, *low;
} parts;

static parts parts_of(vector_steps *s, tvms_node *x) {
  const width *w = s->dtype.bits == 64 ? &twice : &single;
  tvms_node *a = magnitude(s, x), *rounder = number(s, w->rounder);
  a = keep(s, "a", at_most(s, w->most, a));
  tvms_node *t = keep(s, "t", fused(s, a, number(s, w->log2_e), rounder));
  tvms_node *n = keep(s, "n", sub(s, t, rounder));
  tvms_node *rest = keep(s, "rest", fused(s, n, number(s, -w->ln2), a));
  tvms_node *r = keep(s, "r", fused(s, n, number(s, -w->ln2_low), rest));
  tvms_node *low = fused(s, n, number(s, -w->ln2_low), sub(s, rest, r));
  tvms_node *p = tvms_vector_polynomial(s, w->powers, r);
  tvms_node *more = keep(s, "more", fused(s, mul(s, r, r), p, low));
  parts made = {.a = a, .p = keep(s, "p", rounded_sum(s, r, more))};
  made.low = keep(s, "low", sub(s, more, sub(s, made.p, r)));
  tvms_node *quarter = whole(s, (int64_t)(w->bias - 2) << w->exponent);
  tvms_node *power = add(s, shift_left(s, bits_of(s, t), w->exponent), quarter);
  made.power = keep(s, "power", of_bits(s, power));
  return made;
}

tvms_node *tvms_vector_cosh(vector_steps *s, tvms_node *const *x) {
  parts of = parts_of(s, x[0]);
  tvms_node *p = add(s, of.p, of.low);
  tvms_node *g = keep(s, "g", fused(s, of.power, p, of.power));
  return mul(s, add(s, g, quotient(s, number(s, 0.0625), g)), number(s, 2));
}

tvms_node *tvms_vector_sinh(vector_steps *s, tvms_node *const *x) {
  parts of = parts_of(s, x[0]);
  tvms_node *quarter = number(s, 0.25), *minus = number(s, -1);
  tvms_node *above = keep(s, "above", sub(s, of.power, quarter));
  tvms_node *g = keep(s, "g", fused(s, of.power, of.p, above));
  // What g lacks; of.power may be less than its product only where `above` is 0.
  tvms_node *low = fused(s, of.power, of.p, sub(s, above, g));
  low = keep(s, "l", fused(s, of.power, of.low, low));
  tvms_node *d = keep(s, "d", rounded_sum(s, g, quarter));
  tvms_node *q = keep(s, "q", quotient(s, g, d));
  tvms_node *lost = sub(s, g, sub(s, d, quarter));
  minus = keep(s, "minus", mul(s, q, minus));
  tvms_node *rest = fused(s, minus, lost, fused(s, minus, d, g));
  // 1 / (4 * d) = 1 - q; what is lost of g is lost of a quarter of the quotient, too, times the square of that.
  tvms_node *inverse = keep(s, "inverse", sub(s, number(s, 1), q));
  rest = mul(s, fused(s, low, inverse, rest), inverse);
  tvms_node *sum = keep(s, "sum", fused(s, q, quarter, g));
  low = add(s, add(s, fused(s, q, quarter, sub(s, g, sum)), low), rest);
  tvms_node *value = mul(s, add(s, sum, low), number(s, 2));
  // Of subnormal numbers a quarter has less digits.
  tvms_node *tiny = less(s, of.a, number(s, s->dtype.bits == 64 ? 0x1p-28 : 0x1p-13));
  return signed_as(s, choose(s, tiny, of.a, value), x[0]);
}
