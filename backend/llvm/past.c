// Stores with the metadata !nontemporal. Processors have such instructions for whole vectors at places that are multiples of
// their size; other places get what they always do.
#include "backend/llvm/past.h"

#include "backend/llvm/stmt.h"
#include "backend/llvm/types.h"

// Bytes of a vector in memory, if instructions of that kind store it; 0: they do not.
static unsigned bytes_past(tvms_dtype dtype) {
  unsigned bits = dtype.bits * (unsigned)dtype.lanes;
  bool whole = dtype.code != TVMS_BOOL && dtype.bits >= 8;
  return whole && (bits == 128 || bits == 256 || bits == 512) ? bits / 8 : 0;
}

static void store_past(emitter *e, tvms_dtype dtype, LLVMValueRef value,
                       LLVMValueRef place, unsigned bytes, tvms_span span) {
  LLVMValueRef stored = tvms_emit_store(e, dtype, value, place, span);
  LLVMMetadataRef one = LLVMValueAsMetadata(LLVMConstInt(e->i32, 1, false));
  LLVMMetadataRef node = LLVMMDNodeInContext2(e->llvm, &one, 1);
  unsigned kind = LLVMGetMDKindIDInContext(e->llvm, "nontemporal", 11);
  LLVMSetMetadata(stored, kind, LLVMMetadataAsValue(e->llvm, node));
  LLVMSetAlignment(stored, bytes);
}

// Keeps LLVM from making one store of those in two branches, which would be a plain one.
static void stay_apart(emitter *e) {
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->llvm), NULL, 0, false);
  LLVMValueRef nothing =
      LLVMGetInlineAsm(type, "", 0, "", 0, true, false, LLVMInlineAsmDialectATT, false);
  LLVMBuildCall2(e->builder, type, nothing, NULL, 0, "");
}

void tvms_emit_store_vector(emitter *e, tvms_dtype dtype, LLVMValueRef value,
                            LLVMValueRef place, LLVMValueRef data, tvms_span span) {
  unsigned bytes = e->past ? bytes_past(dtype) : 0;
  if (!bytes || LLVMIsAAllocaInst(data)) {
    tvms_emit_store(e, dtype, value, place, span);
    return;
  }
  e->stores |= STORES_PAST;
  LLVMBuilderRef b = e->builder;
  LLVMTypeRef word = e->pointer_bytes == 8 ? e->i64 : e->i32;
  LLVMValueRef at = LLVMBuildPtrToInt(b, place, word, "");
  at = LLVMBuildAnd(b, at, LLVMConstInt(word, bytes - 1, false), "");
  LLVMBasicBlockRef past = tvms_emit_block(e, "past"),
                    plain = tvms_emit_block(e, "plain");
  LLVMBasicBlockRef stored = tvms_emit_block(e, "stored");
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, at, LLVMConstNull(word), ""), past,
                  plain);
  tvms_emit_enter(e, past);
  store_past(e, dtype, value, place, bytes, span);
  LLVMBuildBr(b, stored);
  tvms_emit_enter(e, plain);
  tvms_emit_store(e, dtype, value, place, span);
  stay_apart(e);
  LLVMBuildBr(b, stored);
  tvms_emit_enter(e, stored);
}

void tvms_emit_order_stores(emitter *e) {
  if (e->stores & STORES_PAST)
    LLVMBuildFence(e->builder, LLVMAtomicOrderingSequentiallyConsistent, false, "");
}
