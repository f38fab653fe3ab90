// Division of integers.
#ifndef TVMS_BACKEND_LLVM_DIVISION_H
#define TVMS_BACKEND_LLVM_DIVISION_H

#include "backend/llvm/emit.h"

// A quotient or remainder of integers, a node of DIV, MOD, FLOOR_DIV or FLOOR_MOD with the values of its operands; a
// divisor of 0 is a failure, the least number by -1 wraps.
LLVMValueRef tvms_emit_division(emitter *e, const tvms_node *node, LLVMValueRef a,
                                LLVMValueRef b);

#endif
