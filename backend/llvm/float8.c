// Floats of 8 bits, with integers of 32 bits in as many lanes as there are.
//
// A float32 has 23 bits behind its exponent, so a kind with `mantissa` bits loses `shift` = 23 - mantissa of them. What is
// normal there is rounded by a sum that carries into the exponent, what is less by one of floats, whose last bit is
// worth the kind's least value.
#include "backend/llvm/float8.h"

#include "backend/llvm/types.h"

enum { INFINITE = 0x7F800000, ONE = 127 << 23 };

typedef struct {
  emitter *e;
  LLVMBuilderRef b;
  const tvms_small_float *kind;
  LLVMTypeRef whole, real;
  int shift;
} parts;

static parts parts_of(emitter *e, const tvms_small_float *kind, LLVMTypeRef like) {
  bool vector = LLVMGetTypeKind(like) == LLVMVectorTypeKind;
  unsigned lanes = vector ? LLVMGetVectorSize(like) : 1;
  return (parts){
      .e = e,
      .b = e->builder,
      .kind = kind,
      .whole = vector ? LLVMVectorType(e->i32, lanes) : e->i32,
      .real = vector ? LLVMVectorType(e->f32, lanes) : e->f32,
      .shift = 23 - kind->mantissa,
  };
}

static LLVMValueRef number(const parts *p, int64_t value) {
  return tvms_emit_constant(p->e, p->whole, value);
}

static LLVMValueRef add(const parts *p, LLVMValueRef a, int64_t value) {
  return LLVMBuildAdd(p->b, a, number(p, value), "");
}

static LLVMValueRef masked(const parts *p, LLVMValueRef value, int64_t mask) {
  return LLVMBuildAnd(p->b, value, number(p, mask), "");
}

static LLVMValueRef right(const parts *p, LLVMValueRef value, int by) {
  return LLVMBuildLShr(p->b, value, number(p, by), "");
}

static LLVMValueRef left(const parts *p, LLVMValueRef value, int by) {
  return LLVMBuildShl(p->b, value, number(p, by), "");
}

static LLVMValueRef as_real(const parts *p, LLVMValueRef bits) {
  return LLVMBuildBitCast(p->b, bits, p->real, "");
}

static LLVMValueRef as_bits(const parts *p, LLVMValueRef value) {
  return LLVMBuildBitCast(p->b, value, p->whole, "");
}

// `yes` where the value is greater than `limit`, else `no`.
static LLVMValueRef beyond(const parts *p, LLVMValueRef value, int64_t limit,
                           LLVMValueRef yes, LLVMValueRef no) {
  LLVMValueRef test = LLVMBuildICmp(p->b, LLVMIntUGT, value, number(p, limit), "");
  return LLVMBuildSelect(p->b, test, yes, no, "");
}

// ---- To bits ----

// A power of two: half of a step more goes to the next one.
static LLVMValueRef power_bits(const parts *p, LLVMValueRef bits) {
  LLVMValueRef rest = masked(p, bits, INT32_MAX);
  LLVMValueRef code = right(p, add(p, rest, 0x400000), 23);
  code = beyond(p, rest, 0x5FFFFF, code, number(p, 0));
  code = beyond(p, rest, INFINITE, number(p, 0xFF), code);
  return beyond(p, bits, 0x80000000, number(p, 0xFF), code);
}

static LLVMValueRef rounded(const parts *p, LLVMValueRef rest) {
  int bias = 127 - p->kind->bias;
  int64_t unit = (int64_t)(127 + 24 - p->kind->bias - p->kind->mantissa) << 23;
  LLVMValueRef even = masked(p, right(p, rest, p->shift), 1);
  LLVMValueRef up = LLVMBuildAdd(p->b, rest, even, "");
  up = right(p, add(p, up, (1 << (p->shift - 1)) - 1), p->shift);
  LLVMValueRef normal = add(p, up, -((int64_t)bias << p->kind->mantissa));
  LLVMValueRef sum =
      LLVMBuildFAdd(p->b, as_real(p, rest), as_real(p, number(p, unit)), "");
  LLVMValueRef least = add(p, as_bits(p, sum), -unit);
  return beyond(p, rest, ((int64_t)(bias + 1) << 23) - 1, normal, least);
}

static LLVMValueRef signed_bits(const parts *p, LLVMValueRef bits) {
  LLVMValueRef rest = masked(p, bits, INT32_MAX);
  LLVMValueRef nan = number(p, tvms_small_float_nan(p->kind));
  int64_t largest = tvms_small_float_largest(p->kind);
  LLVMValueRef most = p->kind->style == TVMS_SMALL_IEEE ? number(p, largest) : nan;
  LLVMValueRef code = rounded(p, rest);
  code = beyond(p, code, largest, most, code);
  code = beyond(p, rest, INFINITE, nan, code);
  LLVMValueRef sign = masked(p, right(p, bits, 24), 0x80);
  if (p->kind->style == TVMS_SMALL_FNUZ)
    sign = beyond(p, masked(p, code, 0x7F), 0, sign, number(p, 0));
  return LLVMBuildOr(p->b, code, sign, "");
}

LLVMValueRef tvms_emit_float8_bits(emitter *e, const tvms_small_float *kind,
                                   LLVMValueRef value) {
  parts p = parts_of(e, kind, LLVMTypeOf(value));
  LLVMValueRef bits = as_bits(&p, value);
  bool power = kind->style == TVMS_SMALL_UNSIGNED;
  LLVMValueRef code = power ? power_bits(&p, bits) : signed_bits(&p, bits);
  bool vector = LLVMGetTypeKind(p.whole) == LLVMVectorTypeKind;
  LLVMTypeRef narrow =
      vector ? LLVMVectorType(e->i8, LLVMGetVectorSize(p.whole)) : e->i8;
  return LLVMBuildTrunc(e->builder, code, narrow, "");
}

// ---- From bits ----

static LLVMValueRef power_value(const parts *p, LLVMValueRef code) {
  LLVMValueRef bits = beyond(p, code, 0, left(p, code, 23), number(p, 0x400000));
  return beyond(p, code, 0xFE, number(p, 0x7FC00000), bits);
}

static LLVMValueRef signed_value(const parts *p, LLVMValueRef code) {
  const tvms_small_float *kind = p->kind;
  LLVMValueRef rest = masked(p, code, 0x7F);
  LLVMValueRef normal =
      add(p, left(p, rest, p->shift), (int64_t)(127 - kind->bias) << 23);
  int64_t unit = ONE + ((int64_t)(1 - kind->bias - kind->mantissa) * (1 << 23));
  LLVMValueRef count = LLVMBuildSIToFP(p->b, rest, p->real, "");
  LLVMValueRef least =
      as_bits(p, LLVMBuildFMul(p->b, count, as_real(p, number(p, unit)), ""));
  LLVMValueRef bits = beyond(p, rest, (1 << kind->mantissa) - 1, normal, least);
  int64_t largest = tvms_small_float_largest(kind);
  if (kind->style == TVMS_SMALL_IEEE)
    bits = beyond(p, rest, largest - 1, number(p, INFINITE), bits);
  bits = beyond(p, rest, largest, number(p, 0x7FC00000), bits);
  bits = LLVMBuildOr(p->b, bits, left(p, masked(p, code, 0x80), 24), "");
  if (kind->style != TVMS_SMALL_FNUZ) return bits;
  LLVMValueRef nan = LLVMBuildICmp(p->b, LLVMIntEQ, code, number(p, 0x80), "");
  return LLVMBuildSelect(p->b, nan, number(p, 0x7FC00000), bits, "");
}

LLVMValueRef tvms_emit_float8_value(emitter *e, const tvms_small_float *kind,
                                    LLVMValueRef bits) {
  parts p = parts_of(e, kind, LLVMTypeOf(bits));
  LLVMValueRef code = LLVMBuildZExt(e->builder, bits, p.whole, "");
  bool power = kind->style == TVMS_SMALL_UNSIGNED;
  return as_real(&p, power ? power_value(&p, code) : signed_value(&p, code));
}
