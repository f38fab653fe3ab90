// Accesses of some lanes: LLVM's masked loads and stores, which machines without masks do lane by lane.
#include "backend/llvm/masked.h"

#include "backend/llvm/expr.h"
#include "backend/llvm/types.h"

bool tvms_emit_can_mask(tvms_dtype element) {
  if (element.code == TVMS_INT || element.code == TVMS_UINT) return element.bits >= 8;
  return element.code == TVMS_FLOAT && (element.bits == 32 || element.bits == 64);
}

// Are all lanes inside of one buffer of the frame? Those left out may be touched there, and LLVM keeps the
// buffer in registers.
static bool is_in_frame(tvms_dtype dtype, LLVMValueRef place) {
  if (!LLVMIsAGetElementPtrInst(place) || LLVMGetNumOperands(place) != 2) return false;
  LLVMValueRef frame = LLVMGetOperand(place, 0), index = LLVMGetOperand(place, 1);
  if (!LLVMIsAAllocaInst(frame) || !LLVMIsAConstantInt(index)) return false;
  int64_t first = LLVMConstIntGetSExtValue(index);
  uint64_t end = ((uint64_t)first + (uint64_t)dtype.lanes) * (dtype.bits / 8u);
  return first >= 0 && end <= LLVMGetArrayLength2(LLVMGetAllocatedType(frame));
}

static LLVMValueRef alignment(emitter *e, tvms_dtype dtype) {
  return LLVMConstInt(e->i32, dtype.bits / 8u, false);
}

static LLVMValueRef call(emitter *e, const char *name, LLVMTypeRef type,
                         LLVMTypeRef places, LLVMValueRef *args) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMTypeRef types[] = {type, places};
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(e->module, id, types, 2);
  LLVMTypeRef of = LLVMIntrinsicGetType(e->llvm, id, types, 2);
  return LLVMBuildCall2(e->builder, of, function, args, 4, "");
}

LLVMValueRef tvms_emit_load_masked(emitter *e, tvms_dtype dtype, LLVMValueRef place,
                                   LLVMValueRef mask, tvms_span span) {
  LLVMTypeRef type = tvms_emit_type(e, dtype, span);
  LLVMValueRef zero = LLVMConstNull(type);
  if (is_in_frame(dtype, place)) {
    LLVMValueRef all = tvms_emit_load(e, dtype, place, span);
    return LLVMBuildSelect(e->builder, mask, all, zero, "");
  }
  LLVMValueRef args[] = {place, alignment(e, dtype), mask, zero};
  return call(e, "llvm.masked.load", type, e->pointer, args);
}

LLVMValueRef tvms_emit_load_gathered(emitter *e, tvms_dtype dtype, LLVMValueRef places,
                                     LLVMValueRef mask, tvms_span span) {
  LLVMTypeRef type = tvms_emit_type(e, dtype, span);
  LLVMValueRef args[] = {places, alignment(e, dtype), mask, LLVMConstNull(type)};
  return call(e, "llvm.masked.gather", type, LLVMTypeOf(places), args);
}

void tvms_emit_store_masked(emitter *e, tvms_dtype dtype, LLVMValueRef value,
                            LLVMValueRef place, LLVMValueRef mask, tvms_span span) {
  LLVMTypeRef type = tvms_emit_type(e, dtype, span);
  if (is_in_frame(dtype, place)) {
    LLVMValueRef before = tvms_emit_load(e, dtype, place, span);
    LLVMValueRef made = LLVMBuildSelect(e->builder, mask, value, before, "");
    tvms_emit_store(e, dtype, made, place, span);
    return;
  }
  LLVMValueRef args[] = {value, place, alignment(e, dtype), mask};
  call(e, "llvm.masked.store", type, e->pointer, args);
}
