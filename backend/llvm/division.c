// Division of integers: quotients and remainders, truncated or rounded down.
#include "backend/llvm/division.h"

#include "backend/core/division.h"
#include "backend/llvm/expr.h"
#include "backend/llvm/failure.h"
#include "backend/llvm/once.h"
#include "backend/llvm/types.h"

static bool is_nonzero_constant(const tvms_node *node) {
  int64_t value;
  return tvms_node_int_in_lanes(node, &value) && value != 0;
}

static bool is_minus_one(const tvms_node *node) {
  int64_t value;
  return tvms_node_int_in_lanes(node, &value) && value == -1;
}

static void check_divisor(emitter *e, const tvms_node *node, LLVMValueRef b) {
  failure zero = {
      .kind = "ZeroDivisionError", .text = "division by zero", .span = node->span};
  uint32_t lanes = node->dtype.lanes > 1 ? (uint32_t)node->dtype.lanes : 1;
  for (uint32_t i = 0; i < lanes; i++) {
    LLVMValueRef item = tvms_emit_lane(e, b, i);
    LLVMValueRef none = LLVMConstNull(LLVMTypeOf(item));
    tvms_emit_check(e, LLVMBuildICmp(e->builder, LLVMIntNE, item, none, ""), &zero);
  }
}

// Signed division that never traps: by -1 it is a negation, which wraps.
static void divide_signed(emitter *e, const tvms_node *divisor, LLVMValueRef a,
                          LLVMValueRef b, LLVMValueRef *quotient, LLVMValueRef *rest) {
  LLVMBuilderRef builder = e->builder;
  LLVMTypeRef type = LLVMTypeOf(a);
  if (is_nonzero_constant(divisor) && !is_minus_one(divisor)) {
    *quotient = LLVMBuildSDiv(builder, a, b, "");
    *rest = LLVMBuildSRem(builder, a, b, "");
    return;
  }
  LLVMValueRef negates =
      LLVMBuildICmp(builder, LLVMIntEQ, b, tvms_emit_constant(e, type, -1), "");
  LLVMValueRef by =
      LLVMBuildSelect(builder, negates, tvms_emit_constant(e, type, 1), b, "");
  LLVMValueRef negated = LLVMBuildSub(builder, tvms_emit_constant(e, type, 0), a, "");
  LLVMValueRef plain = LLVMBuildSDiv(builder, a, by, "");
  *quotient = LLVMBuildSelect(builder, negates, negated, plain, "");
  *rest = LLVMBuildSRem(builder, a, by, "");
}

// ---- Vectors by numbers ----

// Machines multiply in vectors no wider than 32 bits by 32: a * b >> 64 from four products.
static LLVMValueRef high_product(emitter *e, LLVMValueRef a, uint64_t b) {
  LLVMBuilderRef builder = e->builder;
  LLVMTypeRef type = LLVMTypeOf(a);
  LLVMValueRef half = tvms_emit_constant(e, type, 32);
  LLVMValueRef mask = tvms_emit_constant(e, type, UINT32_MAX);
  LLVMValueRef a_low = LLVMBuildAnd(builder, a, mask, "");
  LLVMValueRef a_high = LLVMBuildLShr(builder, a, half, "");
  LLVMValueRef b_low = tvms_emit_constant(e, type, (int64_t)(uint32_t)b);
  LLVMValueRef b_high = tvms_emit_constant(e, type, (int64_t)(b >> 32));
  LLVMValueRef low = LLVMBuildMul(builder, a_low, b_low, "");
  LLVMValueRef middle = LLVMBuildAdd(builder, LLVMBuildMul(builder, a_high, b_low, ""),
                                     LLVMBuildLShr(builder, low, half, ""), "");
  LLVMValueRef other = LLVMBuildAdd(builder, LLVMBuildMul(builder, a_low, b_high, ""),
                                    LLVMBuildAnd(builder, middle, mask, ""), "");
  LLVMValueRef high = LLVMBuildMul(builder, a_high, b_high, "");
  high = LLVMBuildAdd(builder, high, LLVMBuildLShr(builder, middle, half, ""), "");
  return LLVMBuildAdd(builder, high, LLVMBuildLShr(builder, other, half, ""), "");
}

static LLVMValueRef floor_by(emitter *e, LLVMValueRef a, const tvms_division *by) {
  LLVMBuilderRef builder = e->builder;
  LLVMTypeRef type = LLVMTypeOf(a);
  LLVMValueRef sign = LLVMBuildAShr(builder, a, tvms_emit_constant(e, type, 63), "");
  LLVMValueRef n = LLVMBuildXor(builder, a, sign, "");
  LLVMValueRef shift = tvms_emit_constant(e, type, by->shift);
  LLVMValueRef quotient =
      LLVMBuildLShr(builder, high_product(e, n, by->factor), shift, "");
  return LLVMBuildXor(builder, quotient, sign, "");
}

// The power of two that a divisor is in all lanes, or -1.
static int log_of(const tvms_node *divisor) {
  int64_t value;
  bool is_power = tvms_node_int_in_lanes(divisor, &value) && value > 0
                  && (value & (value - 1)) == 0;
  return is_power ? __builtin_ctzll((uint64_t)value) : -1;
}

// A quotient by 2^log of an integer that may be negative, rounded down, or what is left over of it.
static LLVMValueRef floor_by_power(emitter *e, LLVMValueRef a, int log, bool modulo) {
  LLVMTypeRef type = LLVMTypeOf(a);
  int64_t other = modulo ? (int64_t)((UINT64_C(1) << log) - 1) : log;
  LLVMValueRef b = tvms_emit_constant(e, type, other);
  tvms_once op = modulo ? TVMS_ONCE_AND : TVMS_ONCE_SHIFT;
  if (e->in_index) return tvms_emit_once(e, op, a, b);
  return modulo ? LLVMBuildAnd(e->builder, a, b, "")
                : LLVMBuildAShr(e->builder, a, b, "");
}

LLVMValueRef tvms_emit_division(emitter *e, const tvms_node *node, LLVMValueRef a,
                                LLVMValueRef b) {
  LLVMBuilderRef builder = e->builder;
  const tvms_node *divisor = tvms_as_binary(node)->b;
  bool modulo = node->kind == TVMS_NODE_MOD || node->kind == TVMS_NODE_FLOOR_MOD;
  bool floors = node->kind == TVMS_NODE_FLOOR_DIV || node->kind == TVMS_NODE_FLOOR_MOD;
  if (!is_nonzero_constant(divisor)) check_divisor(e, node, b);
  if (node->dtype.code == TVMS_UINT) {
    return modulo ? LLVMBuildURem(builder, a, b, "") : LLVMBuildUDiv(builder, a, b, "");
  }
  int log = floors ? log_of(divisor) : -1;
  if (log >= 0) return floor_by_power(e, a, log, modulo);
  tvms_division by;
  if (floors && tvms_division_read(node, &by)) {
    LLVMValueRef whole = floor_by(e, a, &by);
    if (!modulo) return whole;
    return LLVMBuildSub(builder, a, LLVMBuildMul(builder, whole, b, ""), "");
  }
  LLVMValueRef quotient, rest;
  divide_signed(e, divisor, a, b, &quotient, &rest);
  if (!floors) return modulo ? rest : quotient;
  LLVMTypeRef type = LLVMTypeOf(a);
  LLVMValueRef zero = tvms_emit_constant(e, type, 0);
  LLVMValueRef inexact = LLVMBuildICmp(builder, LLVMIntNE, rest, zero, "");
  LLVMValueRef mixed = LLVMBuildXor(builder, rest, b, "");
  LLVMValueRef differ = LLVMBuildICmp(builder, LLVMIntSLT, mixed, zero, "");
  LLVMValueRef lower = LLVMBuildAnd(builder, inexact, differ, "");
  if (modulo) {
    LLVMValueRef add = LLVMBuildSelect(builder, lower, b, zero, "");
    return LLVMBuildAdd(builder, rest, add, "");
  }
  LLVMValueRef minus = LLVMBuildSExt(builder, lower, type, "");
  return LLVMBuildAdd(builder, quotient, minus, "");
}
