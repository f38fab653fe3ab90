// Operators of Relax that stay after legalisation: calls of PrimFuncs, memory, shapes.
#ifndef TVMS_INTERP_RELAX_OPS_H
#define TVMS_INTERP_RELAX_OPS_H

#include "interp/frame.h"
#include "interp/interp.h"

// The value of an operator of Relax that tvms_interp_runs_operator knows, counted for
// the caller.
tvms_value tvms_interp_call_relax_operator(tvms_interp_frame *f, const tvms_call *call);

// True if the interpreter runs this operator of Relax itself. The others compute, and need
// a PrimFunc in their place (LegalizeOps).
bool tvms_interp_runs_operator(tvms_opcode opcode);

#endif
