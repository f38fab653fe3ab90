// Calls of TIR: operators of ir/tir_ops.def, functions of C, functions of the module.
#ifndef TVMS_INTERP_CALLS_H
#define TVMS_INTERP_CALLS_H

#include "interp/frame.h"

// Lane `lane` of a call in TIR: an operator, a function of C, or a function of the
// module.
tvms_scalar tvms_interp_eval_call(tvms_interp_frame *f, const tvms_call *call,
                                  uint32_t lane);

#endif
