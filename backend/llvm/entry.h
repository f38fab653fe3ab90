// The entry of a PrimFunc: TVM's calling convention, with TVM's checks in TVM's words.
#ifndef TVMS_BACKEND_LLVM_ENTRY_H
#define TVMS_BACKEND_LLVM_ENTRY_H

#include "backend/llvm/emit.h"

// Code for the entry of a PrimFunc, __tvm_ffi_NAME: it checks the packed arguments in
// TVM's words and calls the body.
void tvms_emit_entry(emitter *e, const tvms_member *member);

#endif
