// pow of float32: exp2(y * log2 |x|), the logarithm and the product in float64; of float64: exp(y * log |x|), both in two parts.
//
// With s = (m - 1) / (m + 1), log2(m) is s times a polynomial of s^2. The sign and the special cases of C come
// last: 1 for y = 0 and for x = 1, NaN for a negative finite x and a y that is not whole.
#include "passes/tir/math/vector_double.h"
#include "passes/tir/math/vector_exp.h"
#include "passes/tir/math/vector_functions.h"
#include "passes/tir/math/vector_log.h"

#include <math.h>

// Products beyond these give 0 and infinity.
#define LEAST    (-151.0)
#define GREATEST 129.0
// Stands for infinity as exponent: its products with logarithms are beyond both, with 0 they are 0.
#define LARGE      0x1p127
#define LARGE_WIDE 1e300
#define LN2_FIRST  0x1.62e42fee00000p-1  // products with exponents are exact
#define LN2_LAST   0x1.a39ef35793c76p-33
#define TWO_THIRDS 0x1.5555555555555p-1

static tvms_node *log2_of(vector_steps *s, tvms_node *a) {
  tvms_dtype wide = of_lanes(s, TVMS_FLOAT, 64);
  tvms_vector_parts p = tvms_vector_split(s, a);
  tvms_node *m = keep(s, "m", convert(s, wide, p.m)), *one = number64(s, 1);
  tvms_node *ratio = keep(s, "s", quotient(s, sub(s, m, one), add(s, m, one)));
  tvms_node *square = keep(s, "q", mul(s, ratio, ratio));
  tvms_node *q = tvms_vector_polynomial(s, POLYNOMIAL_log2_ratio, square);
  tvms_node *value = fused(s, ratio, q, convert(s, wide, p.k));
  tvms_node *infinite = number(s, INFINITY);
  tvms_node *limit =
      choose(s, equal(s, a, infinite), number64(s, INFINITY), number64(s, NAN));
  value = choose(s, less(s, a, infinite), value, limit);
  return choose(s, equal(s, a, number(s, 0)), number64(s, -INFINITY), value);
}

// 2^e of a float64.
static tvms_node *exp2_of(vector_steps *s, tvms_node *e) {
  e = binary(s, TVMS_NODE_MAX, number64(s, LEAST), e);
  e = keep(s, "p", binary(s, TVMS_NODE_MIN, number64(s, GREATEST), e));
  tvms_node *rounder = number64(s, TVMS_VECTOR_ROUNDER64);
  tvms_node *t = keep(s, "t", rounded_sum(s, e, rounder));
  tvms_node *r = convert(s, s->dtype, sub(s, e, sub(s, t, rounder)));
  tvms_node *p = tvms_vector_exp2_inside(s, keep(s, "r", r));
  tvms_node *bits = tvms_vector_reinterpret(s, of_lanes(s, TVMS_INT, 64), t);
  bits = convert(s, of_lanes(s, TVMS_INT, 32), bits);
  return tvms_vector_scale(s, p, bits, less(s, e, number64(s, 0)));
}

static tvms_node *is_whole(vector_steps *s, tvms_node *y) {
  tvms_node *down =
      tvms_call_new_of(s->unit, s->dtype, TVMS_TIR_floor, &y, 1, TVMS_NO_SPAN);
  return equal(s, down, y);
}

// |x|^y with the sign and the cases that a negative x has.
static tvms_node *with_sign(vector_steps *s, tvms_node *value, tvms_node *x,
                            tvms_node *a, tvms_node *y) {
  tvms_node *whole_y = keep(s, "whole", is_whole(s, y));
  tvms_node *half = keep(s, "half", mul(s, y, number(s, 0.5)));
  tvms_node *even = choose(s, is_whole(s, half), whole(s, 0), sign_of(s, x));
  tvms_node *sign = choose(s, whole_y, even, whole(s, 0));
  value = of_bits(s, bitwise(s, TVMS_TIR_bitwise_or, bits_of(s, value), sign));
  value = keep(s, "v", value);
  tvms_node *unreal =
      choose(s, equal(s, a, number(s, INFINITY)), value, number(s, NAN));
  tvms_node *below = choose(s, whole_y, value, unreal);
  return choose(s, less(s, x, number(s, 0)), below, value);
}

// x^2 and x^3 need no logarithm. NULL: another exponent.
static tvms_node *TVMS_NULLABLE small_power(vector_steps *s, tvms_node *x,
                                            const tvms_node *y) {
  if (y->kind == TVMS_NODE_BROADCAST) y = tvms_as_broadcast(y)->value;
  if (y->kind != TVMS_NODE_FLOAT_IMM) return NULL;
  double exponent = tvms_as_float_imm(y)->value;
  if (exponent == 2) return mul(s, x, x);
  return exponent == 3 ? mul(s, mul(s, x, x), x) : NULL;
}

// ---- float64: numbers in two parts, together of some 105 digits ----

typedef struct {
  tvms_node *high, *low;
} sum;

static sum kept(vector_steps *s, const char *name, tvms_node *high, tvms_node *low) {
  sum made = {.high = keep(s, name, high)};
  made.low = keep(s, "low", low);
  return made;
}

// a + b + low, a not less than b or 0.
static sum sum_of(vector_steps *s, const char *name, tvms_node *a, tvms_node *b,
                  tvms_node *low) {
  tvms_node *high = keep(s, name, rounded_sum(s, a, b));
  return kept(s, name, high, add(s, sub(s, b, sub(s, high, a)), low));
}

static sum product_of(vector_steps *s, const char *name, const sum *a, const sum *b) {
  tvms_node *high = keep(s, name, mul(s, a->high, b->high));
  tvms_node *low = fused(s, a->high, b->high, mul(s, high, number(s, -1)));
  low = fused(s, a->high, b->low, low);
  return kept(s, name, high, fused(s, a->low, b->high, low));
}

// f / (2 + f), which is nearly half of f, and 1 less that is 2 / (2 + f).
static sum ratio_of(vector_steps *s, tvms_node *f) {
  tvms_node *two = number(s, 2), *d = keep(s, "d", rounded_sum(s, f, two));
  tvms_node *r = keep(s, "s", quotient(s, f, d));
  tvms_node *minus = keep(s, "minus", mul(s, r, number(s, -1)));
  tvms_node *rest = fused(s, minus, sub(s, f, sub(s, d, two)), fused(s, minus, d, f));
  return kept(s, "s", r, mul(s, rest, fused(s, r, number(s, -0.5), number(s, 0.5))));
}

// log(a) = k ln 2 + 2 s + s^3 * (2 / 3 + s^2 * …)
static sum log_of(vector_steps *s, tvms_node *a) {
  tvms_vector_parts p = tvms_vector_split(s, a);
  sum r = ratio_of(s, keep(s, "f", sub(s, p.m, number(s, 1))));
  sum square = product_of(s, "q", &r, &r);
  tvms_node *q = tvms_vector_polynomial(s, POLYNOMIAL_log_long, square.high);
  q = keep(s, "w", mul(s, q, square.high));
  sum factor =
      sum_of(s, "u", number(s, TWO_THIRDS), q, number(s, 0x1p-54 * TWO_THIRDS));
  sum cube = product_of(s, "v", &square, &factor);
  cube = product_of(s, "z", &r, &cube);
  tvms_node *twice = keep(s, "twice", add(s, r.high, r.high));
  tvms_node *low = fused(s, r.low, number(s, 2), cube.low);
  sum of_m = sum_of(s, "l", twice, cube.high, low);
  low = fused(s, p.k, number(s, LN2_LAST), of_m.low);
  tvms_node *large = keep(s, "large", mul(s, p.k, number(s, LN2_FIRST)));
  return sum_of(s, "l", large, of_m.high, low);
}

static tvms_node *log_or_limit(vector_steps *s, tvms_node *value, tvms_node *a) {
  tvms_node *infinite = number(s, INFINITY);
  tvms_node *limit = choose(s, equal(s, a, infinite), infinite, number(s, NAN));
  value = choose(s, less(s, a, infinite), value, limit);
  return choose(s, equal(s, a, number(s, 0)), number(s, -INFINITY), value);
}

static tvms_node *limited(vector_steps *s, tvms_node *value, tvms_node *x, tvms_node *a,
                          tvms_node *y) {
  value = with_sign(s, value, x, a, y);
  tvms_node *one = number(s, 1);
  value = choose(s, equal(s, x, one), one, value);
  return choose(s, equal(s, y, number(s, 0)), one, value);
}

tvms_node *tvms_vector_pow_double(vector_steps *s, tvms_node *const *args) {
  tvms_node *x = args[0], *power = small_power(s, x, args[1]);
  if (power) return power;
  tvms_node *y = keep(s, "y", args[1]), *zero = number(s, 0);
  tvms_node *a = keep(s, "a", magnitude(s, x));
  tvms_node *by = at_most(s, LARGE_WIDE, at_least(s, -LARGE_WIDE, y));
  sum l = log_of(s, a);
  by = keep(s, "by", by);
  l.high = keep(s, "l", log_or_limit(s, l.high, a));
  tvms_node *high = keep(s, "p", mul(s, by, l.high));
  tvms_node *low = fused(s, by, l.high, mul(s, high, number(s, -1)));
  low = fused(s, by, l.low, low);
  tvms_node *e = keep(s, "e", at_most(s, 710, at_least(s, -746, high)));
  low = choose(s, equal(s, e, high), low, zero);
  tvms_node *value = tvms_vector_exp_of_sum(s, e, keep(s, "low", low));
  return limited(s, value, x, a, y);
}

// ---- float32 ----

tvms_node *tvms_vector_pow(vector_steps *s, tvms_node *const *args) {
  tvms_node *x = args[0], *power = small_power(s, x, args[1]);
  if (power) return power;
  tvms_node *y = keep(s, "y", args[1]);
  tvms_node *a = keep(s, "a", magnitude(s, x));
  tvms_node *finite = at_most(s, LARGE, at_least(s, -LARGE, y));
  finite = convert(s, of_lanes(s, TVMS_FLOAT, 64), finite);
  tvms_node *value = exp2_of(s, mul(s, finite, log2_of(s, a)));
  return limited(s, value, x, a, y);
}
