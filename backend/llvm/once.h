// Arithmetic of places in memory, done once in each block, and in front of loops where that can be.
#ifndef TVMS_BACKEND_LLVM_ONCE_H
#define TVMS_BACKEND_LLVM_ONCE_H

#include "backend/llvm/emit.h"

// Of integers, whose sums, differences and products do not overflow.
typedef enum {
  TVMS_ONCE_ADD,
  TVMS_ONCE_SUB,
  TVMS_ONCE_MUL,
  TVMS_ONCE_MIN,  // signed, as all that follows
  TVMS_ONCE_MAX,
  TVMS_ONCE_SHIFT,  // to the right: a quotient by a power of two that is rounded down
  TVMS_ONCE_AND,    // and what is left over of it
} tvms_once;

// The result of `op` on integers or vectors of them.
LLVMValueRef tvms_emit_once(emitter *e, tvms_once op, LLVMValueRef a, LLVMValueRef b);

// An integer as one of another type.
LLVMValueRef tvms_emit_once_cast(emitter *e, LLVMValueRef value, LLVMTypeRef type,
                                 bool is_signed);

// The address of the element `index` from `base` on; `inside`: of the memory that `base` is in.
LLVMValueRef tvms_emit_once_place(emitter *e, LLVMTypeRef element, LLVMValueRef base,
                                  LLVMValueRef index, bool inside);

// How many of the loops in progress, from the innermost one on, the value comes from the outside of.
uint32_t tvms_emit_once_outside(const emitter *e, LLVMValueRef value);

#endif
