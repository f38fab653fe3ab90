// Definitions of operators that move, choose and make elements.
//
// Each function writes the result of a call, and is a fault if sizes do not fit.
#ifndef TVMS_INTERP_OPERATORS_SHAPE_H
#define TVMS_INTERP_OPERATORS_SHAPE_H

#include "interp/operators.h"

// The first operand, repeated along axes of length one.
void tvms_interp_define_broadcast_to(const tvms_interp_operator *o);

// Every element, but not below the second operand nor above the third.
void tvms_interp_define_clip(const tvms_interp_operator *o);

// The fields of a tuple one behind the other along `axis`; without it all their elements in a row.
void tvms_interp_define_concat(const tvms_interp_operator *o);

// A number everywhere: the second operand of full and full_like, 1 or 0.
void tvms_interp_define_fill(const tvms_interp_operator *o);

// The elements of `axis` from the last to the first.
void tvms_interp_define_flip(const tvms_interp_operator *o);

// The axes in the order of `axes`, by default the reverse.
void tvms_interp_define_permute_dims(const tvms_interp_operator *o);

// The elements of the first operand in their order, whatever the shape.
void tvms_interp_define_same_elements(const tvms_interp_operator *o);

// The elements of matrices on one side of the diagonal `k`, and 0.
void tvms_interp_define_triangle(const tvms_interp_operator *o);

// Elements of the second operand where the first is true, and of the third elsewhere.
void tvms_interp_define_where(const tvms_interp_operator *o);

#endif
