// The body of a PrimFunc as a function of plain pointers and numbers.
#ifndef TVMS_BACKEND_LLVM_BODY_H
#define TVMS_BACKEND_LLVM_BODY_H

#include "backend/llvm/emit.h"

// Code for the body of a PrimFunc, declared before as NAME.body. What cannot be
// compiled is reported, and left by a jump.
void tvms_emit_body(emitter *e, const tvms_member *member);

// Adds the variables that the shapes, strides and offsets of the buffers mention and
// that are not parameters, each once. The caller frees the list.
void tvms_emit_collect_sizes(emitter *e, const tvms_prim_func *function,
                             size_vars *sizes);

// The type of the body: pointers to the error and the result, the parameters, then
// `sizes`; it returns 0, or -1 after an error.
LLVMTypeRef tvms_emit_body_type(emitter *e, const tvms_prim_func *function,
                                const size_vars *sizes);

#endif
