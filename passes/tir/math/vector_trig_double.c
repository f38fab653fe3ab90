// sin, cos and tan of float64.
//
//   |x| = n * pi / 2 + r, |r| <= pi / 4, pi / 2 in three parts of 53 digits: what n times the first leaves of x is exact, n
//   times the second is taken from it in two parts, n times the third is below these. r is the sum of two numbers then,
//   exact to 2^-130, where no float64 below 2^40 is nearer to a multiple of pi / 2 than 2^-62.
//
// Larger arguments need as many digits of pi as their exponent says: for these, infinities and NaN, which few vectors have,
// C's function is called.
#include "passes/tir/math/vector_exp.h"
#include "passes/tir/math/vector_functions.h"

#define HALF_PI        0x1.921fb54442d18p+0
#define HALF_PI_SECOND 0x1.1a62633145c07p-54
#define HALF_PI_THIRD  (-0x1.f1976b7ed8fbcp-110)
#define TWO_BY_PI      0x1.45f306dc9c883p-1
#define BELOW          0x427  // the exponent of 2^40 as a float64 has it

// The angle as the sum of r and a rest, and the quadrant in the two lowest bits of an int64.
typedef struct {
  tvms_node *r, *rest, *quadrant;
} angle;

static tvms_node *negated(vector_steps *s, tvms_node *x) {
  return mul(s, x, number(s, -1));
}

// a - b where its rounding counts.
static tvms_node *rounded_difference(vector_steps *s, tvms_node *a, tvms_node *b) {
  return fused(s, b, number(s, -1), a);
}

static angle reduce(vector_steps *s, tvms_node *x) {
  tvms_node *a = keep(s, "a", magnitude(s, x));
  tvms_node *rounder = number(s, TVMS_VECTOR_ROUNDER64);
  tvms_node *t = keep(s, "t", fused(s, a, number(s, TWO_BY_PI), rounder));
  tvms_node *n = keep(s, "n", sub(s, t, rounder));
  tvms_node *first = keep(s, "first", fused(s, n, number(s, -HALF_PI), a));
  tvms_node *p = keep(s, "p", fused(s, n, number(s, HALF_PI_SECOND), number(s, 0)));
  tvms_node *lost = fused(s, n, number(s, HALF_PI_SECOND), negated(s, p));
  angle made = {.r = keep(s, "r", rounded_difference(s, first, p))};
  // What the difference has lost, whichever of both is greater.
  tvms_node *taken = keep(s, "taken", rounded_difference(s, made.r, first));
  tvms_node *left = rounded_difference(s, first, rounded_difference(s, made.r, taken));
  tvms_node *more = rounded_difference(s, left, rounded_sum(s, p, taken));
  made.rest = fused(s, n, number(s, -HALF_PI_THIRD), sub(s, more, lost));
  made.rest = keep(s, "rest", made.rest);
  made.quadrant = keep(s, "q", bits_of(s, t));
  return made;
}

// A number as the sum of a first part and a last one, which is small beside it.
typedef struct {
  tvms_node *first, *last;
} parts;

// sin(r + rest) = r + (r^3 * … + rest * (1 - r^2 / 2))
static parts sine(vector_steps *s, const angle *of, tvms_node *square) {
  tvms_node *p = tvms_vector_polynomial(s, POLYNOMIAL_sin_double, square);
  tvms_node *slope = fused(s, square, number(s, -0.5), number(s, 1));
  tvms_node *rest = mul(s, of->rest, slope);
  return (parts){of->r, keep(s, "ds", fused(s, mul(s, of->r, square), p, rest))};
}

// cos(r + rest) = (1 - r^2 / 2) + (what that is rounded by + r^4 * … - r * rest)
static parts cosine(vector_steps *s, const angle *of, tvms_node *square) {
  tvms_node *p = tvms_vector_polynomial(s, POLYNOMIAL_cos_double, square);
  tvms_node *first = keep(s, "c", fused(s, square, number(s, -0.5), number(s, 1)));
  tvms_node *by = rounded_difference(s, number(s, 1), first);
  tvms_node *last = fused(s, square, number(s, -0.5), by);
  last = fused(s, negated(s, of->r), of->rest, last);
  return (parts){first, keep(s, "dc", fused(s, mul(s, square, square), p, last))};
}

static tvms_node *bit(vector_steps *s, tvms_node *quadrant, int64_t which) {
  return bitwise(s, TVMS_TIR_bitwise_and, quadrant, whole(s, which));
}

static tvms_node *is_odd(vector_steps *s, tvms_node *quadrant) {
  return keep(s, "odd", equal(s, bit(s, quadrant, 1), whole(s, 1)));
}

// Lanes next to each other of a vector of integers.
static tvms_node *lanes_of(vector_steps *s, tvms_node *value, int first, int count) {
  tvms_arena *scratch = &s->unit->context->scratch;
  tvms_mark mark = tvms_arena_mark(scratch);
  tvms_node **indices = tvms_arena_array(scratch, tvms_node *, (uint32_t)count);
  for (int i = 0; i < count; i++)
    indices[i] = tvms_build_int(s->unit, TVMS_DTYPE(INT, 32), first + i, TVMS_NO_SPAN);
  tvms_shuffle *made = tvms_node_make(s->unit, SHUFFLE, TVMS_NO_SPAN);
  made->head.dtype = tvms_dtype_with_lanes(value->dtype, count);
  made->vectors = tvms_list_copy(s->unit, &value, 1);
  made->indices = tvms_list_copy(s->unit, indices, (uint32_t)count);
  tvms_arena_reset(scratch, mark);
  return &made->head;
}

// The greatest lane of integers, by halves.
static tvms_node *greatest(vector_steps *s, tvms_node *value) {
  int lanes = value->dtype.lanes;
  while (lanes > 1) {
    int half = lanes / 2, rest = lanes - half;
    value = keep(s, "m", value);
    value = binary(s, TVMS_NODE_MAX, lanes_of(s, value, 0, rest),
                   lanes_of(s, value, half, rest));
    lanes = rest;
  }
  return value;
}

// `value`, or what C's function gives for lanes of x beyond the reduction. It is called for all lanes, where there is one.
static tvms_node *within(vector_steps *s, tvms_tir_opcode name, tvms_node *x,
                         tvms_node *value) {
  tvms_node *bits =
      bitwise(s, TVMS_TIR_bitwise_and, bits_of(s, x), whole(s, INT64_MAX));
  int64_t bound = (int64_t)BELOW << 52;
  tvms_node *y = keep(s, "y", value);
  tvms_node *other = tvms_call_new_of(s->unit, s->dtype, name, &x, 1, TVMS_NO_SPAN);
  if (s->dtype.lanes > 1) {
    bits = keep(s, "m", bits);
    other = choose(s, less(s, bits, whole(s, bound)), y, other);
  }
  tvms_node *end = tvms_build_int(s->unit, TVMS_DTYPE(INT, 64), bound, TVMS_NO_SPAN);
  tvms_node *args[] = {less(s, greatest(s, bits), end), y, other};
  return tvms_call_new_of(s->unit, s->dtype, TVMS_TIR_if_then_else, args, 3,
                          TVMS_NO_SPAN);
}

// The sine of the angle plus as many quarters of a turn as `quadrant` says, its sign flipped by `sign`.
static tvms_node *turned(vector_steps *s, const angle *of, tvms_node *quadrant,
                         tvms_node *TVMS_NULLABLE sign) {
  tvms_node *square = keep(s, "s", mul(s, of->r, of->r)), *odd = is_odd(s, quadrant);
  parts of_sin = sine(s, of, square), of_cos = cosine(s, of, square);
  tvms_node *value = add(s, choose(s, odd, of_cos.first, of_sin.first),
                         choose(s, odd, of_cos.last, of_sin.last));
  tvms_node *flip = shift_left(s, bit(s, quadrant, 2), 62);
  if (sign) flip = bitwise(s, TVMS_TIR_bitwise_xor, flip, sign);
  return of_bits(s, bitwise(s, TVMS_TIR_bitwise_xor, bits_of(s, value), flip));
}

tvms_node *tvms_vector_sin_double(vector_steps *s, tvms_node *const *x) {
  angle of = reduce(s, x[0]);
  return within(s, TVMS_TIR_sin, x[0], turned(s, &of, of.quadrant, sign_of(s, x[0])));
}

tvms_node *tvms_vector_cos_double(vector_steps *s, tvms_node *const *x) {
  angle of = reduce(s, x[0]);
  tvms_node *next = keep(s, "q1", add(s, of.quadrant, whole(s, 1)));
  return within(s, TVMS_TIR_cos, x[0], turned(s, &of, next, NULL));
}

// The sum of the parts, and what it is rounded by.
static parts summed(vector_steps *s, parts of) {
  tvms_node *sum = keep(s, "sum", rounded_sum(s, of.first, of.last));
  tvms_node *taken = rounded_difference(s, sum, of.first);
  return (parts){sum, keep(s, "less", rounded_difference(s, of.last, taken))};
}

// A quotient of sine and cosine, or of cosine and minus sine, with the rest of the division: both are sums of two numbers.
tvms_node *tvms_vector_tan_double(vector_steps *s, tvms_node *const *x) {
  angle of = reduce(s, x[0]);
  tvms_node *square = keep(s, "s", mul(s, of.r, of.r)), *odd = is_odd(s, of.quadrant);
  parts of_sin = summed(s, sine(s, &of, square));
  parts of_cos = summed(s, cosine(s, &of, square));
  tvms_node *upper = keep(s, "u", choose(s, odd, of_cos.first, of_sin.first));
  tvms_node *upper_rest = choose(s, odd, of_cos.last, of_sin.last);
  tvms_node *lower =
      keep(s, "v", choose(s, odd, negated(s, of_sin.first), of_cos.first));
  tvms_node *lower_rest = choose(s, odd, of_sin.last, negated(s, of_cos.last));
  tvms_node *inverse = keep(s, "i", quotient(s, number(s, 1), lower));
  tvms_node *q = keep(s, "quotient", mul(s, upper, inverse));
  tvms_node *rest = fused(s, negated(s, q), lower, upper);
  rest = fused(s, q, lower_rest, rounded_sum(s, upper_rest, rest));
  tvms_node *value = fused(s, rest, inverse, q);
  tvms_node *bits =
      bitwise(s, TVMS_TIR_bitwise_xor, bits_of(s, value), sign_of(s, x[0]));
  return within(s, TVMS_TIR_tan, x[0], of_bits(s, bits));
}
