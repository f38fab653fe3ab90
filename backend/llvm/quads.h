// Sums of four products of bytes (ir/quad.h) by the instruction that the processor has for them.
#ifndef TVMS_BACKEND_LLVM_QUADS_H
#define TVMS_BACKEND_LLVM_QUADS_H

#include "backend/llvm/emit.h"

// The value of a vector of up to 16 lanes that is such a sum; NULL: it is none, or the processor has no instruction.
LLVMValueRef TVMS_NULLABLE tvms_emit_quad(emitter *e, const tvms_node *node);

#endif
