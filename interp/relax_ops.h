// Operators of Relax that stay after legalisation: calls of PrimFuncs, memory, shapes.
#ifndef TVMS_INTERP_RELAX_OPS_H
#define TVMS_INTERP_RELAX_OPS_H

#include "interp/frame.h"
#include "interp/interp.h"

// What a call of an operator of Relax gives, which the caller owns; a fault if the
// interpreter does not run the operator itself.
tvms_value tvms_interp_call_relax_operator(tvms_interp_frame *f, const tvms_call *call);

// True if the interpreter runs this operator of Relax itself. The others compute, and need
// a PrimFunc in their place (LegalizeOps).
bool tvms_interp_runs_operator(tvms_opcode opcode);

#endif
