// Four products of bytes in each lane: vpdpbusd of x86, in registers of 128, 256 or 512 bits.
//
// LLVM finds the instruction in loops over bytes, not in the text that ir/quad.h describes.
#include "backend/llvm/quads.h"

#include "backend/llvm/expr.h"
#include "ir/quad.h"

#include <stdio.h>

enum { FEWEST_LANES = 4, MOST_LANES = 16 };

// The first lanes of a vector as one of `lanes` lanes; those behind its end are of no account.
static LLVMValueRef lanes_of(emitter *e, LLVMValueRef vector, uint32_t lanes) {
  uint32_t has = LLVMGetVectorSize(LLVMTypeOf(vector));
  if (has == lanes) return vector;
  LLVMValueRef mask[MOST_LANES];
  for (uint32_t i = 0; i < lanes; i++)
    mask[i] = i < has ? LLVMConstInt(e->i32, i, false) : LLVMGetUndef(e->i32);
  return LLVMBuildShuffleVector(e->builder, vector, LLVMGetUndef(LLVMTypeOf(vector)),
                                LLVMConstVector(mask, lanes), "");
}

static LLVMValueRef word(emitter *e, const tvms_node *TVMS_NULLABLE node,
                         uint32_t lanes) {
  LLVMValueRef value =
      node ? tvms_emit_expr(e, node) : LLVMConstInt(e->i32, TVMS_QUAD_OF_ONES, false);
  bool scalar = LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMVectorTypeKind;
  return scalar ? tvms_emit_splat(e, value, lanes) : value;
}

// A register of these lanes.
static LLVMValueRef add(emitter *e, LLVMValueRef *args, uint32_t lanes) {
  char name[48];
  int len = snprintf(name, sizeof name, "llvm.x86.avx512.vpdpbusd.%u", lanes * 32);
  unsigned id = LLVMLookupIntrinsicID(name, (size_t)len);
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(e->module, id, NULL, 0);
  LLVMTypeRef type = LLVMIntrinsicGetType(e->llvm, id, NULL, 0);
  return LLVMBuildCall2(e->builder, type, function, args, 3, "");
}

LLVMValueRef TVMS_NULLABLE tvms_emit_quad(emitter *e, const tvms_node *node) {
  tvms_quad q = tvms_node_quad_of(node);
  uint32_t lanes = node->dtype.lanes > 1 ? (uint32_t)node->dtype.lanes : 1;
  if (!q.sum || lanes < 2 || lanes > MOST_LANES
      || !tvms_target_has_quads(e->context, e->options->target))
    return NULL;
  uint32_t whole = FEWEST_LANES;
  while (whole < lanes)
    whole *= 2;
  LLVMValueRef args[] = {tvms_emit_expr(e, q.sum), word(e, q.u, lanes),
                         word(e, q.s, lanes)};
  for (uint32_t i = 0; i < 3; i++)
    args[i] = lanes_of(e, args[i], whole);
  return lanes_of(e, add(e, args, whole), lanes);
}
