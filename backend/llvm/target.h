// The machine that code is made for.
#ifndef TVMS_BACKEND_LLVM_TARGET_H
#define TVMS_BACKEND_LLVM_TARGET_H

#include "backend/backend.h"

#include <llvm-c/TargetMachine.h>

// Checks the triple, processor and features of the options before LLVM sees them. False
// and a sentence in `why`, with near names, if code cannot be made for them.
TVMS_NODISCARD bool tvms_llvm_check_target(const tvms_native_options *options,
                                           tvms_strbuf *why);

// The machine of options that were checked; what they leave open is this machine's, or
// generic for a triple. Code that `orders` gains from a second order of its instructions. NULL and a
// text for LLVMDisposeMessage in `why` if LLVM has none. The caller closes it with the same arguments.
LLVMTargetMachineRef TVMS_NULLABLE
tvms_llvm_open_machine(const tvms_native_options *options, bool orders, char **why);

// A machine of the host stays for the next that opens it, in any thread; others are freed.
void tvms_llvm_close_machine(const tvms_native_options *options, bool orders,
                             LLVMTargetMachineRef machine);

// A machine for code that needs neither vectors nor speed, and is made in a third of the time; functions
// with attributes for a processor are compiled for that. NULL for a triple whose objects are not joined.
LLVMTargetMachineRef TVMS_NULLABLE tvms_llvm_open_quick_machine(const char *triple);

// True if a machine for this triple may lack instructions that convert float16.
bool tvms_llvm_lacks_half(const char *triple, LLVMTargetMachineRef machine);

#endif
