// What powers need of logarithms.
#ifndef TVMS_PASSES_TIR_MATH_VECTOR_LOG_H
#define TVMS_PASSES_TIR_MATH_VECTOR_LOG_H

#include "passes/tir/math/vector_steps.h"

// x = m * 2^k with m from sqrt(1/2) to sqrt(2); float32, kept in a variable as far as needed.
typedef struct {
  tvms_node *k, *m;
} tvms_vector_parts;

// The parts of a positive finite x; something finite for any other.
tvms_vector_parts tvms_vector_split(vector_steps *s, tvms_node *x);

// `value` for positive finite x; what a logarithm is otherwise. Of float32 or float64.
tvms_node *tvms_vector_log_limits(vector_steps *s, tvms_node *value, tvms_node *x);

#endif
