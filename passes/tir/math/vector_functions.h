// The functions that VectorMath knows: each adds steps and returns its value.
//
// Arguments are variables of float32 (DOUBLE: float64), in as many lanes as the steps; so is the result. Errors are
// below 2 units in the last place; NaN, infinities, zeros of both signs, subnormal numbers and
// results out of range are those of C. No sum has a product in it that is not T.fma, so
// that contraction changes nothing.
#ifndef TVMS_PASSES_TIR_MATH_VECTOR_FUNCTIONS_H
#define TVMS_PASSES_TIR_MATH_VECTOR_FUNCTIONS_H

#include "passes/tir/math/vector_steps.h"

#define FUNCTION(ident, arity, shape)                                                  \
  tvms_node *tvms_vector_##shape(vector_steps *s, tvms_node *const *x);
#define DOUBLE FUNCTION
#include "passes/tir/math/vector_math.def"

#endif
