// Values of TIR, one lane at a time.
#ifndef TVMS_INTERP_EXPR_H
#define TVMS_INTERP_EXPR_H

#include "interp/frame.h"

// Gives a variable a value. Vectors are evaluated lane by lane from `value`.
void tvms_interp_bind_var(tvms_interp_frame *f, const tvms_node *var,
                          tvms_scalar value);

// The same with the value of an expression.
void tvms_interp_bind_expr(tvms_interp_frame *f, const tvms_node *var,
                           const tvms_node *value);

#endif
