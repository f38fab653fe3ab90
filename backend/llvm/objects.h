// Functions that a module has once: making and freeing objects of tvm-ffi.
#ifndef TVMS_BACKEND_LLVM_OBJECTS_H
#define TVMS_BACKEND_LLVM_OBJECTS_H

#include "backend/llvm/emit.h"

// Code that makes an object with one reference, of `bytes` with its head, or gives null.
LLVMValueRef tvms_emit_new_object(emitter *e, LLVMValueRef bytes, int kind);

// The same for a tensor with its elements. The library keeps the memory of a large one when it is dropped
// (backend/llvm/kept.h).
LLVMValueRef tvms_emit_new_tensor(emitter *e, LLVMValueRef bytes);

// Code that takes a reference of an object away.
void tvms_emit_drop_object(emitter *e, LLVMValueRef object);

// Code that frees the block of an object which nobody else has.
void tvms_emit_free_object(emitter *e, LLVMValueRef object);

#endif
