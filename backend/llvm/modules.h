// The two modules that code goes to.
//
//   kernels   bodies: what takes time when it runs, compiled for that
//   around    entries, and functions that a library has once: compiled quickly
//
// Each becomes an object, and both are joined (backend/core/join.h). Where objects are not joined there is
// one module, and `around` is NULL.
#ifndef TVMS_BACKEND_LLVM_MODULES_H
#define TVMS_BACKEND_LLVM_MODULES_H

#include "backend/llvm/emit.h"

// The function of a name as the module in progress sees it; one that the other module has is
// declared. NULL if neither has it.
LLVMValueRef TVMS_NULLABLE tvms_emit_function_named(emitter *e, const char *name);

// The same for a variable.
LLVMValueRef TVMS_NULLABLE tvms_emit_variable_named(emitter *e, const char *name);

// A pointer that whoever loads a library may fill in, null otherwise. It is weak: programs that are linked of several
// objects have one.
LLVMValueRef tvms_emit_slot(emitter *e, const char *name);

// Code from here on goes to `around`. Returns the module in progress, for tvms_emit_go_back.
LLVMModuleRef tvms_emit_go_around(emitter *e);

// Code goes to `module` again.
void tvms_emit_go_back(emitter *e, LLVMModuleRef module);

// Nobody outside of the library needs the function or variable any more.
void tvms_emit_hide(emitter *e, LLVMValueRef value);

#endif
