// asin, acos, atan and atan2, of float32 and float64.
//
// With a = |x| and half = pi / 2:
//   asin(a) = a + a^3 * … of a^2 up to 1/2, half - 2 * asin(sqrt((1 - a) / 2)) above;
//   acos(x) = half - asin(x) between -1/2 and 1/2, 2 * asin(sqrt((1 - a) / 2)) above, pi less that below;
//   atan(a) = a + a^3 * … of a^2 up to 1, half - atan(1 / a) above;
//   atan2(y, x) = atan(|y| / |x|), pi less that where x has a minus, with the sign of y.
// Each is `by` times two parts, a value v and the little that the polynomial adds to it, to which a multiple of
// half comes in two parts as well: what rounding takes from the large parts goes to the little ones.
// Above 1 the root of a negative number is NaN, as asin and acos are.
#include "passes/tir/math/vector_functions.h"

// What is known of a width: the number next to pi / 2, what pi / 2 is more, and the polynomials.
typedef struct {
  double half_pi, low;
  polynomial asin, atan;
} width;

static const width single = {0x1.921fb6p+0, -0x1.777a5cp-25, POLYNOMIAL_asin,
                             POLYNOMIAL_atan};
static const width twice = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54,
                            POLYNOMIAL_asin_double, POLYNOMIAL_atan_double};

static const width *width_of(const vector_steps *s) {
  return s->dtype.bits == 64 ? &twice : &single;
}

// by * (v + little) + turns * pi / 2
typedef struct {
  tvms_node *v, *little, *by, *turns;
} arc;

static tvms_node *sum_of(vector_steps *s, const arc *a) {
  tvms_node *by = keep(s, "by", a->by), *turns = keep(s, "turns", a->turns);
  tvms_node *high = keep(s, "h", mul(s, turns, number(s, width_of(s)->half_pi)));
  tvms_node *large = keep(s, "large", fused(s, a->v, by, high));
  tvms_node *lost = fused(s, a->v, by, sub(s, high, large));
  tvms_node *low = fused(s, turns, number(s, width_of(s)->low), lost);
  return add(s, large, fused(s, a->little, by, low));
}

// v^3 * … of `square`
static tvms_node *little_of(vector_steps *s, polynomial which, tvms_node *v,
                            tvms_node *square) {
  tvms_node *p = tvms_vector_polynomial(s, which, square);
  return mul(s, mul(s, v, square), p);
}

// What asin is of: `value` up to 1/2, sqrt((1 - a) / 2) above.
static arc sine_arc(vector_steps *s, tvms_node *value, tvms_node *a, tvms_node *far) {
  tvms_node *half = number(s, 0.5);
  tvms_node *rest = fused(s, a, number(s, -0.5), half);
  tvms_node *square = keep(s, "s", choose(s, far, rest, mul(s, a, a)));
  tvms_node *root =
      tvms_call_new_of(s->unit, s->dtype, TVMS_TIR_sqrt, &square, 1, TVMS_NO_SPAN);
  arc made = {.v = keep(s, "v", choose(s, far, root, value))};
  made.little = keep(s, "l", little_of(s, width_of(s)->asin, made.v, square));
  return made;
}

tvms_node *tvms_vector_asin(vector_steps *s, tvms_node *const *x) {
  tvms_node *a = keep(s, "a", magnitude(s, x[0]));
  tvms_node *far = keep(s, "far", less(s, number(s, 0.5), a));
  arc of = sine_arc(s, a, a, far);
  of.by = choose(s, far, number(s, -2), number(s, 1));
  of.turns = choose(s, far, number(s, 1), number(s, 0));
  return signed_as(s, sum_of(s, &of), x[0]);
}

tvms_node *tvms_vector_acos(vector_steps *s, tvms_node *const *x) {
  tvms_node *a = keep(s, "a", magnitude(s, x[0]));
  tvms_node *far = keep(s, "far", less(s, number(s, 0.5), a));
  tvms_node *below = keep(s, "below", less(s, x[0], number(s, 0)));
  arc of = sine_arc(s, x[0], a, far);
  tvms_node *by = choose(s, below, number(s, -2), number(s, 2));
  tvms_node *turns = choose(s, below, number(s, 2), number(s, 0));
  of.by = choose(s, far, by, number(s, -1));
  of.turns = choose(s, far, turns, number(s, 1));
  return sum_of(s, &of);
}

// What atan is of: `v` from 0 to 1.
static arc tangent_arc(vector_steps *s, tvms_node *v) {
  arc made = {.v = keep(s, "v", v)};
  tvms_node *square = keep(s, "s", mul(s, made.v, made.v));
  made.little = keep(s, "l", little_of(s, width_of(s)->atan, made.v, square));
  return made;
}

tvms_node *tvms_vector_atan(vector_steps *s, tvms_node *const *x) {
  tvms_node *a = keep(s, "a", magnitude(s, x[0])), *one = number(s, 1);
  tvms_node *far = keep(s, "far", less(s, one, a));
  arc of = tangent_arc(s, choose(s, far, quotient(s, one, a), a));
  of.by = choose(s, far, number(s, -1), one);
  of.turns = choose(s, far, one, number(s, 0));
  return signed_as(s, sum_of(s, &of), x[0]);
}

// Where both are the same, the quotient is 1 for infinities, too, and 0 for zeros.
tvms_node *tvms_vector_atan2(vector_steps *s, tvms_node *const *x) {
  tvms_node *a = keep(s, "a", magnitude(s, x[0])),
            *b = keep(s, "c", magnitude(s, x[1]));
  tvms_node *zero = number(s, 0), *one = number(s, 1);
  tvms_node *far = keep(s, "far", less(s, b, a));
  tvms_node *least = keep(s, "least", choose(s, far, b, a));
  tvms_node *most = keep(s, "most", choose(s, far, a, b));
  tvms_node *same = choose(s, equal(s, most, zero), zero, one);
  tvms_node *v = choose(s, equal(s, least, most), same, quotient(s, least, most));
  arc of = tangent_arc(s, v);
  tvms_node *below = keep(s, "below", less(s, bits_of(s, x[1]), whole(s, 0)));
  tvms_node *minus = number(s, -1);
  of.by = choose(s, far, choose(s, below, one, minus), choose(s, below, minus, one));
  tvms_node *turns = choose(s, below, number(s, 2), zero);
  of.turns = choose(s, far, one, turns);
  return signed_as(s, sum_of(s, &of), x[0]);
}
