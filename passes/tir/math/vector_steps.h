// Values in the making, step by step: what the functions of VectorMath are written in.
//
// A value that is used more than once is kept in a variable (`keep`); the pass puts the
// variables in front of the statement or into the expression. Everything has as many lanes as the
// call that is replaced.
#ifndef TVMS_PASSES_TIR_MATH_VECTOR_STEPS_H
#define TVMS_PASSES_TIR_MATH_VECTOR_STEPS_H

#include "ir/build.h"
#include "ir/fold_ops.h"

#include <string.h>

typedef struct {
  tvms_unit *unit;
  tvms_dtype dtype;     // float32 or float64, as many lanes as the call
  tvms_node_vec steps;  // BIND: a variable and its value, in the order of their making
} vector_steps;

typedef enum {
#define POLYNOMIAL(name, type, ...) POLYNOMIAL_##name,
#include "passes/tir/math/vector_math.def"
} polynomial;

// first + x * (second + x * …): all of the row's powers by T.fma.
tvms_node *tvms_vector_polynomial(vector_steps *s, polynomial which, tvms_node *x);

// The same times a power of two, which is in the coefficients.
tvms_node *tvms_vector_polynomial_times(vector_steps *s, polynomial which, tvms_node *x,
                                        double scale);

// A variable that holds `value` from here on; a variable is returned as it is.
tvms_node *tvms_vector_keep(vector_steps *s, const char *name, tvms_node *value);

// A constant of a type, in each of its lanes.
tvms_node *tvms_vector_constant(vector_steps *s, tvms_dtype dtype, double value);

// The bits of `value` as another type of the same size.
tvms_node *tvms_vector_reinterpret(vector_steps *s, tvms_dtype dtype, tvms_node *value);

// ---- Short names: these files are formulas ----

static inline tvms_node *keep(vector_steps *s, const char *name, tvms_node *value) {
  return tvms_vector_keep(s, name, value);
}

static inline tvms_dtype of_lanes(const vector_steps *s, uint8_t code, uint8_t bits) {
  return (tvms_dtype){code, bits, s->dtype.lanes};
}

// Of the type of the steps, unless another one is named.
static inline tvms_node *number(vector_steps *s, double value) {
  return tvms_vector_constant(s, s->dtype, value);
}

static inline tvms_node *number64(vector_steps *s, double value) {
  return tvms_vector_constant(s, of_lanes(s, TVMS_FLOAT, 64), value);
}

// An integer that has as many bits as the numbers.
static inline tvms_node *whole(vector_steps *s, int64_t value) {
  return tvms_build_int(s->unit, of_lanes(s, TVMS_INT, s->dtype.bits), value,
                        TVMS_NO_SPAN);
}

// The highest bit alone.
static inline tvms_node *sign_bit(vector_steps *s) {
  return whole(s, s->dtype.bits == 64 ? INT64_MIN : INT32_MIN);
}

static inline tvms_node *binary(vector_steps *s, tvms_node_kind kind, tvms_node *a,
                                tvms_node *b) {
  return tvms_binary_new(s->unit, kind, a, b, TVMS_NO_SPAN);
}

static inline tvms_node *add(vector_steps *s, tvms_node *a, tvms_node *b) {
  return binary(s, TVMS_NODE_ADD, a, b);
}

static inline tvms_node *sub(vector_steps *s, tvms_node *a, tvms_node *b) {
  return binary(s, TVMS_NODE_SUB, a, b);
}

static inline tvms_node *mul(vector_steps *s, tvms_node *a, tvms_node *b) {
  return binary(s, TVMS_NODE_MUL, a, b);
}

static inline tvms_node *quotient(vector_steps *s, tvms_node *a, tvms_node *b) {
  return binary(s, TVMS_NODE_DIV, a, b);
}

static inline tvms_node *less(vector_steps *s, tvms_node *a, tvms_node *b) {
  return binary(s, TVMS_NODE_LT, a, b);
}

static inline tvms_node *equal(vector_steps *s, tvms_node *a, tvms_node *b) {
  return binary(s, TVMS_NODE_EQ, a, b);
}

// a * b + c, rounded once.
static inline tvms_node *fused(vector_steps *s, tvms_node *a, tvms_node *b,
                               tvms_node *c) {
  tvms_node *args[] = {a, b, c};
  return tvms_call_new_of(s->unit, c->dtype, TVMS_TIR_fma, args, 3, TVMS_NO_SPAN);
}

// a + b where its rounding counts: a simplifier takes (a + b) - b for a, and knows nothing of T.fma.
static inline tvms_node *rounded_sum(vector_steps *s, tvms_node *a, tvms_node *b) {
  bool wide = b->dtype.bits == 64;
  return fused(s, a, wide ? number64(s, 1) : number(s, 1), b);
}

static inline tvms_node *choose(vector_steps *s, tvms_node *condition, tvms_node *yes,
                                tvms_node *no) {
  return tvms_select_new(s->unit, condition, yes, no, TVMS_NO_SPAN);
}

static inline tvms_node *convert(vector_steps *s, tvms_dtype dtype, tvms_node *value) {
  return tvms_cast_new(s->unit, dtype, value, TVMS_NO_SPAN);
}

static inline tvms_node *bitwise(vector_steps *s, tvms_tir_opcode op, tvms_node *a,
                                 tvms_node *b) {
  return tvms_build_bitwise(s->unit, op, a, b, TVMS_NO_SPAN);
}

static inline tvms_node *shift_left(vector_steps *s, tvms_node *a, int by) {
  return bitwise(s, TVMS_TIR_shift_left, a, whole(s, by));
}

// The bits of a number, and the number of bits.
static inline tvms_node *bits_of(vector_steps *s, tvms_node *value) {
  return tvms_vector_reinterpret(s, of_lanes(s, TVMS_INT, s->dtype.bits), value);
}

static inline tvms_node *of_bits(vector_steps *s, tvms_node *bits) {
  return tvms_vector_reinterpret(s, s->dtype, bits);
}

// |x|
static inline tvms_node *magnitude(vector_steps *s, tvms_node *x) {
  int64_t others = s->dtype.bits == 64 ? INT64_MAX : INT32_MAX;
  return of_bits(s, bitwise(s, TVMS_TIR_bitwise_and, bits_of(s, x), whole(s, others)));
}

// The sign of x as the highest bit of an integer, the others 0.
static inline tvms_node *sign_of(vector_steps *s, tvms_node *x) {
  return bitwise(s, TVMS_TIR_bitwise_and, bits_of(s, x), sign_bit(s));
}

// `value`, which is not below 0, with the sign of x.
static inline tvms_node *signed_as(vector_steps *s, tvms_node *value, tvms_node *x) {
  return of_bits(s, bitwise(s, TVMS_TIR_bitwise_or, bits_of(s, value), sign_of(s, x)));
}

// The greater and the lesser of a constant and x; x if it is NaN.
static inline tvms_node *at_least(vector_steps *s, double low, tvms_node *x) {
  return binary(s, TVMS_NODE_MAX, number(s, low), x);
}

static inline tvms_node *at_most(vector_steps *s, double high, tvms_node *x) {
  return binary(s, TVMS_NODE_MIN, number(s, high), x);
}

#endif
