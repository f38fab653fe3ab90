// How long a function is, and how much of it is in loops.
#ifndef TVMS_BACKEND_LLVM_STRAIGHT_H
#define TVMS_BACKEND_LLVM_STRAIGHT_H

#include "support/arena.h"

#include <llvm-c/Core.h>

// The number of instructions of a function; 0 if it has no body.
uint32_t tvms_llvm_size(LLVMValueRef function);

// How many of them are in blocks that control may come back to. Takes time in proportion to the function, and
// memory of `scratch`, which is the caller's to reset.
uint32_t tvms_llvm_size_in_loops(LLVMValueRef function, tvms_arena *scratch);

#endif
