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

#endif
