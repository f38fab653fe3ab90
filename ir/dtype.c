// Names of data types, read and written.
//
// TVM writes a data type as a name, a width and lanes: "float32x4", "int8xvscalex4". One
// table has the names; a width that is not said is the usual one of the name. Reading is
// strict, because a text that is not a data type is often a name of something else.
#include "ir/dtype.h"

#include <string.h>

typedef struct {
  const char *name;
  uint8_t len;
  uint8_t code;
  uint8_t bits;  // 0: digits follow the name
} dtype_row;

#define ROW(name, code, bits)                                                          \
  { name, sizeof(name) - 1, code, bits }

// Longer names stand before their prefixes.
static const dtype_row rows[] = {
    ROW("float8_e4m3b11fnuz", TVMS_FLOAT8_E4M3B11FNUZ, 8),
    ROW("float8_e4m3fnuz", TVMS_FLOAT8_E4M3FNUZ, 8),
    ROW("float8_e5m2fnuz", TVMS_FLOAT8_E5M2FNUZ, 8),
    ROW("float8_e8m0fnu", TVMS_FLOAT8_E8M0FNU, 8),
    ROW("float8_e4m3fn", TVMS_FLOAT8_E4M3FN, 8),
    ROW("float8_e3m4", TVMS_FLOAT8_E3M4, 8),
    ROW("float8_e4m3", TVMS_FLOAT8_E4M3, 8),
    ROW("float8_e5m2", TVMS_FLOAT8_E5M2, 8),
    ROW("float6_e2m3fn", TVMS_FLOAT6_E2M3FN, 6),
    ROW("float6_e3m2fn", TVMS_FLOAT6_E3M2FN, 6),
    ROW("float4_e2m1fn", TVMS_FLOAT4_E2M1FN, 4),
    ROW("bfloat", TVMS_BFLOAT, 0),
    ROW("float", TVMS_FLOAT, 0),
    ROW("uint", TVMS_UINT, 0),
    ROW("int", TVMS_INT, 0),
    ROW("bool", TVMS_BOOL, 1),
    ROW("handle", TVMS_HANDLE, 64),
};

static bool starts_with(const char *text, size_t len, const char *prefix) {
  size_t prefix_len = strlen(prefix);
  return len >= prefix_len && memcmp(text, prefix, prefix_len) == 0;
}

// Reads decimal digits at *at; returns false if there are none or the value is absurd.
static bool read_number(const char *text, size_t len, size_t *at, int *value) {
  size_t begin = *at;
  *value = 0;
  while (*at < len && text[*at] >= '0' && text[*at] <= '9') {
    *value = *value * 10 + (text[(*at)++] - '0');
    if (*value > INT16_MAX) return false;
  }
  return *at > begin;
}

// The "x4" or "xvscalex4" at the end. One time vscale prints as a scalar, so it is one.
static bool read_lanes(const char *text, size_t len, size_t at, tvms_dtype *dtype) {
  dtype->lanes = 1;
  if (at == len) return true;
  bool scalable = starts_with(text + at, len - at, "xvscale");
  if (!scalable && text[at] != 'x') return false;
  if (scalable) at += strlen("xvscale");
  if (scalable && at == len) return true;
  if (text[at++] != 'x') return false;
  int lanes;
  if (!read_number(text, len, &at, &lanes)) return false;
  dtype->lanes = (int16_t)(scalable && lanes > 1 ? -lanes : lanes);
  return at == len && lanes > 0;
}

// The width behind a name; without one, and for 0, the usual one. A truth value is stored
// in 8 bits, and a pointer has its own.
static bool read_bits(const char *text, size_t len, size_t *at, const dtype_row *row,
                      int *bits) {
  bool digits = read_number(text, len, at, bits);
  switch (row->code) {
  case TVMS_BOOL:
    if (digits && *bits != 8) return false;
    *bits = row->bits;
    return true;
  case TVMS_HANDLE: *bits = row->bits; return true;
  default: break;
  }
  if (row->bits) {
    *bits = row->bits;
    return !digits;
  }
  if (!digits || *bits == 0) *bits = row->code == TVMS_BFLOAT ? 16 : 32;
  return *bits <= 255;
}

bool tvms_dtype_parse(const char *text, size_t len, tvms_dtype *dtype) {
  *dtype = (tvms_dtype){0};
  if (len == 0 || (len == 4 && memcmp(text, "void", 4) == 0)) return true;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const dtype_row *row = &rows[i];
    size_t at = row->len;
    if (text[0] != row->name[0] || len < at || memcmp(text, row->name, at) != 0)
      continue;
    int bits;
    if (!read_bits(text, len, &at, row, &bits)) return false;
    dtype->code = row->code;
    dtype->bits = (uint8_t)bits;
    return read_lanes(text, len, at, dtype);
  }
  return false;
}

// From the end, where the common ones are.
static const dtype_row *row_of(uint8_t code) {
  for (size_t i = sizeof rows / sizeof rows[0]; i > 0; i--) {
    if (rows[i - 1].code == code) return &rows[i - 1];
  }
  return NULL;
}

static char *put_text(char *at, const char *text, size_t len) {
  memcpy(at, text, len);
  return at + len;
}

static char *put_number(char *at, uint32_t number) {
  if (number >= 10) at = put_number(at, number / 10);
  *at = (char)('0' + number % 10);
  return at + 1;
}

const char *tvms_dtype_text(tvms_dtype dtype, char buffer[TVMS_DTYPE_TEXT]) {
  const dtype_row *row = row_of(dtype.code);
  if (tvms_dtype_is_void(dtype) || !row) return "void";
  char *at = put_text(buffer, row->name, row->len);
  if (!row->bits) at = put_number(at, dtype.bits);
  if (dtype.lanes < 0)
    at = put_number(put_text(at, "xvscalex", 8), (uint32_t)-dtype.lanes);
  else if (dtype.lanes > 1)
    at = put_number(put_text(at, "x", 1), (uint32_t)dtype.lanes);
  *at = '\0';
  return buffer;
}

bool tvms_dtype_has_name(tvms_dtype dtype) {
  bool power = dtype.bits && (dtype.bits & (dtype.bits - 1)) == 0;
  switch ((int)dtype.code) {
  case TVMS_INT:
  case TVMS_UINT: return power && dtype.bits <= 128;
  case TVMS_FLOAT: return power && dtype.bits >= 8 && dtype.bits <= 128;
  default: return !tvms_dtype_is_void(dtype) && !tvms_dtype_is_handle(dtype);
  }
}
