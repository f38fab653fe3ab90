// Operators of Relax that stay after legalisation: calls of PrimFuncs, memory, shapes.
#ifndef TVMS_INTERP_RELAX_OPS_H
#define TVMS_INTERP_RELAX_OPS_H

#include "interp/frame.h"

// Calls a member: compiled code, a PrimFunc or a Relax function.
tvms_value tvms_interp_call_relax_operator(tvms_interp_frame *f, const tvms_call *call);

#endif
