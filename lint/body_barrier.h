// divergent_barrier: barriers that not all threads reach.
#ifndef TVMS_LINT_BODY_BARRIER_H
#define TVMS_LINT_BODY_BARRIER_H

#include "ir/tir_op.h"
#include "lint/body.h"

// A call stands as a statement.
void tvms_lint_body_barrier_call(tvms_lint_body *body, const tvms_node *call,
                                 tvms_tir_opcode opcode);

#endif
