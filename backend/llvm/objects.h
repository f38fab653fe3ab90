// Functions that a module has once: making and freeing objects of tvm-ffi, and the workspace that
// it keeps between calls.
#ifndef TVMS_BACKEND_LLVM_OBJECTS_H
#define TVMS_BACKEND_LLVM_OBJECTS_H

#include "backend/llvm/emit.h"

// Code that makes an object with one reference, of `bytes` with its head, or gives null.
LLVMValueRef tvms_emit_new_object(emitter *e, LLVMValueRef bytes, int kind);

// Code that frees the block of an object which nobody else has.
void tvms_emit_free_object(emitter *e, LLVMValueRef object);

// Code that takes the workspace of the library if it is free and large enough, or makes one;
// it gives null if there is no memory.
LLVMValueRef tvms_emit_take_workspace(emitter *e, LLVMValueRef bytes);

// Code that lets the library keep a workspace for the next call.
void tvms_emit_give_workspace(emitter *e, LLVMValueRef workspace);

#endif
