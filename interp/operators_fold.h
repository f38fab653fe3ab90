// Definitions of operators that fold: reductions, norms, softmax and products of matrices.
//
// Each function writes the result of a call, and is a fault if sizes do not fit.
#ifndef TVMS_INTERP_OPERATORS_FOLD_H
#define TVMS_INTERP_OPERATORS_FOLD_H

#include "interp/operators.h"

// Means and variances over `axes` become 0 and 1, then scale and offset count.
void tvms_interp_define_layer_norm(const tvms_interp_operator *o);

// A product of matrices; a vector is a row on the left and a column on the right.
void tvms_interp_define_matmul(const tvms_interp_operator *o);

// Folds over the axes of `axis`, all by default: sum, prod, max, min, mean, variance, std.
void tvms_interp_define_reduction(const tvms_interp_operator *o);

// Means of squares over `axes` become 1, then the weight counts.
void tvms_interp_define_rms_norm(const tvms_interp_operator *o);

// Exponentials that sum to one along `axis`, or their logarithms.
void tvms_interp_define_softmax(const tvms_interp_operator *o);

#endif
