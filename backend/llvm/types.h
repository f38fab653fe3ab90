// Types, and elements on their way between memory and registers.
#ifndef TVMS_BACKEND_LLVM_TYPES_H
#define TVMS_BACKEND_LLVM_TYPES_H

#include "backend/llvm/emit.h"

// Types of values in registers and in memory. Floats narrower than 32 bits are computed as
// float32 and rounded after each step.
LLVMTypeRef tvms_emit_type(emitter *e, tvms_dtype dtype, tvms_span span);

// The type of one element in memory; reports at `span` where there is none.
LLVMTypeRef tvms_emit_memory_type(emitter *e, tvms_dtype dtype, tvms_span span);

// One element of memory; `dtype` scalar. Conversion to and from the register form.
LLVMValueRef tvms_emit_load(emitter *e, tvms_dtype dtype, LLVMValueRef at,
                            tvms_span span);

// Writes one element of memory from its register form.
void tvms_emit_store(emitter *e, tvms_dtype dtype, LLVMValueRef value, LLVMValueRef at,
                     tvms_span span);

// Rounds a float32 register to a narrower float kind; other kinds pass through.
LLVMValueRef tvms_emit_round(emitter *e, tvms_dtype dtype, LLVMValueRef value);

// A value converted as T.Cast does: floats to integers truncate and saturate, narrow
// floats are rounded.
LLVMValueRef tvms_emit_convert(emitter *e, tvms_dtype from, tvms_dtype to,
                               LLVMValueRef value, tvms_span span);

#endif
