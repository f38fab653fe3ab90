// A whole module: declarations first, so that order does not matter, then bodies, at last
// entries.
#ifndef TVMS_BACKEND_LLVM_MODULE_H
#define TVMS_BACKEND_LLVM_MODULE_H

#include "backend/llvm/emit.h"

// Declares everything of a module and emits the bodies, which are visible from outside until
// the entries are emitted.
void tvms_emit_module(emitter *e);

// Emits the entries beside the bodies, which may have been optimised.
void tvms_emit_entries(emitter *e);

#endif
