// Calls of C text: operators of TIR, functions of C, functions of the module.
#ifndef TVMS_BACKEND_C_CALLS_H
#define TVMS_BACKEND_C_CALLS_H

#include "backend/c/emit.h"
#include "ir/tir_op.h"

// The value of a CALL; "0" if it has none.
const char *tvms_c_call(c_emitter *e, const tvms_call *call);

// The truths, of the type of `node`, that T.isnan, T.isinf or T.isfinite gives of `x`.
const char *tvms_c_classify(c_emitter *e, const tvms_node *node, const tvms_node *x,
                            tvms_tir_opcode op);

#endif
