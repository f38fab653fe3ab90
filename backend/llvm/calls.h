// Calls: operators of TIR as instructions, functions of C, functions of the module.
#ifndef TVMS_BACKEND_LLVM_CALLS_H
#define TVMS_BACKEND_LLVM_CALLS_H

#include "backend/llvm/emit.h"

// The value of a call of TIR; of one for its effect anything. Reports and leaves if there
// is no code for it.
LLVMValueRef tvms_emit_call(emitter *e, const tvms_call *call);

#endif
