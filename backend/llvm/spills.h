// Vector registers that wait on the stack, on x86.
#ifndef TVMS_BACKEND_LLVM_SPILLS_H
#define TVMS_BACKEND_LLVM_SPILLS_H

#include "support/base.h"

#include <llvm-c/TargetMachine.h>

// Has the stack aligned for the registers of functions that may need it. Comes behind all passes.
void tvms_llvm_align_stack(LLVMModuleRef module, LLVMTargetMachineRef machine);

#endif
