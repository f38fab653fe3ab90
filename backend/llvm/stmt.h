// Statements: loops as blocks and phis, scopes with what they define.
#ifndef TVMS_BACKEND_LLVM_STMT_H
#define TVMS_BACKEND_LLVM_STMT_H

#include "backend/llvm/emit.h"

// Emits a statement at the end of the current block, or nothing if that has left already.
void tvms_emit_stmt(emitter *e, const tvms_node *node);

// Emits `count` steps of a loop without a step of its own, from step `first` on (both i64), one
// after another.
void tvms_emit_part(emitter *e, const tvms_for *loop, LLVMValueRef first,
                    LLVMValueRef count);

// A new block at the end of the function; code goes on where it does.
LLVMBasicBlockRef tvms_emit_block(emitter *e, const char *name);

// Goes on at the end of `block`.
void tvms_emit_enter(emitter *e, LLVMBasicBlockRef block);

// True if the current block has no end yet.
bool tvms_emit_is_open(emitter *e);

#endif
