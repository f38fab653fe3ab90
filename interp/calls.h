// Calls of TIR: operators of ir/tir_ops.def, functions of C, functions of the module.
#ifndef TVMS_INTERP_CALLS_H
#define TVMS_INTERP_CALLS_H

#include "interp/frame.h"

// Lane `lane` of what a call of TIR gives; every lane of a scalar is its value. A call for
// its effect gives 0. A fault for an operator that cannot be run on a CPU.
tvms_scalar tvms_interp_eval_call(tvms_interp_frame *f, const tvms_call *call,
                                  uint32_t lane);

#endif
