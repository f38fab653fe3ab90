// Inlining of PrimFuncs into PrimFuncs.
#ifndef TVMS_PASSES_TIR_SIMPLIFY_INLINE_PRIM_FUNCS_H
#define TVMS_PASSES_TIR_SIMPLIFY_INLINE_PRIM_FUNCS_H

#include "passes/functions.h"

// Puts the bodies of private PrimFuncs in the place of the statements that call them, and
// removes those that nobody calls any more. Functions that take buffers, have blocks, call
// themselves or are called inside of an expression stay
// (TVM: tirx.transform.InlinePrivateFunctions).
void tvms_functions_inline_prim_funcs(tvms_pass_run *run);

#endif
