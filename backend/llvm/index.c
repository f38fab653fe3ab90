// Indices. As no arithmetic of an index overflows, all of it may be done in 64 bits, and numbers that are
// added anywhere in it may be added last, where the instructions of most processors do it for nothing:
//
//   A[(i * 8 + 3) * 512 + k]:   address of A[i * 4096 + k], plus 6144 bytes
//
// So the accesses of a register tile share few addresses, and LLVM has a fraction of the instructions to
// look at.
#include "backend/llvm/index.h"

#include "backend/llvm/expr.h"
#include "backend/llvm/once.h"

// Is the arithmetic of the node that of an index?
static bool is_exact(const tvms_node *node) {
  tvms_dtype dtype = node->dtype;
  return dtype.code == TVMS_INT && dtype.bits >= 32 && dtype.lanes <= 1;
}

static LLVMValueRef whole(emitter *e, const tvms_node *node) {
  bool before = e->in_index;
  e->in_index = true;
  LLVMValueRef value = tvms_emit_expr(e, node);
  e->in_index = before;
  return tvms_emit_once_cast(e, value, e->i64, node->dtype.code == TVMS_INT);
}

static LLVMValueRef add(emitter *e, LLVMValueRef TVMS_NULLABLE a,
                        LLVMValueRef TVMS_NULLABLE b) {
  if (!a) return b;
  return b ? tvms_emit_once(e, TVMS_ONCE_ADD, a, b) : a;
}

// a - b
static LLVMValueRef subtract(emitter *e, LLVMValueRef TVMS_NULLABLE a,
                             LLVMValueRef TVMS_NULLABLE b) {
  if (!b) return a;
  return a ? tvms_emit_once(e, TVMS_ONCE_SUB, a, b)
           : LLVMBuildNSWNeg(e->builder, b, "");
}

// The parts of a product with a number.
static LLVMValueRef multiplied(emitter *e, const tvms_binary *product, int64_t *more) {
  bool first = tvms_node_is_int_imm(product->a);
  int64_t by = tvms_as_int_imm(first ? product->a : product->b)->value, inner = 0;
  LLVMValueRef value =
      tvms_emit_index_parts(e, first ? product->b : product->a, &inner);
  tvms_emit_index_add(more, inner, by);
  if (!value || by == 1) return value;
  return tvms_emit_once(e, TVMS_ONCE_MUL, value, tvms_emit_int(e, by));
}

// (a + number) * b is a * b and number * b, which is the same for all steps of a loop and done in front of it.
static LLVMValueRef distributed(emitter *e, const tvms_binary *product) {
  int64_t inner = 0;
  LLVMValueRef b = tvms_emit_index(e, product->b);
  LLVMValueRef value = tvms_emit_index_parts(e, product->a, &inner);
  LLVMValueRef made = value ? tvms_emit_once(e, TVMS_ONCE_MUL, value, b) : NULL;
  if (inner == 0) return made ? made : tvms_emit_int(e, 0);
  return add(e, made, tvms_emit_once(e, TVMS_ONCE_MUL, b, tvms_emit_int(e, inner)));
}

static LLVMValueRef parts(emitter *e, const tvms_node *node, int64_t *more) {
  const tvms_binary *binary = tvms_node_is_binary(node) ? tvms_as_binary(node) : NULL;
  int64_t negated = 0;
  LLVMValueRef a, b;
  switch ((int)node->kind) {
  case TVMS_NODE_INT_IMM:
    tvms_emit_index_add(more, tvms_as_int_imm(node)->value, 1);
    return NULL;
  case TVMS_NODE_VAR: {
    LLVMValueRef wide = e->wide[node->id];
    return wide ? wide : whole(e, node);
  }
  case TVMS_NODE_CAST: {
    const tvms_node *value = tvms_as_cast(node)->value;
    return is_exact(value) ? tvms_emit_index_parts(e, value, more) : whole(e, node);
  }
  case TVMS_NODE_ADD:
    a = tvms_emit_index_parts(e, binary->a, more);
    b = tvms_emit_index_parts(e, binary->b, more);
    return add(e, a, b);
  case TVMS_NODE_SUB:
    a = tvms_emit_index_parts(e, binary->a, more);
    b = tvms_emit_index_parts(e, binary->b, &negated);
    tvms_emit_index_add(more, negated, -1);
    return subtract(e, a, b);
  case TVMS_NODE_MUL:
    if (tvms_node_is_int_imm(binary->a) || tvms_node_is_int_imm(binary->b))
      return multiplied(e, binary, more);
    return distributed(e, binary);
  default: return whole(e, node);
  }
}

LLVMValueRef tvms_emit_index_parts(emitter *e, const tvms_node *node, int64_t *more) {
  if (e->options->checked || !is_exact(node)) return whole(e, node);
  // What is too deep is reported there.
  bool deep = !tvms_memory_enter(&e->context->memory);
  LLVMValueRef value = deep ? whole(e, node) : parts(e, node, more);
  tvms_memory_leave(&e->context->memory);
  return value;
}

LLVMValueRef tvms_emit_index(emitter *e, const tvms_node *node) {
  int64_t more = 0;
  LLVMValueRef value = tvms_emit_index_parts(e, node, &more);
  LLVMValueRef number = tvms_emit_int(e, more);
  if (!value) return number;
  return more ? tvms_emit_once(e, TVMS_ONCE_ADD, value, number) : value;
}
