// Values of TIR, one lane at a time.
#ifndef TVMS_INTERP_EXPR_H
#define TVMS_INTERP_EXPR_H

#include "interp/frame.h"

// Gives a scalar variable or a pointer a value, which fits its type. It may have one
// already: loops bind theirs again and again.
void tvms_interp_bind_var(tvms_interp_frame *f, const tvms_node *var,
                          tvms_scalar value);

// Gives a variable the value of an expression; of a vector all lanes are evaluated now.
void tvms_interp_bind_expr(tvms_interp_frame *f, const tvms_node *var,
                           const tvms_node *value);

// Integer division in its four forms (DIV, MOD, FLOOR_DIV, FLOOR_MOD) for values that fit their
// type. `b` is not 0; the result may have to be brought into the type.
int64_t tvms_interp_divide(const tvms_node *node, int64_t a, int64_t b);

// What a binary operator makes of two reals of the type of its operands.
tvms_scalar tvms_interp_real(tvms_interp_frame *f, const tvms_node *node, double a,
                             double b);

#endif
