// Calls of TIR: operators of ir/tir_ops.def, functions of C, functions of the module.
#ifndef TVMS_INTERP_CALLS_H
#define TVMS_INTERP_CALLS_H

#include "interp/frame.h"
#include "ir/tir_op.h"

// Lane `lane` of what a call of TIR gives; every lane of a scalar is its value. A call for
// its effect gives 0. A fault for an operator that cannot be run on a CPU.
tvms_scalar tvms_interp_eval_call(tvms_interp_frame *f, const tvms_call *call,
                                  uint32_t lane);

// Arguments of an operator that is a function of reals, which tvms_interp_math computes; 0 for
// any other operator.
uint32_t tvms_interp_math_arity(tvms_tir_opcode op);

// Its value for arguments `x`, rounded to `type`, a kind of reals.
double tvms_interp_math(tvms_tir_opcode op, tvms_dl_type type, const double *x);

#endif
