// Floats of 16 bits and less, described by the sizes of their exponent and mantissa: one routine rounds and one decodes
// them all, and emitters make code of the same description.
#ifndef TVMS_RUNTIME_SMALL_FLOAT_H
#define TVMS_RUNTIME_SMALL_FLOAT_H

#include "runtime/abi.h"

// A float of `exponent` and `mantissa` bits. What the largest exponent means differs.
typedef struct {
  uint8_t code;
  uint8_t bits;
  uint8_t exponent;
  uint8_t mantissa;
  int8_t bias;
  enum {
    TVMS_SMALL_IEEE,      // largest exponent: infinity and NaN
    TVMS_SMALL_FN,        // finite: only all ones is NaN
    TVMS_SMALL_FNUZ,      // finite, no negative zero: its code is NaN
    TVMS_SMALL_UNSIGNED,  // a power of two without sign; all ones is NaN
  } style;
} tvms_small_float;

// The description of a kind; NULL if it is none of these.
const tvms_small_float *TVMS_NULLABLE tvms_small_float_of(tvms_dl_type type);

// The code of NaN, without its sign.
uint32_t tvms_small_float_nan(const tvms_small_float *kind);

// The largest code that is no NaN, without its sign: of infinity where the kind has it.
uint32_t tvms_small_float_largest(const tvms_small_float *kind);

// The value that a code stands for.
double tvms_small_float_decode(const tvms_small_float *kind, uint32_t code);

// The code nearest to a value, as ml_dtypes rounds: ties to even, what is too large becomes infinity or, in kinds that
// have none, NaN. NaN keeps its sign where there is one. Of powers of two (TVMS_SMALL_UNSIGNED) ties go up, and what
// is less than the least, also 0, becomes the least; below 0 is NaN.
uint32_t tvms_small_float_encode(const tvms_small_float *kind, double value);

#endif
