// Tensors of fixed sizes among the arguments of an entry, checked by a loop.
#ifndef TVMS_BACKEND_LLVM_FIXED_H
#define TVMS_BACKEND_LLVM_FIXED_H

#include "backend/core/entry.h"
#include "backend/llvm/emit.h"

// Has the entry so many that a loop is better than their steps one after the other?
bool tvms_emit_has_many_fixed(const tvms_entry *entry);

// Emits the check of all of them, behind the entry's other steps. Sets the values of those that are their data. If
// a check fails, the code goes to `failed`.
void tvms_emit_fixed(emitter *e, const tvms_entry *entry, LLVMValueRef *values,
                     LLVMBasicBlockRef failed);

#endif
