// What powers and angles need of exponentials.
#ifndef TVMS_PASSES_TIR_MATH_VECTOR_EXP_H
#define TVMS_PASSES_TIR_MATH_VECTOR_EXP_H

#include "passes/tir/math/vector_steps.h"

// Added to a number below 2^22 (2^51), it rounds to a whole number, which then stands in the low bits.
#define TVMS_VECTOR_ROUNDER   0x1.8p23
#define TVMS_VECTOR_ROUNDER64 0x1.8p52

// 2^r for |r| <= 1/2.
tvms_node *tvms_vector_exp2_inside(vector_steps *s, tvms_node *r);

// exp(x) for x <= 0 or NaN, the same bits in fewer steps.
tvms_node *tvms_vector_exp_below(vector_steps *s, tvms_node *x);

// p * 2^n, rounded once if the result is subnormal. `bits` is an int32 with n in its lowest 9 bits,
// -151 <= n <= 129; 1/2 < p < 2; is_small: n is at most 64, and must hold below -63.
tvms_node *tvms_vector_scale(vector_steps *s, tvms_node *p, tvms_node *bits,
                             tvms_node *is_small);

#endif
