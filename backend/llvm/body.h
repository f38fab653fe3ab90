// The body of a PrimFunc as a function of plain pointers and numbers.
#ifndef TVMS_BACKEND_LLVM_BODY_H
#define TVMS_BACKEND_LLVM_BODY_H

#include "backend/llvm/emit.h"

// Emits the body of a member, which is declared already.
void tvms_emit_body(emitter *e, const tvms_member *member);

// Appends the variables that the body of a function takes beside its parameters; the caller
// frees them.
void tvms_emit_collect_sizes(emitter *e, const tvms_prim_func *function,
                             size_vars *sizes);

// The type of the body: i32 (self, result, parameters, sizes).
LLVMTypeRef tvms_emit_body_type(emitter *e, const tvms_prim_func *function,
                                const size_vars *sizes);

#endif
