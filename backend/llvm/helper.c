// Functions that a module has once: what they are made of.
#include "backend/llvm/helper.h"

#include "backend/llvm/expr.h"
#include "backend/llvm/failure.h"
#include "backend/llvm/frame.h"
#include "backend/llvm/modules.h"

LLVMBasicBlockRef tvms_helper_block(emitter *e, const tvms_helper *h,
                                    const char *name) {
  return LLVMAppendBasicBlockInContext(e->llvm, h->function, name);
}

void tvms_helper_enter(emitter *e, LLVMBasicBlockRef to) {
  LLVMPositionBuilderAtEnd(e->builder, to);
}

bool tvms_helper_begin(emitter *e, tvms_helper *h, const char *name, LLVMTypeRef type) {
  h->function = tvms_emit_function_named(e, name);
  if (h->function) return false;
  h->module = tvms_emit_go_around(e);
  h->function = LLVMAddFunction(e->module, name, type);
  LLVMSetLinkage(h->function, LLVMPrivateLinkage);
  h->here = tvms_emit_position(e);
  LLVMSetCurrentDebugLocation2(e->builder, NULL);
  tvms_helper_enter(e, tvms_helper_block(e, h, "entry"));
  return true;
}

void tvms_helper_end(emitter *e, tvms_helper *h) {
  size_t len;
  tvms_emit_go_back(e, h->module);
  h->function = tvms_emit_function_named(e, LLVMGetValueName2(h->function, &len));
  tvms_emit_go_on(e, h->here);
}

LLVMValueRef tvms_helper_direct(emitter *e, const char *name, LLVMTypeRef type) {
  LLVMValueRef function = LLVMGetNamedFunction(e->module, name);
  if (function) return function;
  function = LLVMAddFunction(e->module, name, type);
  LLVMSetVisibility(function, LLVMHiddenVisibility);
  return function;
}

bool tvms_helper_is_used(const emitter *e, const char *name) {
  return LLVMGetNamedFunction(e->kernels, name)
         || LLVMGetNamedFunction(e->module, name);
}

LLVMValueRef tvms_helper_place(emitter *e, LLVMValueRef base, LLVMValueRef offset) {
  return LLVMBuildGEP2(e->builder, e->i8, base, &offset, 1, "");
}

LLVMValueRef tvms_helper_at(emitter *e, LLVMValueRef base, int64_t offset) {
  return tvms_helper_place(e, base, tvms_emit_int(e, offset));
}

LLVMValueRef tvms_helper_field(emitter *e, LLVMValueRef base, tvms_layout_field field) {
  return tvms_helper_at(e, base, tvms_layout_offset(field, e->pointer_bytes));
}

LLVMValueRef tvms_helper_word(emitter *e, LLVMValueRef pointer) {
  // Where it fills the word it needs no conversion.
  if (e->pointer_bytes == 8) return pointer;
  return LLVMBuildPtrToInt(e->builder, pointer, e->i64, "");
}

void tvms_helper_free(emitter *e, LLVMValueRef block) {
  LLVMTypeRef nothing = LLVMVoidTypeInContext(e->llvm);
  LLVMTypeRef type = LLVMFunctionType(nothing, &e->pointer, 1, false);
  LLVMBuildCall2(e->builder, type, tvms_emit_weak(e, "free", type), &block, 1, "");
}

LLVMValueRef tvms_helper_alloc(emitter *e, LLVMValueRef bytes) {
  LLVMTypeRef word = e->pointer_bytes == 8 ? e->i64 : e->i32, params[] = {word, word};
  LLVMTypeRef type = LLVMFunctionType(e->pointer, params, 2, false);
  LLVMValueRef align = LLVMConstInt(word, TVMS_MEMORY_ALIGN, false);
  LLVMValueRef rest = tvms_emit_int(e, TVMS_MEMORY_ALIGN - 1);
  LLVMValueRef more = LLVMBuildAdd(e->builder, bytes, rest, "");
  LLVMValueRef size =
      LLVMBuildAnd(e->builder, more, tvms_emit_int(e, -TVMS_MEMORY_ALIGN), "");
  LLVMValueRef args[] = {align, LLVMBuildIntCast2(e->builder, size, word, false, "")};
  return LLVMBuildCall2(e->builder, type, tvms_emit_weak(e, "aligned_alloc", type),
                        args, 2, "");
}
