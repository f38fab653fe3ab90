// What a PrimFunc returns. Up to TVM 0.25 only T.ret says so, not the signature.
#ifndef TVMS_INTERP_RESULT_H
#define TVMS_INTERP_RESULT_H

#include "interp/interp.h"

// The type of what a PrimFunc returns: as declared, or else that of its first T.ret; void
// if it returns nothing.
tvms_dtype tvms_interp_result_dtype(tvms_memory *memory, const tvms_node *prim_func);

#endif
