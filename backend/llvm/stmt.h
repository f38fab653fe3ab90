// Statements: loops as blocks and phis, scopes with what they define.
#ifndef TVMS_BACKEND_LLVM_STMT_H
#define TVMS_BACKEND_LLVM_STMT_H

#include "backend/llvm/emit.h"

void tvms_emit_stmt(emitter *e, const tvms_node *node);

// A new block after the current one, and moving there.
LLVMBasicBlockRef tvms_emit_block(emitter *e, const char *name);
void tvms_emit_enter(emitter *e, LLVMBasicBlockRef block);
bool tvms_emit_is_open(emitter *e);

#endif
