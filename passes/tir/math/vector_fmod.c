// Remainders of float32: truncmod and fmod, exact as C's.
//
// In float64 a quotient of up to 2^48 is found whole, by a product with an inverse that is a little too small: it is
// right or one less. What it leaves of x is exact, since it has no more digits than x and y, so quotients of up to 2^277
// take six steps, with y times powers of 2^48. Only the last one can matter that is one less.
#include "passes/tir/math/vector_functions.h"

#define STEPS 6  // the greatest quotient is below 2^277
#define STEP  0x1p48
#define LESS  (1 - 0x1p-51)  // more than rounding takes from inverse and product

static tvms_node *scaled(vector_steps *s, tvms_node *value, double by) {
  return by == 1 ? value : mul(s, value, number64(s, by));
}

tvms_node *tvms_vector_fmod(vector_steps *s, tvms_node *const *x) {
  tvms_dtype wide = of_lanes(s, TVMS_FLOAT, 64);
  tvms_node *a = keep(s, "a", magnitude(s, x[0])),
            *b = keep(s, "c", magnitude(s, x[1]));
  tvms_node *divisor = keep(s, "d", convert(s, wide, b));
  tvms_node *inverse = quotient(s, number64(s, LESS), divisor);
  inverse = keep(s, "inverse", inverse);
  tvms_node *minus = keep(s, "minus", mul(s, divisor, number64(s, -1)));
  tvms_node *rest = keep(s, "r", convert(s, wide, a));
  double scale = 1;
  for (uint32_t i = 1; i < STEPS; i++)
    scale *= STEP;
  for (uint32_t i = 0; i < STEPS; i++, scale /= STEP) {
    tvms_node *times = mul(s, rest, scaled(s, inverse, 1 / scale));
    times = tvms_call_new_of(s->unit, wide, TVMS_TIR_floor, &times, 1, TVMS_NO_SPAN);
    rest = keep(s, "r", fused(s, times, scaled(s, minus, scale), rest));
  }
  rest = choose(s, less(s, rest, divisor), rest, add(s, rest, minus));
  // A finite x is its own remainder by infinity.
  tvms_node *value = choose(s, less(s, a, b), a, convert(s, s->dtype, rest));
  return signed_as(s, value, x[0]);
}
