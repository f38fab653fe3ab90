// Packed functions called by compiled code.
#ifndef TVMS_BACKEND_LLVM_PACKED_H
#define TVMS_BACKEND_LLVM_PACKED_H

#include "backend/llvm/emit.h"

// T.call_packed(name, …): its value is 0. A library asks whoever loaded it for the function;
// traced code goes through its tvms_raised. Reports and leaves for arguments without code,
// and in traced code for a name that nothing has.
LLVMValueRef tvms_emit_call_packed(emitter *e, const tvms_call *call);

#endif
