// LLVM's passes over a module that was generated.
#ifndef TVMS_BACKEND_LLVM_OPTIMISE_H
#define TVMS_BACKEND_LLVM_OPTIMISE_H

#include "support/context.h"

#include <llvm-c/Error.h>
#include <llvm-c/TargetMachine.h>

// Optimises the functions of a module that passes LLVM's verifier, and prepares it for code
// generation at LLVM's default level. `vectors`: its loops are vector code already, for which a
// few passes do as well as all, in a fifth of the time. NULL, or an error that the caller consumes; the
// module is the caller's either way, and in the second case fit to be disposed of only.
TVMS_NODISCARD LLVMErrorRef tvms_llvm_optimise(LLVMModuleRef module,
                                               LLVMTargetMachineRef machine,
                                               bool vectors);

#endif
