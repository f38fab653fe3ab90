// Indices in two parts: what varies, and a number that becomes an offset of the address.
#ifndef TVMS_BACKEND_LLVM_INDEX_H
#define TVMS_BACKEND_LLVM_INDEX_H

#include "backend/llvm/emit.h"

// An index of 64 bits.
LLVMValueRef tvms_emit_index(emitter *e, const tvms_node *node);

// An index of 64 bits without the number that is added to it, which is added to `more`. NULL if nothing
// else is left. The index must be that of an element: its arithmetic does not overflow.
LLVMValueRef TVMS_NULLABLE tvms_emit_index_parts(emitter *e, const tvms_node *node,
                                                 int64_t *more);

#endif
