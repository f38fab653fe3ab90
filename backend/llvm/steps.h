// Steps of an entry as LLVM values, and the function that walks a list of them.
#ifndef TVMS_BACKEND_LLVM_STEPS_H
#define TVMS_BACKEND_LLVM_STEPS_H

#include "backend/core/entry.h"
#include "backend/llvm/emit.h"

// Emits steps up to the call of the body; values[i] is that of step i: i64, i1 or a pointer,
// NULL for a check. If a check fails, the code goes to `failed`, at some later point.
void tvms_emit_steps(emitter *e, const tvms_entry *entry, LLVMValueRef *values,
                     LLVMBasicBlockRef failed);

// Emits the end of the function in progress for calls that a check refuses: the first check
// that fails is found and raised, -1 returned.
void tvms_emit_refusal(emitter *e, const tvms_entry *entry);

// Emits the function that finds what is wrong, for the kinds of steps that the entries of the
// module have; it comes after them.
void tvms_emit_walker(emitter *e);

#endif
