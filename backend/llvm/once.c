// Arithmetic of places in memory, done once in each block.
//
// The steps of a loop that was written out go to the same places, but for numbers that are added last
// (backend/llvm/index.h):
//
//   A[i * 512], A[i * 512 + 16], A[i * 512 + 32]:   i * 4096 bytes once, and three numbers
//
// It is done in front of the loops that it does not depend on. LLVM would find all that out, too, but only after all of it was
// made, in passes that hash what there is, and one that has to know of all memory besides. What a table of the last ones
// has forgotten is made again.
#include "backend/llvm/once.h"

#include "backend/llvm/frame.h"

// Beside those of tvms_once.
enum { SIGNED_CAST = TVMS_ONCE_AND + 1, UNSIGNED_CAST, PLACE, PLACE_INSIDE };

enum { MOST_IN_FRONT = 256 };  // of a loop: each lives as long as the loop runs

uint32_t tvms_emit_once_outside(const emitter *e, LLVMValueRef value) {
  if (!LLVMIsAInstruction(value)) return UINT32_MAX;
  LLVMBasicBlockRef block = LLVMGetInstructionParent(value);
  uint32_t count = 0;
  for (const loop_target *loop = e->loop; loop; loop = loop->outer, count++) {
    if (block == loop->body) return count;
    if (block == loop->before || block == loop->from) return count + 1;
  }
  return block == e->entry ? UINT32_MAX : 0;
}

// The block for a value of these: in front of as many loops as can be.
static LLVMBasicBlockRef block_for(const emitter *e, LLVMValueRef a,
                                   LLVMValueRef TVMS_NULLABLE b) {
  LLVMBasicBlockRef block = LLVMGetInsertBlock(e->builder);
  uint32_t count = tvms_emit_once_outside(e, a),
           other = b ? tvms_emit_once_outside(e, b) : UINT32_MAX;
  if (other < count) count = other;
  for (loop_target *loop = e->loop; loop && count; loop = loop->outer, count--) {
    if (loop->before && loop->in_front < MOST_IN_FRONT) block = loop->before;
  }
  return block;
}

// The places of the table that may have a value.
static made_once *places_of(emitter *e, const made_once *key) {
  uintptr_t words[] = {(uintptr_t)key->block, (uintptr_t)key->a, (uintptr_t)key->b,
                       (uintptr_t)key->type};
  uint64_t hash = key->op;
  for (uint32_t i = 0; i < 4; i++)
    hash = (hash ^ (words[i] >> 3)) * 0x9e3779b97f4a7c15u;
  return e->once[hash >> 32 & (ONCE_SETS - 1)];
}

static bool is_made(const made_once *place, const made_once *key) {
  return place->block == key->block && place->op == key->op && place->a == key->a
         && place->b == key->b && place->type == key->type;
}

// The one that came first goes.
static void keep(made_once *places, const made_once *value) {
  memmove(places + 1, places, (ONCE_PLACES - 1) * sizeof *places);
  places[0] = *value;
}

// Code goes where the value belongs.
static emit_position enter(emitter *e, const made_once *value) {
  emit_position here = tvms_emit_position(e);
  if (value->block == here.block) return here;
  LLVMPositionBuilderBefore(e->builder, LLVMGetBasicBlockTerminator(value->block));
  for (loop_target *loop = e->loop; loop; loop = loop->outer)
    loop->in_front += loop->before == value->block;
  return here;
}

static LLVMValueRef build_binary(LLVMBuilderRef builder, tvms_once op, LLVMValueRef a,
                                 LLVMValueRef b) {
  if (op == TVMS_ONCE_ADD) return LLVMBuildNSWAdd(builder, a, b, "");
  if (op == TVMS_ONCE_SUB) return LLVMBuildNSWSub(builder, a, b, "");
  if (op == TVMS_ONCE_MUL) return LLVMBuildNSWMul(builder, a, b, "");
  if (op == TVMS_ONCE_SHIFT) return LLVMBuildAShr(builder, a, b, "");
  if (op == TVMS_ONCE_AND) return LLVMBuildAnd(builder, a, b, "");
  LLVMValueRef less = LLVMBuildICmp(builder, LLVMIntSLT, a, b, "");
  bool least = op == TVMS_ONCE_MIN;
  return LLVMBuildSelect(builder, less, least ? a : b, least ? b : a, "");
}

static LLVMValueRef build(LLVMBuilderRef builder, const made_once *what) {
  LLVMValueRef a = what->a, b = what->b;
  switch (what->op) {
  case SIGNED_CAST:
  case UNSIGNED_CAST:
    return LLVMBuildIntCast2(builder, a, what->type, what->op == SIGNED_CAST, "");
  case PLACE: return LLVMBuildGEP2(builder, what->type, a, &b, 1, "");
  case PLACE_INSIDE: return LLVMBuildInBoundsGEP2(builder, what->type, a, &b, 1, "");
  default: return build_binary(builder, (tvms_once)what->op, a, b);
  }
}

static LLVMValueRef find_or_make(emitter *e, uint32_t op, LLVMValueRef a,
                                 LLVMValueRef TVMS_NULLABLE b,
                                 LLVMTypeRef TVMS_NULLABLE type) {
  made_once key = {.block = block_for(e, a, b), .op = op, .a = a, .b = b, .type = type};
  made_once *places = places_of(e, &key);
  for (uint32_t i = 0; i < ONCE_PLACES; i++)
    if (is_made(&places[i], &key)) return places[i].value;
  emit_position here = enter(e, &key);
  key.value = build(e->builder, &key);
  if (key.block != here.block) tvms_emit_go_on(e, here);
  keep(places, &key);
  return key.value;
}

LLVMValueRef tvms_emit_once(emitter *e, tvms_once op, LLVMValueRef a, LLVMValueRef b) {
  return find_or_make(e, op, a, b, NULL);
}

LLVMValueRef tvms_emit_once_cast(emitter *e, LLVMValueRef value, LLVMTypeRef type,
                                 bool is_signed) {
  if (LLVMTypeOf(value) == type) return value;
  return find_or_make(e, is_signed ? SIGNED_CAST : UNSIGNED_CAST, value, NULL, type);
}

// What is added to a place in each step of a loop, where the rest stands in front of it, goes into the address of a
// load. False: the place is no such sum. What is in front may be outside of the memory.
static bool move_front(emitter *e, LLVMTypeRef element, LLVMValueRef *base,
                       LLVMValueRef *index) {
  bool sum = LLVMIsAInstruction(*index) && LLVMGetInstructionOpcode(*index) == LLVMAdd;
  if (!sum || LLVMIsAAllocaInst(*base) || tvms_emit_once_outside(e, *index))
    return false;
  LLVMValueRef a = LLVMGetOperand(*index, 0), b = LLVMGetOperand(*index, 1);
  uint32_t of_a = tvms_emit_once_outside(e, a), of_b = tvms_emit_once_outside(e, b);
  if (!of_a == !of_b || LLVMIsConstant(a) || LLVMIsConstant(b)) return false;
  *base = find_or_make(e, PLACE, *base, of_a ? a : b, element);
  *index = of_a ? b : a;
  return true;
}

LLVMValueRef tvms_emit_once_place(emitter *e, LLVMTypeRef element, LLVMValueRef base,
                                  LLVMValueRef index, bool inside) {
  if (move_front(e, element, &base, &index)) inside = false;
  if (!LLVMIsConstant(index))
    return find_or_make(e, inside ? PLACE_INSIDE : PLACE, base, index, element);
  // Nothing is computed.
  return inside ? LLVMBuildInBoundsGEP2(e->builder, element, base, &index, 1, "")
                : LLVMBuildGEP2(e->builder, element, base, &index, 1, "");
}
