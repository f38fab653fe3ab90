// Logarithms and roots: log, log2, log10 and rsqrt, of float64 log, log2 and log10.
//
// x = 2^k * m with m from sqrt(1/2) to sqrt(2): log(x) = k * ln 2 + log(m). k comes from the exponent by
// a subtraction and a shift of the bits. In float64, with m = 1 + f and s = f / (2 + f),
// log(m) = f - (f^2 / 2 - s * (f^2 / 2 + s^2 * …)), so that what is rounded is small against f.
#include "passes/tir/math/vector_log.h"

#include "passes/tir/math/vector_exp.h"
#include "passes/tir/math/vector_functions.h"

#include <math.h>

#define LN2       0.69314718055994530942
#define LOG2_E    1.44269504088896340736
#define LOG10_E   0.43429448190325182765
#define LOG10_2   0.30102999566398119521
#define LN2_FIRST 0x1.62e42fee00000p-1   // ln 2 in float64: products with k are exact
#define LN2_LAST  0x1.a39ef35793c76p-33  // the rest

// What is known of a width.
typedef struct {
  int64_t sqrt_half;  // the bits of sqrt(1/2)
  double normal;      // the least number that is not subnormal
  double up;          // makes any subnormal number normal
  int up_by, exponent, bias;
} width;

static const width single = {0x3f3504f3, 0x1p-126, 0x1p23, 23, 23, 127};
static const width twice = {0x3fe6a09e667f3bcd, 0x1p-1022, 0x1p54, 54, 52, 1023};

static const width *width_of(const vector_steps *s) {
  return s->dtype.bits == 64 ? &twice : &single;
}

// k as a number. In the low bits of a float64 it needs no conversion, which some vector units lack.
static tvms_node *as_number(vector_steps *s, tvms_node *k) {
  if (s->dtype.bits == 32) return convert(s, s->dtype, k);
  tvms_node *rounder = number(s, TVMS_VECTOR_ROUNDER64);
  return sub(s, of_bits(s, add(s, k, bits_of(s, rounder))), rounder);
}

// The k of numbers that are not subnormal.
static tvms_node *steps_of(vector_steps *s, tvms_node *bits) {
  const width *w = width_of(s);
  tvms_node *above = sub(s, bits, whole(s, w->sqrt_half));
  return keep(s, "k", bitwise(s, TVMS_TIR_shift_right, above, whole(s, w->exponent)));
}

tvms_vector_parts tvms_vector_split(vector_steps *s, tvms_node *x) {
  const width *w = width_of(s);
  tvms_node *tiny = keep(s, "tiny", less(s, x, number(s, w->normal)));
  tvms_node *scaled = mul(s, x, number(s, w->up));
  tvms_node *bits = keep(s, "b", bits_of(s, choose(s, tiny, scaled, x)));
  tvms_node *k = steps_of(s, bits);
  tvms_node *less_k = choose(s, tiny, number(s, -w->up_by), number(s, 0));
  tvms_vector_parts p = {.m = of_bits(s, sub(s, bits, shift_left(s, k, w->exponent)))};
  p.k = keep(s, "e", add(s, as_number(s, k), less_k));
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

// log(m) = f - lost of float64, `low` being added to what is small.
typedef struct {
  tvms_node *f, *lost;
} double_log;

static double_log log_of_double(vector_steps *s, tvms_node *f,
                                tvms_node *TVMS_NULLABLE low) {
  tvms_node *half = keep(s, "half", mul(s, f, number(s, 0.5)));
  tvms_node *ratio = keep(s, "s", quotient(s, f, add(s, f, number(s, 2))));
  tvms_node *square = keep(s, "z", mul(s, ratio, ratio));
  tvms_node *p = tvms_vector_polynomial(s, POLYNOMIAL_log_double, square);
  tvms_node *sum = fused(s, square, p, mul(s, half, f));
  low = low ? fused(s, ratio, sum, low) : mul(s, ratio, sum);
  return (double_log){f, fused(s, half, f, mul(s, low, number(s, -1)))};
}

static tvms_node *log_of(vector_steps *s, tvms_node *k, tvms_node *f, tvms_node *low) {
  if (s->dtype.bits == 32) {
    tvms_node *q = tvms_vector_polynomial(s, POLYNOMIAL_log, f);
    tvms_node *small = fused(s, mul(s, f, f), q, low);
    return fused(s, k, number(s, LN2), add(s, f, small));
  }
  double_log l = log_of_double(s, f, fused(s, k, number(s, LN2_LAST), low));
  return fused(s, k, number(s, LN2_FIRST), sub(s, f, l.lost));
}

static tvms_node *parted(vector_steps *s, tvms_vector_parts *p) {
  *p = tvms_vector_split(s, p->m);
  return keep(s, "f", sub(s, p->m, number(s, 1)));
}

tvms_node *tvms_vector_log_double(vector_steps *s, tvms_node *const *x) {
  tvms_vector_parts p = {.m = x[0]};
  tvms_node *f = parted(s, &p);
  double_log l = log_of_double(s, f, mul(s, p.k, number(s, LN2_LAST)));
  tvms_node *value = fused(s, p.k, number(s, LN2_FIRST), sub(s, f, l.lost));
  return tvms_vector_log_limits(s, value, x[0]);
}

// large + log(m) * (high + by), which is rounded twice; `large` is 0 or more than the rest, or what is lost does not matter.
static tvms_node *scaled_double(vector_steps *s, const double_log *l, double high,
                                double by, tvms_node *large, tvms_node *more) {
  tvms_node *first = keep(s, "l", sub(s, l->f, l->lost));
  tvms_node *second = sub(s, sub(s, l->f, first), l->lost);
  tvms_node *product = keep(s, "p", mul(s, first, number(s, high)));
  tvms_node *lost = fused(s, first, number(s, high), mul(s, product, number(s, -1)));
  lost = fused(s, first, number(s, by), fused(s, second, number(s, high), lost));
  if (more) lost = add(s, lost, more);
  tvms_node *sum = keep(s, "sum", rounded_sum(s, product, large));
  return add(s, sum, add(s, add(s, sub(s, large, sum), product), lost));
}

tvms_node *tvms_vector_log2_double(vector_steps *s, tvms_node *const *x) {
  tvms_vector_parts p = {.m = x[0]};
  double_log l = log_of_double(s, parted(s, &p), NULL);
  tvms_node *value =
      scaled_double(s, &l, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56, p.k, NULL);
  return tvms_vector_log_limits(s, value, x[0]);
}

tvms_node *tvms_vector_log10_double(vector_steps *s, tvms_node *const *x) {
  static const double first = 0x1.34413509f7800p-2, rest = 0x1.fef311f12b358p-46;
  tvms_vector_parts p = {.m = x[0]};
  double_log l = log_of_double(s, parted(s, &p), NULL);
  tvms_node *large = keep(s, "large", mul(s, p.k, number(s, first)));
  tvms_node *more = mul(s, p.k, number(s, rest));
  tvms_node *value =
      scaled_double(s, &l, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57, large, more);
  return tvms_vector_log_limits(s, value, x[0]);
}

tvms_node *tvms_vector_log_parts(vector_steps *s, const tvms_vector_sum *of) {
  const width *w = width_of(s);
  tvms_node *sum = keep(s, "u", rounded_sum(s, of->y, of->plus));
  tvms_node *k = steps_of(s, bits_of(s, sum));
  tvms_node *one = whole(s, (int64_t)w->bias << w->exponent);
  tvms_node *p = of_bits(s, sub(s, one, shift_left(s, k, w->exponent)));
  p = keep(s, "p", p);
  tvms_node *f = fused(s, p, of->plus, number(s, -1));
  f = keep(s, "f", fused(s, p, of->y, f));
  k = keep(s, "e", add(s, as_number(s, k), of->k));
  // low / (1 + f), about
  tvms_node *low = fused(s, f, sub(s, f, number(s, 1)), number(s, 1));
  low = mul(s, mul(s, p, of->low), low);
  return log_of(s, k, f, keep(s, "low", low));
}

tvms_node *tvms_vector_rsqrt(vector_steps *s, tvms_node *const *x) {
  tvms_node *value = x[0];
  tvms_node *root =
      tvms_call_new_of(s->unit, s->dtype, TVMS_TIR_sqrt, &value, 1, TVMS_NO_SPAN);
  return quotient(s, number(s, 1), root);
}
