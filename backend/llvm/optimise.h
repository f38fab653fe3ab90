// LLVM's passes over a module that was generated.
#ifndef TVMS_BACKEND_LLVM_OPTIMISE_H
#define TVMS_BACKEND_LLVM_OPTIMISE_H

#include "support/context.h"

#include <llvm-c/Error.h>
#include <llvm-c/TargetMachine.h>

// Says of a function what it stores (STORES_ in backend/llvm/emit.h). One of which nothing is
// said, or that stores nothing, gets what the others get; one that does nothing but start parallel loops
// is compiled the fast way.
void tvms_llvm_mark_code(LLVMValueRef function, uint16_t stores);

// Marks a function that LLVM's passes leave as it is and the fast code generator makes: straight-line
// code that is checked, not computed with, or that only runs when something failed.
void tvms_llvm_make_fast(LLVMValueRef function);

// Is there a function that does more than keep sums in registers? Long rows of shuffles and polynomials, and
// loads between stores, are a few percent faster where instructions are ordered twice.
bool tvms_llvm_gains_from_order(LLVMModuleRef module);

// Optimises the functions of a module that passes LLVM's verifier, each as its code needs it, and
// prepares it for code generation. Long functions that hardly have loops move to the module `fast`, where
// everything is made by the fast code generator; NULL: there is none. Returns NULL, or an error that the caller
// consumes; the module is the caller's either way, and in the second case fit to be disposed of
// only.
TVMS_NODISCARD LLVMErrorRef tvms_llvm_optimise(LLVMModuleRef module,
                                               LLVMModuleRef TVMS_NULLABLE fast,
                                               tvms_arena *scratch,
                                               LLVMTargetMachineRef machine);

#endif
