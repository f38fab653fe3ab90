// Logarithms and roots: log, log2, log10, rsqrt.
//
// x = 2^k * m with m from sqrt(1/2) to sqrt(2): log(x) = k * ln 2 + log(m). k comes from the exponent by
// a subtraction and a shift of the bits.
#include "passes/tir/math/vector_log.h"

#include "passes/tir/math/vector_functions.h"

#include <math.h>

#define LN2       0.69314718055994530942
#define LOG2_E    1.44269504088896340736
#define LOG10_E   0.43429448190325182765
#define LOG10_2   0.30102999566398119521
#define SQRT_HALF 0x3f3504f3  // the bits of sqrt(1/2)
#define NORMAL    0x1p-126    // the least number that is not subnormal
#define EXPONENT  23

tvms_vector_parts tvms_vector_split(vector_steps *s, tvms_node *x) {
  tvms_node *tiny = keep(s, "tiny", less(s, x, number(s, NORMAL)));
  tvms_node *scaled = mul(s, x, number(s, 0x1p23));
  tvms_node *bits = keep(s, "b", bits_of(s, choose(s, tiny, scaled, x)));
  tvms_node *above = sub(s, bits, whole(s, SQRT_HALF));
  tvms_node *k =
      keep(s, "k", bitwise(s, TVMS_TIR_shift_right, above, whole(s, EXPONENT)));
  tvms_node *less_k = choose(s, tiny, number(s, -23), number(s, 0));
  tvms_vector_parts p = {.m = of_bits(s, sub(s, bits, shift_left(s, k, EXPONENT)))};
  p.k = keep(s, "e", add(s, convert(s, s->dtype, k), less_k));
  return p;
}

// log(m), kept in variables as far as it is used twice.
static tvms_node *log_of_mantissa(vector_steps *s, const tvms_vector_parts *p) {
  tvms_node *f = keep(s, "f", sub(s, p->m, number(s, 1)));
  tvms_node *q = tvms_vector_polynomial(s, POLYNOMIAL_log, f);
  return fused(s, mul(s, f, f), q, f);
}

tvms_node *tvms_vector_log_limits(vector_steps *s, tvms_node *value, tvms_node *x) {
  tvms_node *zero = number(s, 0), *infinite = number(s, INFINITY);
  tvms_node *not_above =
      choose(s, equal(s, x, zero), number(s, -INFINITY), number(s, NAN));
  tvms_node *above = choose(s, equal(s, x, infinite), infinite, value);
  return choose(s, less(s, zero, x), above, not_above);
}

tvms_node *tvms_vector_log(vector_steps *s, tvms_node *const *x) {
  tvms_vector_parts p = tvms_vector_split(s, x[0]);
  tvms_node *value = fused(s, p.k, number(s, LN2), log_of_mantissa(s, &p));
  return tvms_vector_log_limits(s, value, x[0]);
}

// log(m) * by, rounded once.
static tvms_node *scaled_log(vector_steps *s, const tvms_vector_parts *p, double by) {
  tvms_node *l = keep(s, "l", log_of_mantissa(s, p));
  return fused(s, l, number(s, by), mul(s, l, number(s, by - (double)(float)by)));
}

tvms_node *tvms_vector_log2(vector_steps *s, tvms_node *const *x) {
  tvms_vector_parts p = tvms_vector_split(s, x[0]);
  return tvms_vector_log_limits(s, add(s, scaled_log(s, &p, LOG2_E), p.k), x[0]);
}

// k times the first digits of log10(2) is exact.
tvms_node *tvms_vector_log10(vector_steps *s, tvms_node *const *x) {
  static const double first = 0x1.344p-2;
  tvms_vector_parts p = tvms_vector_split(s, x[0]);
  tvms_node *rest = number(s, LOG10_2 - first);
  rest = fused(s, p.k, rest, scaled_log(s, &p, LOG10_E));
  return tvms_vector_log_limits(s, fused(s, p.k, number(s, first), rest), x[0]);
}

tvms_node *tvms_vector_rsqrt(vector_steps *s, tvms_node *const *x) {
  tvms_node *value = x[0];
  tvms_node *root =
      tvms_call_new_of(s->unit, s->dtype, TVMS_TIR_sqrt, &value, 1, TVMS_NO_SPAN);
  return quotient(s, number(s, 1), root);
}
