// Element kinds as bits.
#include "runtime/number.h"

#include "runtime/small_float.h"

#include <math.h>
#include <string.h>

size_t tvms_dl_element_size(tvms_dl_type type) {
  if (type.code == TVMS_DL_BOOL) return 1;
  if (type.code == TVMS_DL_HANDLE) return sizeof(void *);
  if (tvms_scalar_kind_is_real(type.code)) {
    bool wide = type.code == TVMS_DL_FLOAT && (type.bits == 32 || type.bits == 64);
    return wide || tvms_small_float_of(type) ? type.bits / 8u : 0;
  }
  bool whole = type.bits == 8 || type.bits == 16 || type.bits == 32 || type.bits == 64;
  return whole ? type.bits / 8u : 0;
}

// ---- float16 and bfloat16, which are common: by the bits of float32 ----

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

// A float as a float16: the exponent counts from 112 less, and 13 bits are rounded away.
static uint32_t encode_half(float value) {
  uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000;
  bits &= 0x7FFFFFFF;
  if (bits > 0x7F800000) return sign | 0x7E00;
  if (bits >= 0x47800000) return sign | 0x7C00;
  if (bits < 0x38800000)  // the steps of subnormal numbers are all the same
    return sign | (uint32_t)nearbyintf(fabsf(value) * 0x1p24f);
  return sign | (bits - (112u << 23) + 0xFFF + (bits >> 13 & 1)) >> 13;
}

static double decode_half(uint32_t code) {
  uint32_t sign = (code & 0x8000) << 16, rest = code & 0x7FFF;
  if (rest > 0x7C00) return of_bits(sign | 0x7FC00000);
  if (rest == 0x7C00) return of_bits(sign | 0x7F800000);
  if (rest < 0x400) return sign ? -(double)rest * 0x1p-24 : (double)rest * 0x1p-24;
  return of_bits(sign | ((rest << 13) + (112u << 23)));
}

static uint32_t encode_brain(float value) {
  uint32_t bits = bits_of(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return (bits >> 16 & 0x8000) | 0x7FC0;
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

static double decode_brain(uint32_t code) {
  bool nan = (code & 0x7FFF) > 0x7F80;
  return of_bits(nan ? (code & 0x8000) << 16 | 0x7FC00000 : code << 16);
}

// Rounds a value of float32 to the 16 bits of a kind.
static uint32_t encode_16(bool brain, float value) {
  return brain ? encode_brain(value) : encode_half(value);
}

static double decode_16(bool brain, uint32_t code) {
  return brain ? decode_brain(code) : decode_half(code);
}

static bool is_16(tvms_dl_type type) {
  return type.bits == 16 && (type.code == TVMS_DL_FLOAT || type.code == TVMS_DL_BFLOAT);
}

// ---- All kinds ----

static int64_t wrap(int64_t value, tvms_dl_type type) {
  if (type.code == TVMS_DL_BOOL || type.bits == 1) return value != 0;
  if (type.bits >= 64) return value;
  uint64_t mask = ((uint64_t)1 << type.bits) - 1;
  uint64_t low = (uint64_t)value & mask;
  bool negative = type.code == TVMS_DL_INT && low >> (type.bits - 1);
  return (int64_t)(negative ? low | ~mask : low);
}

tvms_scalar tvms_scalar_fit(tvms_scalar value, tvms_dl_type type) {
  if (type.code == TVMS_DL_HANDLE) return value;
  if (!tvms_scalar_kind_is_real(type.code))
    return (tvms_scalar){.i = wrap(value.i, type)};
  if (type.code == TVMS_DL_FLOAT && type.bits == 64) return value;
  double narrow = (double)(float)value.f;
  if (type.code == TVMS_DL_FLOAT && type.bits == 32) return (tvms_scalar){.f = narrow};
  bool brain = type.code == TVMS_DL_BFLOAT;
  if (is_16(type))
    return (tvms_scalar){.f = decode_16(brain, encode_16(brain, (float)value.f))};
  const tvms_small_float *kind = tvms_small_float_of(type);
  if (!kind) return value;
  // By way of float32, as compiled code does.
  return (tvms_scalar){
      .f = tvms_small_float_decode(kind, tvms_small_float_encode(kind, narrow))};
}

// Towards zero, saturating; NaN gives 0.
static int64_t to_integer(double value, tvms_dl_type type) {
  if (isnan(value)) return 0;
  if (type.code == TVMS_DL_BOOL || type.bits == 1) return value != 0;
  bool is_signed = type.code == TVMS_DL_INT;
  int bits = type.bits > 64 ? 64 : type.bits;
  double low = is_signed ? -ldexp(1, bits - 1) : 0;
  double end = ldexp(1, is_signed ? bits - 1 : bits);
  value = trunc(value);
  if (value < low) value = low;
  if (is_signed) {
    return value >= end ? (int64_t)(UINT64_MAX >> (65 - bits)) : (int64_t)value;
  }
  return (int64_t)(value >= end ? UINT64_MAX >> (64 - bits) : (uint64_t)value);
}

tvms_scalar tvms_scalar_convert(tvms_scalar value, tvms_dl_type from, tvms_dl_type to) {
  bool from_real = tvms_scalar_kind_is_real(from.code);
  bool to_real = tvms_scalar_kind_is_real(to.code);
  if (from_real && to_real) return tvms_scalar_fit(value, to);
  if (from_real) {
    if (to.code == TVMS_DL_BOOL) return (tvms_scalar){.i = value.f != 0};
    return (tvms_scalar){.i = to_integer(value.f, to)};
  }
  if (!to_real) return tvms_scalar_fit(value, to);
  bool large = from.code == TVMS_DL_UINT && value.i < 0;
  if (to.code == TVMS_DL_FLOAT && to.bits == 64) {
    return (tvms_scalar){.f = large ? (double)(uint64_t)value.i : (double)value.i};
  }
  // One rounding, not two: 64-bit integers do not all fit a double.
  float narrow = large ? (float)(uint64_t)value.i : (float)value.i;
  return tvms_scalar_fit((tvms_scalar){.f = (double)narrow}, to);
}

tvms_scalar tvms_dl_element_get(const void *at, tvms_dl_type type) {
  tvms_scalar value = {.i = 0};
  if (type.code == TVMS_DL_FLOAT && type.bits == 32) {
    float narrow;
    memcpy(&narrow, at, sizeof narrow);
    value.f = (double)narrow;
    return value;
  }
  if (is_16(type)) {
    uint16_t code;
    memcpy(&code, at, sizeof code);
    value.f = decode_16(type.code == TVMS_DL_BFLOAT, code);
    return value;
  }
  size_t size = tvms_dl_element_size(type);
  uint64_t bits = 0;
  memcpy(&bits, at, size);
  if (tvms_scalar_kind_is_real(type.code) && size < 8) {
    value.f = tvms_small_float_decode(tvms_small_float_of(type), (uint32_t)bits);
    return value;
  }
  memcpy(&value, &bits, sizeof value);
  bool integer = type.code == TVMS_DL_INT || type.code == TVMS_DL_BOOL;
  if (integer) value.i = wrap(value.i, type);
  return value;
}

void tvms_dl_element_set(void *at, tvms_dl_type type, tvms_scalar value) {
  if (type.code == TVMS_DL_FLOAT && type.bits == 32) {
    float narrow = (float)value.f;
    memcpy(at, &narrow, sizeof narrow);
    return;
  }
  // The value may be one that does not fit: then it is rounded once, from the double.
  if (is_16(type) && ((double)(float)value.f == value.f || isnan(value.f))) {
    uint16_t code = (uint16_t)encode_16(type.code == TVMS_DL_BFLOAT, (float)value.f);
    memcpy(at, &code, sizeof code);
    return;
  }
  size_t size = tvms_dl_element_size(type);
  uint64_t bits;
  if (tvms_scalar_kind_is_real(type.code) && size < 8)
    bits = tvms_small_float_encode(tvms_small_float_of(type), value.f);
  else
    memcpy(&bits, &value, sizeof bits);
  memcpy(at, &bits, size);
}
