// What powers and inverse functions need of logarithms.
#ifndef TVMS_PASSES_TIR_MATH_VECTOR_LOG_H
#define TVMS_PASSES_TIR_MATH_VECTOR_LOG_H

#include "passes/tir/math/vector_steps.h"

// x = m * 2^k with m from sqrt(1/2) to sqrt(2), kept in a variable as far as needed.
typedef struct {
  tvms_node *k, *m;
} tvms_vector_parts;

// The parts of a positive finite x; something finite for any other.
tvms_vector_parts tvms_vector_split(vector_steps *s, tvms_node *x);

// `value` for positive finite x; what a logarithm is otherwise. Of float32 or float64.
tvms_node *tvms_vector_log_limits(vector_steps *s, tvms_node *value, tvms_node *x);

// log(plus + y + low) + k * ln 2: `plus` is 0 or 1, y not below -1, `low` what the rounding of y lost.
typedef struct {
  tvms_node *y, *low, *plus, *k;
} tvms_vector_sum;

// That logarithm, if plus + y is positive and finite.
tvms_node *tvms_vector_log_parts(vector_steps *s, const tvms_vector_sum *of);

#endif
