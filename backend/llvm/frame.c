// Where code goes, and memory in the frame.
//
// A loop would make what is allocated in it anew with each step, so memory is allocated in front of everything else.
#include "backend/llvm/frame.h"

emit_position tvms_emit_position(const emitter *e) {
  return (emit_position){LLVMGetInsertBlock(e->builder),
                         LLVMGetCurrentDebugLocation2(e->builder)};
}

// Beside an instruction the builder takes over its line.
void tvms_emit_go_on(emitter *e, emit_position at) {
  LLVMPositionBuilderAtEnd(e->builder, at.block);
  LLVMSetCurrentDebugLocation2(e->builder, at.line);
}

LLVMValueRef tvms_emit_alloca(emitter *e, LLVMTypeRef type, unsigned align) {
  emit_position here = tvms_emit_position(e);
  LLVMPositionBuilder(e->builder, e->entry, LLVMGetFirstInstruction(e->entry));
  LLVMValueRef place = LLVMBuildAlloca(e->builder, type, "");
  if (align) LLVMSetAlignment(place, align);
  tvms_emit_go_on(e, here);
  return place;
}

LLVMValueRef tvms_emit_words(emitter *e, uint64_t count) {
  return tvms_emit_alloca(e, LLVMArrayType2(e->i64, count), 8);
}
