// Packed functions of TVM's run time that the interpreter has itself, what operators without
// a PrimFunc are lowered to, and those of plug-ins.
#ifndef TVMS_INTERP_PACKED_H
#define TVMS_INTERP_PACKED_H

#include "interp/frame.h"

// True if there is a packed function of this name.
bool tvms_interp_has_packed(const tvms_interp *interp, tvms_bytes name);

// Calls a packed function with borrowed arguments; what it returns is the caller's. A fault if
// there is not such a function or the arguments are none of its own.
tvms_value tvms_interp_call_packed(tvms_interp_frame *f, tvms_bytes name,
                                   const tvms_value *args, uint32_t count,
                                   tvms_span span);

#endif
