// Values of TIR as variables of C.
#ifndef TVMS_BACKEND_C_EXPR_H
#define TVMS_BACKEND_C_EXPR_H

#include "backend/c/emit.h"

// The value of an expression, in its register form.
const char *tvms_c_expr(c_emitter *e, const tvms_node *node);

// An integer expression as an index. Its arithmetic may assume that nothing overflows.
const char *tvms_c_index(c_emitter *e, const tvms_node *node);

// A condition as a truth: a bool, or an integer that is true unless it is zero.
const char *tvms_c_condition(c_emitter *e, const tvms_node *node);

#endif
