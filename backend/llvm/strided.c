// Loads in steps, above all of every second element.
//
//   even lanes of  first [o, o + n)  and second [o + n - 1, o + 2n - 1)      n vectors of lanes
//
// and, when its neighbour from o + 1 on comes:
//
//   even and odd lanes of  [o, o + n)  and  [o + n, o + 2n)
//
// Windows that go along a line in steps of two load so. LLVM joins loads of one place, but does not find
// that two loads which begin at different places can be two that begin at the same ones.
//
// Where some lanes are left out (windows over a line with padding), what all neighbours want is one load with
// a mask, parted once in even and odd elements:
//
//   [0 1 2 3 4 5 6 7]  ->  [0 2 4 6 | 1 3 5 7]      a load from o, o + 1 or o + 2 on is a part of it
#include "backend/llvm/strided.h"

#include "backend/llvm/expr.h"
#include "backend/llvm/frame.h"
#include "backend/llvm/masked.h"
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
  sum s = {.known = true};
  bool is_number_behind = LLVMIsAGetElementPtrInst(place)
                          && LLVMIsAGetElementPtrInst(LLVMGetOperand(place, 0))
                          && is_number(LLVMGetOperand(place, 1));
  if (is_number_behind) {
    s.number = LLVMConstIntGetSExtValue(LLVMGetOperand(place, 1));
    place = LLVMGetOperand(place, 0);
  }
  s.known = LLVMIsAGetElementPtrInst(place) && LLVMGetNumOperands(place) == 2;
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

// How many elements `b` lies behind `a`. False: that is not known.
static bool find_distance(LLVMValueRef a, LLVMValueRef b, int64_t *distance) {
  sum x = sum_of(a), y = sum_of(b);
  *distance = y.number - x.number;
  if (!x.known || !y.known || x.count != y.count) return false;
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
static void move_second(emitter *e, strided_load *before, tvms_span span) {
  uint32_t lanes = before->lanes;
  emit_position here = tvms_emit_position(e);
  LLVMPositionBuilderBefore(e->builder, before->second);
  LLVMValueRef place = behind(e, before->element, before->place, lanes, span);
  tvms_dtype wide = tvms_dtype_with_lanes(before->element, (int)lanes);
  LLVMValueRef made = tvms_emit_load(e, wide, place, span);
  LLVMValueRef was = pick(e, before->first, made, lanes, lanes - 1, 1, lanes);
  LLVMReplaceAllUsesWith(before->second, was);
  LLVMInstructionEraseFromParent(before->second);
  before->second = NULL;
  tvms_emit_go_on(e, here);
}

// What came before and begins one element further left, or at the same one and has a neighbour. All of the former get this
// one as theirs. NULL: there is none.
static strided_load *TVMS_NULLABLE find_before(emitter *e, tvms_dtype element,
                                               LLVMValueRef place, uint32_t lanes,
                                               tvms_span span, int64_t *distance) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(e->builder);
  uint32_t count = e->strided_count < MOST_STRIDED ? e->strided_count : MOST_STRIDED;
  strided_load *found = NULL;
  for (uint32_t i = 0; i < count; i++) {
    strided_load *s = &e->strided[i];
    int64_t apart;
    bool fits = s->block == here && s->lanes == lanes
                && tvms_dtype_same(s->element, element)
                && find_distance(s->place, place, &apart)
                && (apart == 1 || (apart == 0 && !s->second));
    if (!fits) continue;
    if (s->second) move_second(e, s, span);
    found = s;
    *distance = apart;
  }
  return found;
}

LLVMValueRef tvms_emit_load_halves(emitter *e, tvms_dtype element, LLVMValueRef place,
                                   uint32_t lanes, tvms_span span) {
  tvms_dtype wide = tvms_dtype_with_lanes(element, (int)lanes);
  int64_t first = 0;
  strided_load *before = find_before(e, element, place, lanes, span, &first);
  if (before) {
    LLVMValueRef next = behind(e, element, before->place, lanes, span);
    LLVMValueRef a = tvms_emit_load(e, wide, before->place, span);
    LLVMValueRef b = tvms_emit_load(e, wide, next, span);
    return pick(e, a, b, lanes, (uint32_t)first, 2, lanes);
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

LLVMValueRef tvms_emit_load_steps(emitter *e, tvms_dtype element, LLVMValueRef place,
                                  uint32_t lanes, uint32_t step, tvms_span span) {
  tvms_dtype wide = tvms_dtype_with_lanes(element, (int)lanes);
  LLVMValueRef made = tvms_emit_load(e, wide, place, span), picked[MOST_LANES];
  for (uint32_t part = 1; part < step; part++) {
    // The last vector begins further left, so that it ends with the last element.
    uint32_t begin = part + 1 < step ? part * lanes : part * (lanes - 1);
    LLVMValueRef next =
        tvms_emit_load(e, wide, behind(e, element, place, begin, span), span);
    for (uint32_t i = 0; i < lanes; i++) {
      uint32_t at = i * step, of = at / lanes;
      // What earlier vectors have is in its lane from the first choice on.
      uint32_t from = of == 0 && part == 1 ? at : i;
      if (of == part) from = lanes + at - begin;
      picked[i] = LLVMConstInt(e->i32, from, false);
    }
    made = LLVMBuildShuffleVector(e->builder, made, next,
                                  LLVMConstVector(picked, lanes), "");
  }
  return made;
}

LLVMValueRef tvms_emit_load_picked(emitter *e, tvms_dtype element, LLVMValueRef place,
                                   const tvms_lanes *lanes, tvms_span span) {
  int64_t width = lanes->span, one = lanes->count;
  bool two = width > one;
  tvms_dtype wide = tvms_dtype_with_lanes(element, (int)(two ? one : width));
  LLVMValueRef first = tvms_emit_load(e, wide, place, span);
  if (width == 1) return tvms_emit_splat(e, first, lanes->count);
  LLVMValueRef second = LLVMGetUndef(LLVMTypeOf(first)), picked[MOST_LANES];
  // The second vector ends with the last element.
  int64_t begin = width - one;
  if (two)
    second =
        tvms_emit_load(e, wide, behind(e, element, place, (uint32_t)begin, span), span);
  for (uint32_t i = 0; i < lanes->count; i++) {
    int64_t at = lanes->offsets[i] - lanes->least;
    if (two && at >= one) at += one - begin;
    picked[i] = LLVMConstInt(e->i32, (unsigned long long)at, false);
  }
  return LLVMBuildShuffleVector(e->builder, first, second,
                                LLVMConstVector(picked, lanes->count), "");
}

// ---- Loads of some lanes ----

static uint64_t lane_bits(LLVMValueRef mask, uint32_t lanes) {
  uint64_t bits = 0;
  for (uint32_t i = 0; i < lanes; i++) {
    LLVMValueRef lane = LLVMGetAggregateElement(mask, i);
    if (lane && LLVMIsAConstantInt(lane) && LLVMConstIntGetZExtValue(lane))
      bits |= 1ull << i;
  }
  return bits;
}

// Each bit of `bits`, `by` places behind twice its own.
static uint64_t spread(uint64_t bits, uint32_t lanes, uint32_t by) {
  uint64_t made = 0;
  for (uint32_t i = 0; i < lanes; i++) {
    if (bits >> i & 1 && by + 2 * i < MOST_LANES) made |= 1ull << (by + 2 * i);
  }
  return made;
}

// Loads what is wanted of `p` by now and parts even from odd elements.
static void load_phases(emitter *e, phased_load *p, tvms_span span) {
  LLVMValueRef lanes[MOST_LANES];
  for (uint32_t i = 0; i < p->width; i++)
    lanes[i] = LLVMConstInt(e->i1, p->wanted >> i & 1, false);
  tvms_dtype wide = tvms_dtype_with_lanes(p->element, (int)p->width);
  LLVMValueRef mask = LLVMConstVector(lanes, p->width);
  p->loaded = tvms_emit_load_masked(e, wide, p->place, mask, span);
  for (uint32_t i = 0; i < p->width; i++)
    lanes[i] = LLVMConstInt(e->i32, 2 * i % p->width + 2 * i / p->width, false);
  LLVMValueRef none = LLVMGetUndef(LLVMTypeOf(p->loaded));
  p->phases = LLVMBuildShuffleVector(e->builder, p->loaded, none,
                                     LLVMConstVector(lanes, p->width), "");
}

// More elements for `p`, in the place where it was loaded.
static void widen(emitter *e, phased_load *p, uint64_t wanted, tvms_span span) {
  LLVMValueRef loaded = p->loaded, phases = p->phases;
  uint32_t before = p->width, picked[MOST_LANES];
  emit_position here = tvms_emit_position(e);
  LLVMPositionBuilderBefore(e->builder, loaded);
  p->wanted |= wanted;
  while (p->width < MOST_LANES && p->wanted >> p->width)
    p->width *= 2;
  load_phases(e, p, span);
  LLVMValueRef same = p->phases;
  if (p->width > before) {
    LLVMValueRef lanes[MOST_LANES];
    for (uint32_t i = 0; i < before; i++) {
      picked[i] = i % (before / 2) + (i < before / 2 ? 0 : p->width / 2);
      lanes[i] = LLVMConstInt(e->i32, picked[i], false);
    }
    LLVMValueRef none = LLVMGetUndef(LLVMTypeOf(same));
    same = LLVMBuildShuffleVector(e->builder, same, none,
                                  LLVMConstVector(lanes, before), "");
  }
  LLVMReplaceAllUsesWith(phases, same);
  LLVMInstructionEraseFromParent(phases);
  LLVMInstructionEraseFromParent(loaded);
  tvms_emit_go_on(e, here);
}

// ---- What may come between ----

// What a place is computed from.
static LLVMValueRef base_of(LLVMValueRef place) {
  while (LLVMIsAGetElementPtrInst(place))
    place = LLVMGetOperand(place, 0);
  return place;
}

// Is `stored` in the function's frame, and the place that is read not in the same buffer? Where a pointer
// comes from memory, it may be one to the frame that a program has put there.
static bool is_elsewhere(LLVMValueRef stored, LLVMValueRef place) {
  LLVMValueRef to = base_of(stored), from = base_of(place);
  bool known = LLVMIsAAllocaInst(from) || LLVMIsAArgument(from);
  return LLVMIsAAllocaInst(to) && to != from && known;
}

// Do attributes say that it writes no memory? LLVM has two bits for each kind of memory: reads, and writes.
static bool only_reads(LLVMValueRef call) {
  const uint64_t writes = 0xaaaaaaaaaaaaaaaa;
  unsigned kind = LLVMGetEnumAttributeKindForName("memory", 6);
  LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
  LLVMAttributeRef given = LLVMGetCallSiteEnumAttribute(call, whole, kind);
  LLVMValueRef function = LLVMGetCalledValue(call);
  if (!given && LLVMIsAFunction(function))
    given = LLVMGetEnumAttributeAtIndex(function, whole, kind);
  return given && !(LLVMGetEnumAttributeValue(given) & writes);
}

static bool may_write(LLVMValueRef instruction, LLVMValueRef place) {
  switch ((int)LLVMGetInstructionOpcode(instruction)) {
  case LLVMStore: return !is_elsewhere(LLVMGetOperand(instruction, 1), place);
  case LLVMCall: return !only_reads(instruction);
  case LLVMAtomicRMW:
  case LLVMAtomicCmpXchg:
  case LLVMFence: return true;
  default: return false;
  }
}

// Is what `p` has loaded still what is there, at the end of its block?
static bool is_fresh(const phased_load *p) {
  enum { MOST_PASSED = 4096 };
  LLVMValueRef next = LLVMGetNextInstruction(p->phases);
  for (uint32_t i = 0; next && i < MOST_PASSED; i++) {
    if (may_write(next, p->place)) return false;
    next = LLVMGetNextInstruction(next);
  }
  return !next;
}

// A load from the same line that can give these elements, too: none that one of both takes is to be 0
// for the other, and nothing was stored there since.
static phased_load *TVMS_NULLABLE find_phases(emitter *e, tvms_dtype element,
                                              LLVMValueRef place, uint32_t lanes,
                                              uint64_t bits, uint32_t *by) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(e->builder);
  uint32_t count = e->phased_count < MOST_STRIDED ? e->phased_count : MOST_STRIDED;
  uint64_t all = lanes < 64 ? (1ull << lanes) - 1 : ~0ull;
  for (uint32_t i = 0; i < count; i++) {
    phased_load *p = &e->phased[i];
    int64_t distance;
    if (p->block != here || !tvms_dtype_same(p->element, element)
        || !find_distance(p->place, place, &distance) || distance < 0
        || distance >= lanes)
      continue;
    *by = (uint32_t)distance;
    bool apart = !(spread(bits, lanes, *by) & p->zeros)
                 && !(spread(all & ~bits, lanes, *by) & p->wanted);
    if (!apart) continue;
    if (is_fresh(p)) return p;
    p->block = NULL;
  }
  return NULL;
}

LLVMValueRef tvms_emit_load_halves_masked(emitter *e, tvms_dtype element,
                                          LLVMValueRef place, LLVMValueRef mask,
                                          tvms_span span) {
  uint32_t lanes = LLVMGetVectorSize(LLVMTypeOf(mask)), by = 0;
  uint64_t bits = lane_bits(mask, lanes);
  phased_load *p = find_phases(e, element, place, lanes, bits, &by);
  if (!p) {
    p = &e->phased[e->phased_count++ % MOST_STRIDED];
    *p = (phased_load){.block = LLVMGetInsertBlock(e->builder),
                       .place = place,
                       .element = element,
                       .wanted = spread(bits, lanes, 0),
                       .width = 2 * lanes};
    load_phases(e, p, span);
    by = 0;
  } else if (spread(bits, lanes, by) & ~p->wanted) {
    widen(e, p, spread(bits, lanes, by), span);
  }
  LLVMValueRef picked[MOST_LANES];
  for (uint32_t i = 0; i < lanes; i++) {
    uint32_t at = by + 2 * i;
    bool inside = at < p->width;
    if (inside && !(bits >> i & 1)) p->zeros |= 1ull << at;
    // What lies behind is none of it: a lane of a vector of zeros.
    uint32_t from = inside ? at % 2 * (p->width / 2) + at / 2 : p->width;
    picked[i] = LLVMConstInt(e->i32, from, false);
  }
  return LLVMBuildShuffleVector(e->builder, p->phases,
                                LLVMConstNull(LLVMTypeOf(p->phases)),
                                LLVMConstVector(picked, lanes), "");
}
