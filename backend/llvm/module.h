// A whole module: declarations first, so that order does not matter, then bodies and
// entries.
#ifndef TVMS_BACKEND_LLVM_MODULE_H
#define TVMS_BACKEND_LLVM_MODULE_H

#include "backend/llvm/emit.h"

// Everything of a module. The caller disposes of it.
LLVMModuleRef tvms_emit_module(emitter *e);

#endif
