// Accesses of some lanes of a vector.
#ifndef TVMS_BACKEND_LLVM_MASKED_H
#define TVMS_BACKEND_LLVM_MASKED_H

#include "backend/llvm/emit.h"

// Has an element the same type in memory as in registers? Only such lanes are masked.
bool tvms_emit_can_mask(tvms_dtype element);

// Lanes side by side from `place` on: those that are false in `mask` (a vector of i1) are 0 and are not touched.
LLVMValueRef tvms_emit_load_masked(emitter *e, tvms_dtype dtype, LLVMValueRef place,
                                   LLVMValueRef mask, tvms_span span);

// Lanes from a vector of places, of which those that are false in `mask` are 0 and are not touched.
LLVMValueRef tvms_emit_load_gathered(emitter *e, tvms_dtype dtype, LLVMValueRef places,
                                     LLVMValueRef mask, tvms_span span);

// Writes the lanes of `value` that are true in `mask`.
void tvms_emit_store_masked(emitter *e, tvms_dtype dtype, LLVMValueRef value,
                            LLVMValueRef place, LLVMValueRef mask, tvms_span span);

#endif
