// Memory that a library keeps between calls: for the workspace of one call, and for what functions
// allocate that nobody plans.
#ifndef TVMS_BACKEND_LLVM_KEPT_H
#define TVMS_BACKEND_LLVM_KEPT_H

#include "backend/llvm/emit.h"

typedef enum { TVMS_KEPT_WORKSPACE, TVMS_KEPT_SCRATCH } tvms_kept;

// Code that takes kept memory that is free and large enough, or makes some; it gives null if there
// is no memory.
LLVMValueRef tvms_emit_take(emitter *e, tvms_kept kind, LLVMValueRef bytes);

// Code that lets the library keep memory for others.
void tvms_emit_give(emitter *e, tvms_kept kind, LLVMValueRef memory);

// Has the memory freed when the library is unloaded. Behind all other code of the module.
void tvms_emit_kept_end(emitter *e);

#endif
