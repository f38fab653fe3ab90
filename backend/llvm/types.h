// Types, and elements on their way between memory and registers.
#ifndef TVMS_BACKEND_LLVM_TYPES_H
#define TVMS_BACKEND_LLVM_TYPES_H

#include "backend/llvm/emit.h"

// The type of values in registers: i1 for bool, float32 for floats of 16 and 8 bits, which
// are rounded after each operation. Reports and leaves for a type without code.
LLVMTypeRef tvms_emit_type(emitter *e, tvms_dtype dtype, tvms_span span);

// The type of values in memory: a byte for bool, integers for floats of 16 and 8 bits.
LLVMTypeRef tvms_emit_memory_type(emitter *e, tvms_dtype dtype, tvms_span span);

// An integer of type `type`; of a vector in every lane.
LLVMValueRef tvms_emit_constant(emitter *e, LLVMTypeRef type, int64_t value);

// The value at an address, in its register form. It is aligned as one element.
LLVMValueRef tvms_emit_load(emitter *e, tvms_dtype dtype, LLVMValueRef at,
                            tvms_span span);

// Writes a value in its register form to an address; gives LLVM's instruction.
LLVMValueRef tvms_emit_store(emitter *e, tvms_dtype dtype, LLVMValueRef value,
                             LLVMValueRef at, tvms_span span);

// A float32 register as the float16 that a function of C takes.
LLVMValueRef tvms_emit_half_of_c(emitter *e, LLVMValueRef value);

// What such a function gave as a float32 register.
LLVMValueRef tvms_emit_from_half_of_c(emitter *e, LLVMValueRef half);

// Rounds a float32 register to a narrower float kind; other kinds pass through.
LLVMValueRef tvms_emit_round(emitter *e, tvms_dtype dtype, LLVMValueRef value);

// Converts between types in their register forms, as tvms_scalar_convert does.
LLVMValueRef tvms_emit_convert(emitter *e, tvms_dtype from, tvms_dtype to,
                               LLVMValueRef value, tvms_span span);

#endif
