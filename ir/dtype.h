// Data types of TIR values: a scalar kind, its width and a number of lanes.
#ifndef TVMS_IR_DTYPE_H
#define TVMS_IR_DTYPE_H

#include "support/context.h"

// Codes of DLPack as TVM extends them. Bool is a kind of its own from TVM 0.25 on and
// uint1 before; in tvms it is always TVMS_BOOL with 1 bit, and ir/fold.c takes the dialect
// where promotion differs.
typedef enum {
  TVMS_INT = 0,
  TVMS_UINT = 1,
  TVMS_FLOAT = 2,
  TVMS_HANDLE = 3,
  TVMS_BFLOAT = 4,
  TVMS_BOOL = 6,
  TVMS_FLOAT8_E3M4 = 7,
  TVMS_FLOAT8_E4M3 = 8,
  TVMS_FLOAT8_E4M3B11FNUZ = 9,
  TVMS_FLOAT8_E4M3FN = 10,
  TVMS_FLOAT8_E4M3FNUZ = 11,
  TVMS_FLOAT8_E5M2 = 12,
  TVMS_FLOAT8_E5M2FNUZ = 13,
  TVMS_FLOAT8_E8M0FNU = 14,
  TVMS_FLOAT6_E2M3FN = 15,
  TVMS_FLOAT6_E3M2FN = 16,
  TVMS_FLOAT4_E2M1FN = 17,
} tvms_dtype_code;

// `lanes` of a scalable vector is minus the multiple of vscale. The zero value is void:
// no value, or unknown.
typedef struct {
  uint8_t code;
  uint8_t bits;
  int16_t lanes;
} tvms_dtype;

#define TVMS_DTYPE(code, bits) ((tvms_dtype){TVMS_##code, (bits), 1})

// Equal code, bits and lanes.
static inline bool tvms_dtype_same(tvms_dtype a, tvms_dtype b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

// The zero value: nothing, or not known.
static inline bool tvms_dtype_is_void(tvms_dtype d) {
  return d.lanes == 0;
}

// One lane.
static inline bool tvms_dtype_is_scalar(tvms_dtype d) {
  return d.lanes == 1;
}

// Signed integers of any width and lanes.
static inline bool tvms_dtype_is_int(tvms_dtype d) {
  return d.code == TVMS_INT && d.lanes != 0;
}

// Unsigned integers of any width and lanes; bool is not one in any release.
static inline bool tvms_dtype_is_uint(tvms_dtype d) {
  return d.code == TVMS_UINT;
}

// bool of any lanes.
static inline bool tvms_dtype_is_bool(tvms_dtype d) {
  return d.code == TVMS_BOOL;
}

// Pointers.
static inline bool tvms_dtype_is_handle(tvms_dtype d) {
  return d.code == TVMS_HANDLE;
}
// float16 … float64; not bfloat16 and not the 8-bit and smaller kinds.
static inline bool tvms_dtype_is_float(tvms_dtype d) {
  return d.code == TVMS_FLOAT;
}
// Any kind with a fraction.
static inline bool tvms_dtype_is_real(tvms_dtype d) {
  return d.code == TVMS_FLOAT || d.code == TVMS_BFLOAT || d.code >= TVMS_FLOAT8_E3M4;
}

// The dtype of a vector of such elements; lanes as in the field.
static inline tvms_dtype tvms_dtype_with_lanes(tvms_dtype d, int lanes) {
  d.lanes = (int16_t)lanes;
  return d;
}

// Whether T.<type> is a way to write values of this type. TVM has names for some of them
// only, and yet writes every type of a value so: those of machines can be read here.
bool tvms_dtype_has_name(tvms_dtype dtype);

// Parses "float32", "int8x4", "float32xvscalex4", "bool", "handle", "void", "" (void),
// "bfloat16", "float8_e4m3fn". Returns false for anything else.
TVMS_NODISCARD bool tvms_dtype_parse(const char *text, size_t len, tvms_dtype *dtype);

// Room for the text of any dtype.
enum { TVMS_DTYPE_TEXT = 40 };

// Text of a dtype as TVM writes it: "float32x4"; "void" for the zero value. The result is
// `buffer` or a constant.
const char *tvms_dtype_text(tvms_dtype dtype, char buffer[TVMS_DTYPE_TEXT]);

#endif
