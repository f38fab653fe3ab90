// Where code goes, and memory in the frame of the function in progress.
#ifndef TVMS_BACKEND_LLVM_FRAME_H
#define TVMS_BACKEND_LLVM_FRAME_H

#include "backend/llvm/emit.h"

// The end of a block, and the line that code there has.
typedef struct {
  LLVMBasicBlockRef block;
  LLVMMetadataRef TVMS_NULLABLE line;
} emit_position;

// Where code goes now: for code elsewhere, to come back from there.
emit_position tvms_emit_position(const emitter *e);

// Code goes on there.
void tvms_emit_go_on(emitter *e, emit_position at);

// Memory for one value of the type, made once, where the function begins; `align` is in bytes, 0 that of the type.
// Code goes on where it does.
LLVMValueRef tvms_emit_alloca(emitter *e, LLVMTypeRef type, unsigned align);

// The same for so many words of 64 bits.
LLVMValueRef tvms_emit_words(emitter *e, uint64_t count);

#endif
