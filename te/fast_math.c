// Approximations of exp, tanh and erf by polynomials, and softmax by that of exp.
//
// They are made for float32, erf for float16 too; a tensor of another type gets the exact function.
// Coefficients are Cephes' (exp) and Eigen's, as TVM: topi/elemwise.h, tirx/op/op.cc,
// topi/nn/softmax.py.
#include "ir/fold_ops.h"
#include "te/legalizers.h"
#include "te/softmax.h"

#define BINARY(KIND, a, b)                                                             \
  tvms_build_binary(te->unit, TVMS_NODE_##KIND, (a), (b), TVMS_NO_SPAN)
#define COUNT(list) ((uint32_t)(sizeof(list) / sizeof(list)[0]))

// c[0] * x + c[1], that times x, and so on; each product has x in front or behind.
static tvms_node *polynomial(tvms_te *te, tvms_node *x, const double *c, uint32_t count,
                             bool x_first) {
  tvms_dtype dtype = x->dtype;
  tvms_node *sum = tvms_te_const(te, dtype, c[0]);
  for (uint32_t i = 1; i < count; i++) {
    tvms_node *product = x_first ? BINARY(MUL, x, sum) : BINARY(MUL, sum, x);
    sum = BINARY(ADD, product, tvms_te_const(te, dtype, c[i]));
  }
  return sum;
}

static tvms_node *clamp(tvms_te *te, tvms_node *x, double low, double high) {
  tvms_node *capped = BINARY(MIN, x, tvms_te_const(te, x->dtype, high));
  return BINARY(MAX, capped, tvms_te_const(te, x->dtype, low));
}

// exp(x) = 2 ** n * exp(f) with n = floor(x / ln(2) + 1 / 2) and f = x - n * ln(2): the first
// factor is made as the bits of a float, the second by a polynomial.
static tvms_node *exp_element(tvms_te *te, tvms_node *element) {
  static const double c[] = {1.9875691500E-4f, 1.3981999507E-3f, 8.3334519073E-3f,
                             4.1665795894E-2f, 1.6666665459E-1f, 5.0000001201E-1f};
  tvms_dtype real = element->dtype;
  tvms_node *x = clamp(te, element, -88.3762626647949f, 88.3762626647950f);
  tvms_node *halves = BINARY(MUL, x, tvms_te_const(te, real, 1.44269504088896341f));
  halves = BINARY(ADD, halves, tvms_te_const(te, real, 0.5));
  tvms_node *n = tvms_te_round(te, TVMS_TIR_floor, halves);
  tvms_node *f =
      BINARY(SUB, x, BINARY(MUL, n, tvms_te_const(te, real, 0.6931471805599453f)));
  tvms_node *y = polynomial(te, f, c, COUNT(c), false);
  y = BINARY(ADD, BINARY(MUL, BINARY(MUL, y, f), f), f);
  y = BINARY(ADD, y, tvms_te_const(te, real, 1));
  tvms_dtype bits = TVMS_DTYPE(INT, 32);
  tvms_node *exponent = BINARY(ADD, n, tvms_te_const(te, real, 127));
  exponent = tvms_build_cast(te->unit, bits, exponent, TVMS_NO_SPAN);
  tvms_node *power = tvms_build_bitwise(te->unit, TVMS_TIR_shift_left, exponent,
                                        tvms_te_const(te, bits, 23), TVMS_NO_SPAN);
  power =
      tvms_call_new_of(te->unit, real, TVMS_TIR_reinterpret, &power, 1, TVMS_NO_SPAN);
  return BINARY(MAX, BINARY(MUL, power, y), element);
}

static tvms_node *exact_exp(tvms_te *te, tvms_node *x) {
  return tvms_te_call(te, TVMS_TIR_exp, x);
}

static tvms_node *exact_tanh(tvms_te *te, tvms_node *x) {
  return tvms_te_call(te, TVMS_TIR_tanh, x);
}

static tvms_node *exact_erf(tvms_te *te, tvms_node *x) {
  return tvms_te_call(te, TVMS_TIR_erf, x);
}

// Two polynomials in x * x, the first times x, over each other.
static tvms_node *quotient(tvms_te *te, tvms_node *x, const double *p, uint32_t p_count,
                           const double *q, uint32_t q_count) {
  tvms_node *square = BINARY(MUL, x, x);
  tvms_node *above = BINARY(MUL, x, polynomial(te, square, p, p_count, true));
  return BINARY(DIV, above, polynomial(te, square, q, q_count, true));
}

static tvms_node *tanh_element(tvms_te *te, tvms_node *x) {
  static const double p[] = {-2.76076847742355e-16, 2.00018790482477e-13,
                             -8.60467152213735e-11, 5.12229709037114e-08,
                             1.48572235717979e-05,  6.37261928875436e-04,
                             4.89352455891786e-03};
  static const double q[] = {1.19825839466702e-06, 1.18534705686654e-04,
                             2.26843463243900e-03, 4.89352518554385e-03};
  return quotient(te, x, p, COUNT(p), q, COUNT(q));
}

static tvms_node *erf_element(tvms_te *te, tvms_node *x) {
  static const double p[] = {-2.72614225801306e-10f, 2.77068142495902e-08f,
                             -2.10102402082508e-06f, -5.69250639462346e-05f,
                             -7.34990630326855e-04f, -2.95459980854025e-03f,
                             -1.60960333262415e-02f};
  static const double q[] = {-1.45660718464996e-05f, -2.13374055278905e-04f,
                             -1.68282697438203e-03f, -7.37332916720468e-03f,
                             -1.42647390514189e-02f};
  return quotient(te, clamp(te, x, -4, 4), p, COUNT(p), q, COUNT(q));
}

static bool is_float(const tvms_node *tensor, uint8_t bits) {
  return tvms_dtype_same(tvms_te_dtype(tensor), TVMS_DTYPE(FLOAT, bits));
}

static tvms_node *fast_exp(tvms_te *te, tvms_node *x) {
  return tvms_te_map(te, x, "T_fast_exp", "ax",
                     is_float(x, 32) ? exp_element : exact_exp);
}

bool tvms_te_fast_exp(tvms_legal *legal) {
  legal->name = "fast_exp";
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  return tvms_legal_return(legal, fast_exp(&legal->te, x));
}

// Beyond 9 the result is 1 in float32.
bool tvms_te_fast_tanh(tvms_legal *legal) {
  legal->name = "fast_tanh";
  tvms_te *te = &legal->te;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  bool fast = is_float(x, 32);
  if (fast) {
    tvms_dtype dtype = tvms_te_dtype(x);
    x = tvms_te_minimum(te, tvms_te_const(te, dtype, 9), x);
    x = tvms_te_maximum(te, tvms_te_const(te, dtype, -9), x);
  }
  return tvms_legal_return(
      legal, tvms_te_map(te, x, "T_fast_tanh", "ax", fast ? tanh_element : exact_tanh));
}

bool tvms_te_fast_erf(tvms_legal *legal) {
  legal->name = "fast_erf";
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  bool fast = is_float(x, 32) || is_float(x, 16);
  return tvms_legal_return(legal,
                           tvms_te_map(&legal->te, x, fast ? "T_fast_erf" : "T_erf",
                                       "ax", fast ? erf_element : exact_erf));
}

bool tvms_te_fast_softmax(tvms_legal *legal) {
  legal->name = "fast_softmax";
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  int64_t axis = tvms_attr_int(legal->call, TVMS_ATTR_axis_axis, -1);
  uint32_t place = tvms_legal_axis(axis, tvms_te_shape(x).len);
  return tvms_legal_return(legal, tvms_te_softmax_by(&legal->te, x, place, fast_exp));
}
