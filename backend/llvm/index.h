// Indices in two parts: what varies, and a number that becomes an offset of the address.
#ifndef TVMS_BACKEND_LLVM_INDEX_H
#define TVMS_BACKEND_LLVM_INDEX_H

#include "backend/llvm/emit.h"

// Adds number * by to the number of an index. What no buffer can have as an index may wrap.
static inline void tvms_emit_index_add(int64_t *sum, int64_t number, int64_t by) {
  *sum = (int64_t)((uint64_t)*sum + (uint64_t)number * (uint64_t)by);
}

// An index of 64 bits.
LLVMValueRef tvms_emit_index(emitter *e, const tvms_node *node);

// An index of 64 bits without the number that is added to it, which is added to `more`. NULL if nothing
// else is left. The index must be that of an element: its arithmetic does not overflow.
LLVMValueRef TVMS_NULLABLE tvms_emit_index_parts(emitter *e, const tvms_node *node,
                                                 int64_t *more);

#endif
