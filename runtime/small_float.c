// Floats of 16 bits and less as bits.
#include "runtime/small_float.h"

#include <math.h>

static const tvms_small_float small_floats[] = {
    {TVMS_DL_FLOAT, 16, 5, 10, 15, TVMS_SMALL_IEEE},
    {TVMS_DL_BFLOAT, 16, 8, 7, 127, TVMS_SMALL_IEEE},
    {7, 8, 3, 4, 3, TVMS_SMALL_IEEE},         // float8_e3m4
    {8, 8, 4, 3, 7, TVMS_SMALL_IEEE},         // float8_e4m3
    {9, 8, 4, 3, 11, TVMS_SMALL_FNUZ},        // float8_e4m3b11fnuz
    {10, 8, 4, 3, 7, TVMS_SMALL_FN},          // float8_e4m3fn
    {11, 8, 4, 3, 8, TVMS_SMALL_FNUZ},        // float8_e4m3fnuz
    {12, 8, 5, 2, 15, TVMS_SMALL_IEEE},       // float8_e5m2
    {13, 8, 5, 2, 16, TVMS_SMALL_FNUZ},       // float8_e5m2fnuz
    {14, 8, 8, 0, 127, TVMS_SMALL_UNSIGNED},  // float8_e8m0fnu
};

const tvms_small_float *tvms_small_float_of(tvms_dl_type type) {
  for (size_t i = 0; i < sizeof small_floats / sizeof small_floats[0]; i++) {
    const tvms_small_float *kind = &small_floats[i];
    if (kind->code == type.code && kind->bits == type.bits) return kind;
  }
  return NULL;
}

// Every bit but the sign.
static uint32_t magnitude_bits(const tvms_small_float *kind) {
  return (1u << (kind->bits - 1)) - 1;
}

double tvms_small_float_decode(const tvms_small_float *kind, uint32_t code) {
  uint32_t fraction = code & ((1u << kind->mantissa) - 1);
  uint32_t top = (1u << kind->exponent) - 1;
  uint32_t exponent = (code >> kind->mantissa) & top;
  if (kind->style == TVMS_SMALL_UNSIGNED) {
    return exponent == top ? (double)NAN : ldexp(1, (int)exponent - kind->bias);
  }
  bool negative = code >> (kind->bits - 1);
  uint32_t magnitude = code & magnitude_bits(kind);
  if (kind->style == TVMS_SMALL_FNUZ && negative && magnitude == 0) return (double)NAN;
  double value = exponent ? ldexp((double)(fraction + (1u << kind->mantissa)),
                                  (int)exponent - kind->bias - kind->mantissa)
                          : ldexp((double)fraction, 1 - kind->bias - kind->mantissa);
  if (kind->style == TVMS_SMALL_FN && magnitude == magnitude_bits(kind))
    value = (double)NAN;
  if (kind->style == TVMS_SMALL_IEEE && exponent == top)
    value = fraction ? (double)NAN : (double)INFINITY;
  return negative ? -value : value;
}

uint32_t tvms_small_float_nan(const tvms_small_float *kind) {
  uint32_t all = magnitude_bits(kind);
  switch (kind->style) {
  case TVMS_SMALL_IEEE: return all ^ ((1u << (kind->mantissa - 1)) - 1);  // quiet
  case TVMS_SMALL_FN: return all;
  case TVMS_SMALL_FNUZ: return all + 1;
  case TVMS_SMALL_UNSIGNED: break;
  }
  return 0xFF;
}

uint32_t tvms_small_float_largest(const tvms_small_float *kind) {
  switch (kind->style) {
  case TVMS_SMALL_IEEE: return ((1u << kind->exponent) - 1) << kind->mantissa;
  case TVMS_SMALL_FN: return magnitude_bits(kind) - 1;
  case TVMS_SMALL_FNUZ: return magnitude_bits(kind);
  case TVMS_SMALL_UNSIGNED: break;
  }
  return 0xFE;
}

// What is beyond the largest finite value.
static uint32_t beyond(const tvms_small_float *kind) {
  return kind->style == TVMS_SMALL_IEEE ? tvms_small_float_largest(kind)
                                        : tvms_small_float_nan(kind);
}

// The code nearest to a magnitude that is not NaN: significand and exponent are rounded in
// one step, because codes of growing numbers are growing integers.
static uint32_t encode_magnitude(const tvms_small_float *kind, double magnitude) {
  if (magnitude == 0) return 0;
  int exponent;
  if (isinf(magnitude)) return beyond(kind);
  frexp(magnitude, &exponent);
  int lowest = 1 - kind->bias;
  int power = exponent - 1 < lowest ? lowest : exponent - 1;
  double steps = nearbyint(ldexp(magnitude, kind->mantissa - power));
  double code = steps + ldexp((double)(power - lowest), kind->mantissa);
  return code <= tvms_small_float_largest(kind) ? (uint32_t)code : beyond(kind);
}

static uint32_t encode_power(const tvms_small_float *kind, double value) {
  int exponent, most = kind->bias;
  if (isnan(value) || isinf(value) || value < 0) return tvms_small_float_nan(kind);
  if (value == 0) return 0;
  int power = frexp(value, &exponent) < 0.75 ? exponent - 1 : exponent;
  if (power > most) return tvms_small_float_nan(kind);
  return power < -most ? 0 : (uint32_t)(power + most);
}

uint32_t tvms_small_float_encode(const tvms_small_float *kind, double value) {
  if (kind->style == TVMS_SMALL_UNSIGNED) return encode_power(kind, value);
  uint32_t code =
      isnan(value) ? tvms_small_float_nan(kind) : encode_magnitude(kind, fabs(value));
  bool has_sign = kind->style != TVMS_SMALL_FNUZ || (code & magnitude_bits(kind));
  return signbit(value) && has_sign ? code | 1u << (kind->bits - 1) : code;
}
