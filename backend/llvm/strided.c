// Loads of every second element.
//
//   even lanes of  first [o, o + n)  and second [o + n - 1, o + 2n - 1)      n vectors of lanes
//
// and, when its neighbour from o + 1 on comes:
//
//   even and odd lanes of  [o, o + n)  and  [o + n, o + 2n)
//
// Windows that go along a line in steps of two load so. LLVM joins loads of one place, but does not find
// that two loads which begin at different places can be two that begin at the same ones.
#include "backend/llvm/strided.h"

#include "backend/llvm/expr.h"
#include "backend/llvm/types.h"

enum { MOST_LANES = 64, MOST_TERMS = 8, DEPTH = 8 };

// ---- Places ----

// A place as a sum: of a pointer, of terms and of a number.
typedef struct {
  LLVMValueRef terms[MOST_TERMS];
  uint32_t count;
  int64_t number;
  bool known;
} sum;

static bool is_number(LLVMValueRef value) {
  return LLVMIsAConstantInt(value) && LLVMGetIntTypeWidth(LLVMTypeOf(value)) <= 64;
}

// Indices do not overflow, so that what is added before and behind an extension is one sum.
static void add_terms(sum *s, LLVMValueRef value, uint32_t depth) {
  if (is_number(value)) {
    s->number += LLVMConstIntGetSExtValue(value);
    return;
  }
  bool deep = depth < 4 * DEPTH && LLVMIsAInstruction(value);
  LLVMOpcode opcode = deep ? LLVMGetInstructionOpcode(value) : LLVMRet;
  if (opcode == LLVMAdd) {
    add_terms(s, LLVMGetOperand(value, 0), depth + 1);
    add_terms(s, LLVMGetOperand(value, 1), depth + 1);
  } else if (opcode == LLVMSub && is_number(LLVMGetOperand(value, 1))) {
    add_terms(s, LLVMGetOperand(value, 0), depth + 1);
    s->number -= LLVMConstIntGetSExtValue(LLVMGetOperand(value, 1));
  } else if (opcode == LLVMSExt) {
    add_terms(s, LLVMGetOperand(value, 0), depth + 1);
  } else if (s->count < MOST_TERMS) {
    s->terms[s->count++] = value;
  } else {
    s->known = false;
  }
}

static sum sum_of(LLVMValueRef place) {
  sum s = {.known = LLVMIsAGetElementPtrInst(place) && LLVMGetNumOperands(place) == 2};
  if (!s.known) return s;
  s.terms[s.count++] = LLVMGetOperand(place, 0);
  add_terms(&s, LLVMGetOperand(place, 1), 0);
  return s;
}

// Is it the same computation of the same values?
static bool is_same(LLVMValueRef a, LLVMValueRef b, uint32_t depth) {
  if (a == b) return true;
  if (depth == DEPTH || !LLVMIsAInstruction(a) || !LLVMIsAInstruction(b)) return false;
  LLVMOpcode opcode = LLVMGetInstructionOpcode(a);
  bool plain =
      opcode == LLVMAdd || opcode == LLVMSub || opcode == LLVMMul || opcode == LLVMSExt;
  if (!plain || LLVMGetInstructionOpcode(b) != opcode || LLVMTypeOf(a) != LLVMTypeOf(b))
    return false;
  int count = LLVMGetNumOperands(a);
  for (int i = 0; i < count; i++) {
    if (!is_same(LLVMGetOperand(a, (unsigned)i), LLVMGetOperand(b, (unsigned)i),
                 depth + 1))
      return false;
  }
  return true;
}

// Does `b` lie one element behind `a`?
static bool is_next(LLVMValueRef a, LLVMValueRef b) {
  sum x = sum_of(a), y = sum_of(b);
  if (!x.known || !y.known || x.count != y.count || y.number != x.number + 1)
    return false;
  for (uint32_t i = 0; i < x.count; i++) {
    if (!is_same(x.terms[i], y.terms[i], 0)) return false;
  }
  return true;
}

// ---- Loads ----

static LLVMValueRef behind(emitter *e, tvms_dtype element, LLVMValueRef place,
                           uint32_t elements, tvms_span span) {
  LLVMTypeRef type = tvms_emit_memory_type(e, element, span);
  LLVMValueRef step = tvms_emit_int(e, (int64_t)elements);
  return LLVMBuildInBoundsGEP2(e->builder, type, place, &step, 1, "");
}

// Lanes from `first` on, in steps; from lane number `skip` on, one further.
static LLVMValueRef pick(emitter *e, LLVMValueRef a, LLVMValueRef b, uint32_t lanes,
                         uint32_t first, uint32_t step, uint32_t skip) {
  LLVMValueRef picked[MOST_LANES];
  for (uint32_t i = 0; i < lanes; i++)
    picked[i] = LLVMConstInt(e->i32, first + i * step + (i >= skip), false);
  return LLVMBuildShuffleVector(e->builder, a, b, LLVMConstVector(picked, lanes), "");
}

// The second vector of a load that came before begins one element later; what it was is picked of both.
// Returns where it begins.
static LLVMValueRef move_second(emitter *e, strided_load *before, tvms_span span) {
  uint32_t lanes = before->lanes;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(e->builder);
  LLVMPositionBuilderBefore(e->builder, before->second);
  LLVMValueRef place = behind(e, before->element, before->place, lanes, span);
  tvms_dtype wide = tvms_dtype_with_lanes(before->element, (int)lanes);
  LLVMValueRef made = tvms_emit_load(e, wide, place, span);
  LLVMValueRef was = pick(e, before->first, made, lanes, lanes - 1, 1, lanes);
  LLVMReplaceAllUsesWith(before->second, was);
  LLVMInstructionEraseFromParent(before->second);
  LLVMPositionBuilderAtEnd(e->builder, here);
  return place;
}

static strided_load *TVMS_NULLABLE find_before(emitter *e, tvms_dtype element,
                                               LLVMValueRef place, uint32_t lanes) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(e->builder);
  uint32_t count = e->strided_count < MOST_STRIDED ? e->strided_count : MOST_STRIDED;
  for (uint32_t i = 0; i < count; i++) {
    strided_load *s = &e->strided[i];
    if (s->second && s->block == here && s->lanes == lanes
        && tvms_dtype_same(s->element, element) && is_next(s->place, place))
      return s;
  }
  return NULL;
}

LLVMValueRef tvms_emit_load_halves(emitter *e, tvms_dtype element, LLVMValueRef place,
                                   uint32_t lanes, tvms_span span) {
  tvms_dtype wide = tvms_dtype_with_lanes(element, (int)lanes);
  strided_load *before = find_before(e, element, place, lanes);
  if (before) {
    LLVMValueRef second = move_second(e, before, span);
    before->second = NULL;
    LLVMValueRef a = tvms_emit_load(e, wide, before->place, span);
    LLVMValueRef b = tvms_emit_load(e, wide, second, span);
    return pick(e, a, b, lanes, 1, 2, lanes);
  }
  strided_load *s = &e->strided[e->strided_count++ % MOST_STRIDED];
  *s = (strided_load){.block = LLVMGetInsertBlock(e->builder),
                      .place = place,
                      .element = element,
                      .lanes = lanes};
  s->first = tvms_emit_load(e, wide, place, span);
  s->second = tvms_emit_load(e, wide, behind(e, element, place, lanes - 1, span), span);
  return pick(e, s->first, s->second, lanes, 0, 2, (lanes + 1) / 2);
}
