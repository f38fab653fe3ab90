// Packed functions called by PrimFuncs.
#ifndef TVMS_INTERP_PACKED_TIR_H
#define TVMS_INTERP_PACKED_TIR_H

#include "interp/frame.h"

// T.call_packed(name, …). A fault if there is not such a function here, if the memory of a tensor
// that is passed is smaller than its shape says, or if the function refuses its arguments.
void tvms_interp_call_packed_of_tir(tvms_interp_frame *f, const tvms_call *call);

#endif
