// log1p and the inverse hyperbolic functions, of float32 and float64: asinh, acosh, atanh.
//
// With a = |x|:
//   log1p(x) = log(1 + x), the 1 and x in two parts, so that none of a small x is lost;
//   asinh(a) = log1p(a + a^2 / (1 + sqrt(1 + a^2)));
//   acosh(x) = log1p(t + sqrt(t * (x + 1))), t = x - 1;
//   atanh(a) = k / 2 * ln 2 + s + s^3 * …: (1 + a) / (1 - a) is 2^k * (1 + s) / (1 - s).
// What a rounding loses of the argument of a logarithm is added to the result. Logarithms of a large x, whose
// square is no number, are those of x times a power of two.
#include "passes/tir/math/vector_functions.h"
#include "passes/tir/math/vector_log.h"

#include <math.h>

#define HALF_LN2       0.34657359027997265471
#define HALF_LN2_FIRST 0x1.62e42fee00000p-2  // in float64: products with k are exact
#define HALF_LN2_LAST  0x1.a39ef35793c76p-34

typedef struct {
  double large;  // from here on an x is scaled
  double down;   // by this, 2^-steps
  int steps;
  int64_t
      lowest;  // the bits of 1.19, from which up to twice of it the divisor of atanh is
  int exponent;  // the place of the exponent
  int64_t one;   // the bits of 1
} limits;

static const limits single = {0x1p40, 0x1p-60, 60, 0x3f9851ec, 23, 0x3f800000};
static const limits twice = {0x1p200, 0x1p-500,          500, 0x3ff30a2f40000000,
                             52,      0x3ff0000000000000};

static const limits *limits_of(const vector_steps *s) {
  return s->dtype.bits == 64 ? &twice : &single;
}

// log(1 + y + low), and log(x) + more * ln 2 for a large x.
static tvms_node *log_of_sum(vector_steps *s, tvms_node *x, tvms_node *y,
                             tvms_node *low, int more) {
  const limits *l = limits_of(s);
  tvms_node *large = keep(s, "big", less(s, number(s, l->large), x)),
            *zero = number(s, 0);
  tvms_vector_sum of = {
      .y = keep(s, "y", choose(s, large, mul(s, x, number(s, l->down)), y)),
      .low = keep(s, "lost", choose(s, large, zero, low)),
      .plus = keep(s, "plus", choose(s, large, zero, number(s, 1))),
      .k = choose(s, large, number(s, l->steps + more), zero)};
  return tvms_vector_log_parts(s, &of);
}

// `value` for finite x; x if that is infinite or NaN.
static tvms_node *if_finite(vector_steps *s, tvms_node *value, tvms_node *x) {
  return choose(s, less(s, x, number(s, INFINITY)), value, x);
}

static tvms_node *root_of(vector_steps *s, tvms_node *x) {
  return tvms_call_new_of(s->unit, s->dtype, TVMS_TIR_sqrt, &x, 1, TVMS_NO_SPAN);
}

tvms_node *tvms_vector_log1p(vector_steps *s, tvms_node *const *x) {
  tvms_node *value = log_of_sum(s, x[0], x[0], number(s, 0), 0);
  value = tvms_vector_log_limits(s, value, add(s, x[0], number(s, 1)));
  return signed_as(s, value, x[0]);
}

tvms_node *tvms_vector_asinh(vector_steps *s, tvms_node *const *x) {
  tvms_node *a = keep(s, "a", magnitude(s, x[0])), *one = number(s, 1);
  tvms_node *root = root_of(s, fused(s, a, a, one));
  tvms_node *rest = keep(s, "z", quotient(s, mul(s, a, a), add(s, root, one)));
  tvms_node *y = keep(s, "y", rounded_sum(s, a, rest));
  tvms_node *low = sub(s, rest, sub(s, y, a));
  tvms_node *value = log_of_sum(s, a, y, low, 1);
  return signed_as(s, if_finite(s, value, a), x[0]);
}

// What the root lacks is what its square lacks over twice the root.
tvms_node *tvms_vector_acosh(vector_steps *s, tvms_node *const *x) {
  tvms_node *one = number(s, 1), *t = keep(s, "t", sub(s, x[0], one));
  tvms_node *c = keep(s, "c", rounded_sum(s, x[0], one));
  tvms_node *g = keep(s, "g", mul(s, t, c)), *minus = number(s, -1);
  tvms_node *lost = fused(s, t, c, mul(s, g, minus));
  lost = fused(s, t, sub(s, x[0], sub(s, c, one)), lost);
  tvms_node *root = keep(s, "r", root_of(s, g));
  lost = add(s, fused(s, mul(s, root, minus), root, g), lost);
  lost = quotient(s, mul(s, lost, number(s, 0.5)), at_least(s, 0x1p-30, root));
  tvms_node *y = keep(s, "y", rounded_sum(s, root, t));
  tvms_node *low = add(s, sub(s, t, sub(s, y, root)), lost);
  tvms_node *value = if_finite(s, log_of_sum(s, x[0], y, low, 1), x[0]);
  return choose(s, less(s, x[0], one), number(s, NAN), value);
}

// k / 2 * ln 2 + (1 + …) of r; k is 0 or the first term the greatest.
static tvms_node *area(vector_steps *s, tvms_node *k, tvms_node *r) {
  tvms_node *square = keep(s, "q", mul(s, r, r));
  if (s->dtype.bits == 32) {
    tvms_node *p = tvms_vector_polynomial(s, POLYNOMIAL_atanh, square);
    tvms_node *sum = fused(s, mul(s, r, square), p, r);
    return fused(s, k, number(s, HALF_LN2), sum);
  }
  tvms_node *p = tvms_vector_polynomial(s, POLYNOMIAL_atanh_double, square);
  tvms_node *large = keep(s, "large", mul(s, k, number(s, HALF_LN2_FIRST)));
  tvms_node *sum = keep(s, "sum", rounded_sum(s, r, large));
  tvms_node *low = add(s, sub(s, large, sum), r);
  low = fused(s, k, number(s, HALF_LN2_LAST), low);
  return add(s, sum, fused(s, mul(s, r, square), p, low));
}

// The divisor c = 1 - a is 2^-k times 1.19 to 2.38, p = 2^-k.
tvms_node *tvms_vector_atanh(vector_steps *s, tvms_node *const *x) {
  const limits *l = limits_of(s);
  tvms_node *a = keep(s, "a", magnitude(s, x[0])), *one = number(s, 1);
  tvms_node *c = keep(s, "c", fused(s, a, number(s, -1), one));
  tvms_node *near = keep(s, "near", less(s, a, number(s, 0.25)));
  tvms_node *steps = sub(s, bits_of(s, c), whole(s, l->lowest));
  steps = bitwise(s, TVMS_TIR_shift_right, steps, whole(s, l->exponent));
  steps = keep(s, "k", choose(s, near, whole(s, 0), steps));
  tvms_node *p = add(s, shift_left(s, steps, l->exponent), whole(s, l->one));
  p = keep(s, "p", of_bits(s, p));
  tvms_node *lost = sub(s, sub(s, one, c), a);
  tvms_node *upper = fused(s, p, a, sub(s, sub(s, p, c), lost));
  tvms_node *lower = fused(s, p, a, add(s, p, c));
  tvms_node *r = keep(s, "s", choose(s, near, a, quotient(s, upper, lower)));
  tvms_node *k = keep(s, "e", convert(s, s->dtype, sub(s, whole(s, 0), steps)));
  tvms_node *value = area(s, k, r);
  tvms_node *limit = choose(s, equal(s, a, one), number(s, INFINITY), number(s, NAN));
  return signed_as(s, choose(s, less(s, a, one), value, limit), x[0]);
}
