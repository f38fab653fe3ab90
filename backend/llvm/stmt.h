// Statements: loops as blocks and phis, scopes with what they define.
#ifndef TVMS_BACKEND_LLVM_STMT_H
#define TVMS_BACKEND_LLVM_STMT_H

#include "backend/llvm/emit.h"

// Code for a statement of TIR. What cannot be compiled is reported, and left by a
// jump.
void tvms_emit_stmt(emitter *e, const tvms_node *node);

// A new block after the current one, and moving there.
LLVMBasicBlockRef tvms_emit_block(emitter *e, const char *name);

// Goes on in `block`.
void tvms_emit_enter(emitter *e, LLVMBasicBlockRef block);

// True if the block that is written has no end yet.
bool tvms_emit_is_open(emitter *e);

#endif
