// The entry of a PrimFunc: TVM's calling convention, with TVM's checks in TVM's words.
#ifndef TVMS_BACKEND_LLVM_ENTRY_H
#define TVMS_BACKEND_LLVM_ENTRY_H

#include "backend/llvm/emit.h"

// Emits the entry of a member, which checks the arguments and calls its body.
void tvms_emit_entry(emitter *e, const tvms_member *member);

#endif
