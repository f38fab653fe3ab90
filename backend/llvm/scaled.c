// Products by powers of two, in registers of 512 bits.
#include "backend/llvm/scaled.h"

#include "backend/llvm/expr.h"

#include <string.h>

LLVMValueRef TVMS_NULLABLE tvms_emit_scaled(emitter *e, const tvms_node *node) {
  enum {
    REGISTER = 512,
    AS_CONTROLLED = 4
  };  // the rounding that the processor is set to
  tvms_scaled scaled;
  tvms_dtype dtype = node->dtype;
  if (node->kind != TVMS_NODE_MUL || dtype.bits * dtype.lanes != REGISTER
      || !tvms_target_has_scaling(e->context, e->options->target)
      || !tvms_scaled_read(e->bindings, node, &scaled))
    return NULL;
  const char *name = dtype.bits == 64 ? "llvm.x86.avx512.mask.scalef.pd.512"
                                      : "llvm.x86.avx512.mask.scalef.ps.512";
  LLVMValueRef p = tvms_emit_expr(e, scaled.factor);
  LLVMValueRef t = tvms_emit_expr(e, scaled.shifted);
  LLVMTypeRef type = LLVMTypeOf(p), element = LLVMGetElementType(type);
  unsigned lanes = LLVMGetVectorSize(type);
  LLVMValueRef rounder =
      tvms_emit_splat(e, LLVMConstReal(element, scaled.rounder), lanes);
  LLVMTypeRef mask = LLVMIntTypeInContext(e->llvm, lanes);
  LLVMValueRef args[] = {p, LLVMBuildFSub(e->builder, t, rounder, ""),
                         LLVMGetUndef(type), LLVMConstAllOnes(mask),
                         LLVMConstInt(e->i32, AS_CONTROLLED, false)};
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(e->module, id, NULL, 0);
  LLVMTypeRef form = LLVMIntrinsicGetType(e->llvm, id, NULL, 0);
  return LLVMBuildCall2(e->builder, form, function, args, 5, "");
}
