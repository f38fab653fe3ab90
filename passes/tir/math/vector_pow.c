// pow: exp2(y * log2 |x|), the logarithm and the product in float64.
//
// With s = (m - 1) / (m + 1), log2(m) is s times a polynomial of s^2. The sign and the special cases of C come
// last: 1 for y = 0 and for x = 1, NaN for a negative finite x and a y that is not whole.
#include "passes/tir/math/vector_exp.h"
#include "passes/tir/math/vector_functions.h"
#include "passes/tir/math/vector_log.h"

#include <math.h>

// Products beyond these give 0 and infinity.
#define LEAST    (-151.0)
#define GREATEST 129.0
// Stands for infinity as exponent: its products with logarithms are beyond both, with 0 they are 0.
#define LARGE 0x1p127

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

tvms_node *tvms_vector_pow(vector_steps *s, tvms_node *const *args) {
  tvms_node *x = args[0], *power = small_power(s, x, args[1]);
  if (power) return power;
  tvms_node *y = keep(s, "y", args[1]);
  tvms_node *a = keep(s, "a", magnitude(s, x));
  tvms_node *finite = at_most(s, LARGE, at_least(s, -LARGE, y));
  finite = convert(s, of_lanes(s, TVMS_FLOAT, 64), finite);
  tvms_node *value = exp2_of(s, mul(s, finite, log2_of(s, a)));
  value = with_sign(s, value, x, a, y);
  tvms_node *one = number(s, 1);
  value = choose(s, equal(s, x, one), one, value);
  return choose(s, equal(s, y, number(s, 0)), one, value);
}
