// Types, and elements on their way between memory and registers.
//
// float16 goes through LLVM's half, which most processors convert; for others it is taken apart
// with integers, or the code would call functions that not every compiler's library has. bfloat16
// is the upper half of a float32 and is rounded with integers always, as floats of 8 bits are (float8.c).
#include "backend/llvm/types.h"

#include "backend/llvm/emit.h"
#include "backend/llvm/expr.h"
#include "backend/llvm/float8.h"
#include "interp/interp.h"

#include <math.h>

enum { MOST_SATURATED = 64 };  // lanes

static LLVMTypeRef with_lanes(LLVMTypeRef type, tvms_dtype dtype) {
  return dtype.lanes > 1 ? LLVMVectorType(type, (unsigned)dtype.lanes) : type;
}

// The description of a float that is smaller than float32; NULL for others.
static const tvms_small_float *TVMS_NULLABLE small_kind(tvms_dtype dtype) {
  return tvms_small_float_of(tvms_interp_dl_type_of(dtype));
}

LLVMTypeRef tvms_emit_type(emitter *e, tvms_dtype dtype, tvms_span span) {
  char text[TVMS_DTYPE_TEXT];
  if (dtype.lanes < 1) tvms_emit_refuse(e, span, tvms_dtype_text(dtype, text));
  if (dtype.code == TVMS_BOOL) return with_lanes(e->i1, dtype);
  if (dtype.code == TVMS_HANDLE && dtype.lanes == 1) return e->pointer;
  if (small_kind(dtype)) return with_lanes(e->f32, dtype);
  bool whole =
      dtype.bits == 8 || dtype.bits == 16 || dtype.bits == 32 || dtype.bits == 64;
  if ((dtype.code == TVMS_INT || dtype.code == TVMS_UINT) && whole) {
    return with_lanes(LLVMIntTypeInContext(e->llvm, dtype.bits), dtype);
  }
  if (dtype.code == TVMS_FLOAT && dtype.bits == 32) return with_lanes(e->f32, dtype);
  if (dtype.code == TVMS_FLOAT && dtype.bits == 64) return with_lanes(e->f64, dtype);
  tvms_emit_refuse(e, span, tvms_dtype_text(dtype, text));
}

LLVMTypeRef tvms_emit_memory_type(emitter *e, tvms_dtype dtype, tvms_span span) {
  if (dtype.code == TVMS_BOOL) return with_lanes(e->i8, dtype);
  if (small_kind(dtype)) return with_lanes(dtype.bits == 8 ? e->i8 : e->i16, dtype);
  return tvms_emit_type(e, dtype, span);
}

// The type like `of` (scalar or vector) with other elements.
static LLVMTypeRef like(LLVMValueRef of, LLVMTypeRef element) {
  LLVMTypeRef type = LLVMTypeOf(of);
  bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
  return vector ? LLVMVectorType(element, LLVMGetVectorSize(type)) : element;
}

LLVMValueRef tvms_emit_constant(emitter *e, LLVMTypeRef type, int64_t value) {
  bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
  LLVMTypeRef element = vector ? LLVMGetElementType(type) : type;
  LLVMValueRef scalar = LLVMConstInt(element, (unsigned long long)value, true);
  if (!vector) return scalar;
  unsigned count = LLVMGetVectorSize(type);
  LLVMValueRef *lanes = tvms_arena_array(&e->context->scratch, LLVMValueRef, count);
  for (unsigned i = 0; i < count; i++) {
    lanes[i] = scalar;
  }
  return LLVMConstVector(lanes, count);
}

// The same for the type like that of a value.
static LLVMValueRef constant_like(emitter *e, LLVMValueRef of, LLVMTypeRef element,
                                  int64_t value) {
  return tvms_emit_constant(e, like(of, element), value);
}

// float32 to the bits of bfloat16, ties to even; NaN stays NaN.
static LLVMValueRef to_bfloat(emitter *e, LLVMValueRef value) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef bits = LLVMBuildBitCast(b, value, like(value, e->i32), "");
  LLVMValueRef sixteen = constant_like(e, bits, e->i32, 16);
  LLVMValueRef odd = LLVMBuildAnd(b, LLVMBuildLShr(b, bits, sixteen, ""),
                                  constant_like(e, bits, e->i32, 1), "");
  LLVMValueRef up = LLVMBuildAdd(b, odd, constant_like(e, bits, e->i32, 0x7FFF), "");
  LLVMValueRef sum = LLVMBuildAdd(b, bits, up, "");
  LLVMValueRef nan = LLVMBuildFCmp(b, LLVMRealUNO, value, value, "");
  LLVMValueRef rounded =
      LLVMBuildSelect(b, nan, constant_like(e, bits, e->i32, 0x7FC00000), sum, "");
  LLVMValueRef high = LLVMBuildLShr(b, rounded, sixteen, "");
  return LLVMBuildTrunc(b, high, like(value, e->i16), "");
}

static LLVMValueRef from_bfloat(emitter *e, LLVMValueRef bits) {
  LLVMValueRef wide = LLVMBuildZExt(e->builder, bits, like(bits, e->i32), "");
  LLVMValueRef high =
      LLVMBuildShl(e->builder, wide, constant_like(e, wide, e->i32, 16), "");
  return LLVMBuildBitCast(e->builder, high, like(bits, e->f32), "");
}

// The parts of to_half and from_half: integers of 32 bits, in as many lanes as there are.
typedef struct {
  emitter *e;
  LLVMTypeRef type, real;
} half_parts;

static LLVMValueRef number(const half_parts *h, int64_t value) {
  return tvms_emit_constant(h->e, h->type, value);
}

static LLVMValueRef shifted(const half_parts *h, LLVMValueRef value, bool left,
                            int by) {
  return left ? LLVMBuildShl(h->e->builder, value, number(h, by), "")
              : LLVMBuildLShr(h->e->builder, value, number(h, by), "");
}

static LLVMValueRef masked(const half_parts *h, LLVMValueRef value, int64_t mask) {
  return LLVMBuildAnd(h->e->builder, value, number(h, mask), "");
}

// `yes` from `limit` on, else `no`.
static LLVMValueRef from(const half_parts *h, LLVMValueRef value, int64_t limit,
                         LLVMValueRef yes, LLVMValueRef no) {
  LLVMBuilderRef b = h->e->builder;
  LLVMValueRef test = LLVMBuildICmp(b, LLVMIntUGE, value, number(h, limit), "");
  return LLVMBuildSelect(b, test, yes, no, "");
}

// The bits of a float16 from those of a float32, ties to even.
static LLVMValueRef half_of_bits(const half_parts *h, LLVMValueRef bits) {
  LLVMBuilderRef b = h->e->builder;
  LLVMValueRef rest = masked(h, bits, 0x7FFFFFFF);
  LLVMValueRef sign = masked(h, shifted(h, bits, false, 16), 0x8000);
  LLVMValueRef payload = masked(h, shifted(h, rest, false, 13), 0x3FF);
  LLVMValueRef nan = LLVMBuildOr(b, payload, number(h, 0x7E00), "");
  LLVMValueRef even = masked(h, shifted(h, rest, false, 13), 1);
  LLVMValueRef up = LLVMBuildAdd(b, rest, number(h, 0xFFF - 0x38000000), "");
  LLVMValueRef normal = shifted(h, LLVMBuildAdd(b, up, even, ""), false, 13);
  // The sum with a half has the bits of a small result at its end.
  LLVMValueRef half = LLVMBuildBitCast(b, number(h, 0x3F000000), h->real, "");
  LLVMValueRef sum = LLVMBuildFAdd(b, LLVMBuildBitCast(b, rest, h->real, ""), half, "");
  LLVMValueRef small =
      LLVMBuildSub(b, LLVMBuildBitCast(b, sum, h->type, ""), number(h, 0x3F000000), "");
  LLVMValueRef finite = from(h, rest, 0x38800000, normal, small);
  LLVMValueRef all = from(h, rest, 0x477FF000, number(h, 0x7C00), finite);
  return LLVMBuildOr(b, from(h, rest, 0x7F800001, nan, all), sign, "");
}

// The bits of a float32 from those of a float16.
static LLVMValueRef bits_of_half(const half_parts *h, LLVMValueRef half) {
  LLVMBuilderRef b = h->e->builder;
  LLVMValueRef rest = masked(h, half, 0x7FFF);
  LLVMValueRef sign = shifted(h, masked(h, half, 0x8000), true, 16);
  LLVMValueRef high = shifted(h, rest, true, 13);
  LLVMValueRef normal = LLVMBuildAdd(b, high, number(h, 0x38000000), "");
  LLVMValueRef special = LLVMBuildAdd(b, high, number(h, 0x70000000), "");
  LLVMValueRef scale = LLVMBuildBitCast(b, number(h, 0x33800000), h->real, "");
  LLVMValueRef count = LLVMBuildSIToFP(b, rest, h->real, "");
  LLVMValueRef small =
      LLVMBuildBitCast(b, LLVMBuildFMul(b, count, scale, ""), h->type, "");
  LLVMValueRef finite = from(h, rest, 0x400, normal, small);
  return LLVMBuildOr(b, from(h, rest, 0x7C00, special, finite), sign, "");
}

static LLVMValueRef to_half(emitter *e, LLVMValueRef value) {
  half_parts h = {e, like(value, e->i32), LLVMTypeOf(value)};
  if (e->without_half) {
    LLVMValueRef bits = LLVMBuildBitCast(e->builder, value, h.type, "");
    return LLVMBuildTrunc(e->builder, half_of_bits(&h, bits), like(value, e->i16), "");
  }
  LLVMTypeRef half = like(value, LLVMHalfTypeInContext(e->llvm));
  LLVMValueRef narrow = LLVMBuildFPTrunc(e->builder, value, half, "");
  return LLVMBuildBitCast(e->builder, narrow, like(value, e->i16), "");
}

static const char fence_name[] = "llvm.arithmetic.fence";

// A vector behind which LLVM does not look. It computes with halves where what was converted is compared, rounded or made
// an integer, and most x86 have no such instructions: they would go lane by lane.
static LLVMValueRef fenced(emitter *e, LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind || LLVMIsConstant(value))
    return value;
  unsigned id = LLVMLookupIntrinsicID(fence_name, sizeof fence_name - 1);
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(e->module, id, &type, 1);
  LLVMTypeRef form = LLVMIntrinsicGetType(e->llvm, id, &type, 1);
  return LLVMBuildCall2(e->builder, form, function, &value, 1, "");
}

// What is behind a fence, or the value.
static LLVMValueRef unfenced(LLVMValueRef value) {
  unsigned id = LLVMLookupIntrinsicID(fence_name, sizeof fence_name - 1);
  bool is_fence =
      LLVMIsACallInst(value) && LLVMGetIntrinsicID(LLVMGetCalledValue(value)) == id;
  return is_fence ? LLVMGetOperand(value, 0) : value;
}

static LLVMValueRef from_half(emitter *e, LLVMValueRef bits) {
  half_parts h = {e, like(bits, e->i32), like(bits, e->f32)};
  if (e->without_half) {
    LLVMValueRef wide = LLVMBuildZExt(e->builder, bits, h.type, "");
    return LLVMBuildBitCast(e->builder, bits_of_half(&h, wide), h.real, "");
  }
  LLVMTypeRef half = like(bits, LLVMHalfTypeInContext(e->llvm));
  LLVMValueRef narrow = LLVMBuildBitCast(e->builder, bits, half, "");
  return fenced(e, LLVMBuildFPExt(e->builder, narrow, like(bits, e->f32), ""));
}

static LLVMValueRef TVMS_NULLABLE operand_of(LLVMValueRef value, LLVMOpcode opcode) {
  bool made = LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == opcode;
  return made ? LLVMGetOperand(value, 0) : NULL;
}

// The bits that a float of 16 bits has in memory, if it was loaded and has only changed its lane since; NULL: it is computed.
static LLVMValueRef TVMS_NULLABLE bits_of_moved(emitter *e, tvms_dtype dtype,
                                                LLVMValueRef value) {
  bool half = dtype.code == TVMS_FLOAT;
  LLVMValueRef narrow = half ? operand_of(unfenced(value), LLVMFPExt) : NULL;
  if (narrow) return LLVMBuildBitCast(e->builder, narrow, like(value, e->i16), "");
  LLVMValueRef wide = half ? NULL : operand_of(value, LLVMBitCast);
  LLVMValueRef shifted = wide ? operand_of(wide, LLVMShl) : NULL;
  LLVMValueRef bits = shifted ? operand_of(shifted, LLVMZExt) : NULL;
  if (bits) return LLVMTypeOf(bits) == like(value, e->i16) ? bits : NULL;
  LLVMValueRef first = operand_of(value, LLVMShuffleVector);
  if (!first) return NULL;
  LLVMValueRef second = LLVMGetOperand(value, 1), from[2];
  from[0] = bits_of_moved(e, dtype, first);
  from[1] = LLVMIsUndef(second) && from[0] ? LLVMGetUndef(LLVMTypeOf(from[0]))
                                           : bits_of_moved(e, dtype, second);
  if (!from[0] || !from[1]) return NULL;
  unsigned lanes = LLVMGetNumMaskElements(value);
  LLVMValueRef *mask = tvms_arena_array(&e->context->scratch, LLVMValueRef, lanes);
  for (unsigned i = 0; i < lanes; i++) {
    int lane = LLVMGetMaskValue(value, i);
    mask[i] = lane == LLVMGetUndefMaskElem()
                  ? LLVMGetUndef(e->i32)
                  : LLVMConstInt(e->i32, (unsigned)lane, false);
  }
  return LLVMBuildShuffleVector(e->builder, from[0], from[1],
                                LLVMConstVector(mask, lanes), "");
}

// What is put in another order goes from memory to memory as it is, and what was rounded is rounded once.
static LLVMValueRef TVMS_NULLABLE kept_bits(emitter *e, tvms_dtype dtype,
                                            LLVMValueRef value) {
  bool moved = operand_of(value, LLVMShuffleVector) || unfenced(value) != value;
  return moved ? bits_of_moved(e, dtype, value) : NULL;
}

static LLVMValueRef to_memory(emitter *e, tvms_dtype dtype, LLVMValueRef value) {
  if (dtype.code == TVMS_BOOL) {
    return LLVMBuildZExt(e->builder, value, like(value, e->i8), "");
  }
  const tvms_small_float *kind = small_kind(dtype);
  if (!kind) return value;
  if (kind->bits == 8) return tvms_emit_float8_bits(e, kind, value);
  LLVMValueRef moved = e->without_half ? NULL : kept_bits(e, dtype, value);
  if (moved) return moved;
  return dtype.code == TVMS_FLOAT ? to_half(e, value) : to_bfloat(e, value);
}

static LLVMValueRef from_memory(emitter *e, tvms_dtype dtype, LLVMValueRef value) {
  if (dtype.code == TVMS_BOOL) {
    LLVMValueRef zero = constant_like(e, value, e->i8, 0);
    return LLVMBuildICmp(e->builder, LLVMIntNE, value, zero, "");
  }
  const tvms_small_float *kind = small_kind(dtype);
  if (!kind) return value;
  if (kind->bits == 8) return tvms_emit_float8_value(e, kind, value);
  return dtype.code == TVMS_FLOAT ? from_half(e, value) : from_bfloat(e, value);
}

LLVMValueRef tvms_emit_half_of_c(emitter *e, LLVMValueRef value) {
  return LLVMBuildBitCast(e->builder, to_half(e, value), LLVMHalfTypeInContext(e->llvm),
                          "");
}

LLVMValueRef tvms_emit_from_half_of_c(emitter *e, LLVMValueRef half) {
  return from_half(e, LLVMBuildBitCast(e->builder, half, e->i16, ""));
}

LLVMValueRef tvms_emit_round(emitter *e, tvms_dtype dtype, LLVMValueRef value) {
  return small_kind(dtype) ? from_memory(e, dtype, to_memory(e, dtype, value)) : value;
}

static unsigned alignment_of(tvms_dtype dtype) {
  return dtype.code == TVMS_BOOL ? 1 : dtype.bits / 8u;
}

LLVMValueRef tvms_emit_load(emitter *e, tvms_dtype dtype, LLVMValueRef at,
                            tvms_span span) {
  LLVMTypeRef type = tvms_emit_memory_type(e, dtype, span);
  LLVMValueRef value = LLVMBuildLoad2(e->builder, type, at, "");
  LLVMSetAlignment(value, alignment_of(dtype));
  return from_memory(e, dtype, value);
}

LLVMValueRef tvms_emit_store(emitter *e, tvms_dtype dtype, LLVMValueRef value,
                             LLVMValueRef at, tvms_span span) {
  (void)tvms_emit_memory_type(e, dtype, span);
  LLVMValueRef stored = LLVMBuildStore(e->builder, to_memory(e, dtype, value), at);
  LLVMSetAlignment(stored, alignment_of(dtype));
  return stored;
}

// The same in every lane of a type of floats.
static LLVMValueRef real_in_lanes(LLVMTypeRef type, double value) {
  LLVMValueRef lanes[MOST_SATURATED];
  unsigned count = LLVMGetVectorSize(type);
  for (unsigned i = 0; i < count; i++)
    lanes[i] = LLVMConstReal(LLVMGetElementType(type), value);
  return LLVMConstVector(lanes, count);
}

static LLVMValueRef power_of_two(LLVMTypeRef type, unsigned exponent, double sign) {
  return real_in_lanes(type, ldexp(sign, (int)exponent));
}

static LLVMValueRef whole_in_lanes(LLVMTypeRef type, uint64_t value) {
  LLVMValueRef lanes[MOST_SATURATED];
  unsigned count = LLVMGetVectorSize(type);
  for (unsigned i = 0; i < count; i++)
    lanes[i] = LLVMConstInt(LLVMGetElementType(type), value, false);
  return LLVMConstVector(lanes, count);
}

// Does LLVM have vectors of saturated integers in vectors? For x86 it takes them apart.
static bool takes_saturation_apart(emitter *e, LLVMTypeRef from, LLVMTypeRef to) {
  static const char x86[] = "x86_64";
  bool vector = LLVMGetTypeKind(from) == LLVMVectorTypeKind
                && LLVMGetVectorSize(from) <= MOST_SATURATED;
  if (!vector || strncmp(LLVMGetTarget(e->module), x86, sizeof x86 - 1) != 0)
    return false;
  LLVMTypeKind kind = LLVMGetTypeKind(LLVMGetElementType(from));
  bool known = kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind;
  return known && LLVMGetIntTypeWidth(LLVMGetElementType(to)) >= 8;
}

// The same by a plain conversion of what is in range; both ends of the range are powers of two. Where
// something is neither in range nor beyond an end, it is NaN, and 0 is what is converted for it.
static LLVMValueRef saturate_vectors(emitter *e, bool is_signed, LLVMTypeRef to,
                                     LLVMValueRef value) {
  LLVMBuilderRef b = e->builder;
  LLVMTypeRef from = LLVMTypeOf(value);
  unsigned bits = LLVMGetIntTypeWidth(LLVMGetElementType(to));
  unsigned exponent = is_signed ? bits - 1 : bits;
  uint64_t all = bits < 64 ? (1ull << bits) - 1 : ~0ull;
  LLVMValueRef zero = LLVMConstNull(from), end = power_of_two(from, exponent, 1);
  LLVMValueRef begin = is_signed ? power_of_two(from, exponent, -1) : zero;
  LLVMValueRef below = LLVMBuildFCmp(b, LLVMRealOLT, value, begin, "");
  LLVMValueRef beyond = LLVMBuildFCmp(b, LLVMRealOGE, value, end, "");
  LLVMValueRef inside = LLVMBuildAnd(b, LLVMBuildFCmp(b, LLVMRealOGE, value, begin, ""),
                                     LLVMBuildFCmp(b, LLVMRealOLT, value, end, ""), "");
  LLVMValueRef safe = LLVMBuildSelect(b, inside, value, zero, "");
  LLVMValueRef made =
      is_signed ? LLVMBuildFPToSI(b, safe, to, "") : LLVMBuildFPToUI(b, safe, to, "");
  LLVMValueRef most = whole_in_lanes(to, is_signed ? all >> 1 : all);
  LLVMValueRef least = whole_in_lanes(to, is_signed ? (all >> 1) + 1 : 0);
  made = LLVMBuildSelect(b, beyond, most, made, "");
  return LLVMBuildSelect(b, below, least, made, "");
}

// Are both ends of the range of an integer floats of the type?
static bool has_ends(LLVMTypeRef from, LLVMTypeRef to) {
  enum { FLOAT_DIGITS = 24, DOUBLE_DIGITS = 53 };
  bool wide = LLVMGetTypeKind(LLVMGetElementType(from)) == LLVMDoubleTypeKind;
  return LLVMGetIntTypeWidth(LLVMGetElementType(to))
         <= (wide ? DOUBLE_DIGITS : FLOAT_DIGITS);
}

// The same where both ends are floats: what lies beyond one is replaced by it, and NaN by 0. Integers of less than 32 bits are the
// lower part of those, which a processor converts.
static LLVMValueRef limit_vectors(emitter *e, bool is_signed, LLVMTypeRef to,
                                  LLVMValueRef value) {
  LLVMBuilderRef b = e->builder;
  LLVMTypeRef from = LLVMTypeOf(value), wide = to;
  unsigned bits = LLVMGetIntTypeWidth(LLVMGetElementType(to));
  double end = (double)(1ull << (is_signed ? bits - 1 : bits));
  LLVMValueRef least = real_in_lanes(from, is_signed ? -end : 0),
               most = real_in_lanes(from, end - 1);
  LLVMValueRef above = LLVMBuildFCmp(b, LLVMRealOGT, value, least, "");
  LLVMValueRef inside = LLVMBuildSelect(b, above, value, least, "");
  LLVMValueRef below = LLVMBuildFCmp(b, LLVMRealOLT, inside, most, "");
  inside = LLVMBuildSelect(b, below, inside, most, "");
  LLVMValueRef number = LLVMBuildFCmp(b, LLVMRealORD, value, value, "");
  inside = LLVMBuildSelect(b, number, inside, LLVMConstNull(from), "");
  if (bits < 32) wide = like(value, e->i32), is_signed = true;
  LLVMValueRef made = is_signed ? LLVMBuildFPToSI(b, inside, wide, "")
                                : LLVMBuildFPToUI(b, inside, wide, "");
  return bits < 32 ? LLVMBuildTrunc(b, made, to, "") : made;
}

// Float to integer: towards zero, saturating, NaN to 0 (runtime/number.h).
static LLVMValueRef saturate(emitter *e, bool is_signed, LLVMTypeRef to,
                             LLVMValueRef value) {
  if (takes_saturation_apart(e, LLVMTypeOf(value), to))
    return has_ends(LLVMTypeOf(value), to) ? limit_vectors(e, is_signed, to, value)
                                           : saturate_vectors(e, is_signed, to, value);
  const char *name = is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMTypeRef types[] = {to, LLVMTypeOf(value)};
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(e->module, id, types, 2);
  LLVMTypeRef type = LLVMIntrinsicGetType(e->llvm, id, types, 2);
  return LLVMBuildCall2(e->builder, type, function, &value, 1, "");
}

LLVMValueRef tvms_emit_convert(emitter *e, tvms_dtype from, tvms_dtype to,
                               LLVMValueRef value, tvms_span span) {
  LLVMTypeRef type = tvms_emit_type(e, to, span);
  LLVMBuilderRef b = e->builder;
  bool from_real = tvms_dtype_is_real(from), to_real = tvms_dtype_is_real(to);
  bool is_signed = from.code == TVMS_INT;
  if (to.code == TVMS_HANDLE || from.code == TVMS_HANDLE) {
    if (to.code == from.code) return value;
    return to.code == TVMS_HANDLE ? LLVMBuildIntToPtr(b, value, type, "")
                                  : LLVMBuildPtrToInt(b, value, type, "");
  }
  if (to.code == TVMS_BOOL) {
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(value));
    return from_real ? LLVMBuildFCmp(b, LLVMRealUNE, value, zero, "")
                     : LLVMBuildICmp(b, LLVMIntNE, value, zero, "");
  }
  if (from_real && to_real) {
    return tvms_emit_round(e, to, LLVMBuildFPCast(b, value, type, ""));
  }
  if (from_real) return saturate(e, to.code == TVMS_INT, type, value);
  if (to_real) {
    return tvms_emit_round(e, to,
                           is_signed ? LLVMBuildSIToFP(b, value, type, "")
                                     : LLVMBuildUIToFP(b, value, type, ""));
  }
  return LLVMBuildIntCast2(b, value, type, is_signed, "");
}
