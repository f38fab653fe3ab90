// What powers of float64 need of exponentials.
#ifndef TVMS_PASSES_TIR_MATH_VECTOR_DOUBLE_H
#define TVMS_PASSES_TIR_MATH_VECTOR_DOUBLE_H

#include "passes/tir/math/vector_steps.h"

// exp(x + low) of float64 for -746 <= x <= 710 or NaN.
tvms_node *tvms_vector_exp_of_sum(vector_steps *s, tvms_node *x, tvms_node *low);

#endif
