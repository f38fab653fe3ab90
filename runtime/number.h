// Scalars of every element kind: reading, writing, rounding.
//
// A scalar in flight is 64 bits: an integer kind keeps its value sign- or zero-extended,
// a kind with a fraction keeps its exact value as a double. tvms_scalar_fit brings any result
// back into the range of its kind, as C does for arithmetic of that width.
#ifndef TVMS_RUNTIME_NUMBER_H
#define TVMS_RUNTIME_NUMBER_H

#include "runtime/abi.h"

typedef union {
  int64_t i;
  double f;
  float s;  // of a float32 in code of the interpreter only (interp/code.h)
  void *p;
} tvms_scalar;

// True for every kind that a scalar keeps in `f`.
static inline bool tvms_scalar_kind_is_real(uint8_t code) {
  return code == TVMS_DL_FLOAT || code == TVMS_DL_BFLOAT || code > TVMS_DL_BOOL;
}

static inline bool tvms_dl_same_type(tvms_dl_type a, tvms_dl_type b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

// Bytes that one element of one lane takes in memory; 0 for kinds smaller than a byte and
// others that have no address.
size_t tvms_dl_element_size(tvms_dl_type type);

// The element of one lane at `at`, which need not be aligned. `type.lanes` is not looked at.
tvms_scalar tvms_dl_element_get(const void *at, tvms_dl_type type);

// Writes an element of one lane; the value must fit already (tvms_scalar_fit).
void tvms_dl_element_set(void *at, tvms_dl_type type, tvms_scalar value);

// Wraps an integer to `bits`, or rounds a real to the nearest value of its kind (ties to
// even; runtime/small_float.h says what is too large).
tvms_scalar tvms_scalar_fit(tvms_scalar value, tvms_dl_type type);

// Converts between kinds. Integers wrap, reals round, a real becomes an integer towards
// zero and saturates at the ends of its range, NaN becomes 0 (LLVM: fptosi.sat).
tvms_scalar tvms_scalar_convert(tvms_scalar value, tvms_dl_type from, tvms_dl_type to);

#endif
