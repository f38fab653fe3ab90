// Names of the symbols of compiled code.
#ifndef TVMS_BACKEND_LLVM_SYMBOLS_H
#define TVMS_BACKEND_LLVM_SYMBOLS_H

#include "backend/llvm/emit.h"

// The symbol of the body of a PrimFunc, which nothing outside of the code sees: no name of
// Python has a dot. Like the next one it lives until the scratch arena is reset.
const char *tvms_emit_body_name(emitter *e, const tvms_member *member);

// The symbol of its entry, by which TVM's run time finds it.
const char *tvms_emit_entry_name(emitter *e, const tvms_member *member);

#endif
