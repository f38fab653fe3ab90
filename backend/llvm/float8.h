// Floats of 8 bits: code that makes their bits of a float32, and a float32 of their bits.
#ifndef TVMS_BACKEND_LLVM_FLOAT8_H
#define TVMS_BACKEND_LLVM_FLOAT8_H

#include "backend/llvm/emit.h"
#include "runtime/small_float.h"

// The bits (i8, or a vector of it) of a float32 (or vector): those of tvms_small_float_encode.
LLVMValueRef tvms_emit_float8_bits(emitter *e, const tvms_small_float *kind,
                                   LLVMValueRef value);

// The float32 that bits stand for: tvms_small_float_decode.
LLVMValueRef tvms_emit_float8_value(emitter *e, const tvms_small_float *kind,
                                    LLVMValueRef bits);

#endif
