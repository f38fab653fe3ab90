// Products by powers of two (backend/core/scaled.h) of whole registers of x86: vscalef.
#ifndef TVMS_BACKEND_LLVM_SCALED_H
#define TVMS_BACKEND_LLVM_SCALED_H

#include "backend/llvm/emit.h"

// The product, if it is one that the target makes in one step; NULL: it is not.
LLVMValueRef TVMS_NULLABLE tvms_emit_scaled(emitter *e, const tvms_node *node);

#endif
