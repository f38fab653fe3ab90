// Errors of the compiled program: one block per check that frees, raises and returns.
#ifndef TVMS_BACKEND_LLVM_FAILURE_H
#define TVMS_BACKEND_LLVM_FAILURE_H

#include "backend/llvm/emit.h"

// Goes on if `condition` holds; else frees what lives, raises and returns -1.
void tvms_emit_check(emitter *e, LLVMValueRef condition, const failure *what);

// Code that frees what lives, raises the error and returns -1. It ends the block.
void tvms_emit_raise(emitter *e, const failure *what);

// The address of a constant text that ends in NUL.
LLVMValueRef tvms_emit_text(emitter *e, const char *text);

// The function of this name, declared weak where the module does not have it yet: a
// library loads without it.
LLVMValueRef tvms_emit_weak(emitter *e, const char *name, LLVMTypeRef type);

#endif
