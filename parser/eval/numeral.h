// Numbers out of text, as Python's int() and float() read them.
#ifndef TVMS_PARSER_EVAL_NUMERAL_H
#define TVMS_PARSER_EVAL_NUMERAL_H

#include "support/context.h"

typedef enum {
  TVMS_NUMERAL_INT,
  TVMS_NUMERAL_LARGE,    // more than INT64_MAX: the bits of an uint64_t
  TVMS_NUMERAL_TOO_BIG,  // more than 64 bits
  TVMS_NUMERAL_WRONG,    // no number
} tvms_numeral;

// The int that `text` stands for in a base from 2 to 36, or 0 for that of its prefix, in
// *value: int(text, base). The prefix 0x, 0o or 0b of the base, a sign, space around it and
// single underscores between digits are allowed.
tvms_numeral tvms_numeral_int(const char *text, uint32_t len, int base, int64_t *value);

// The float that `text` stands for: float(text). False if it is not a number.
TVMS_NODISCARD bool tvms_numeral_float(tvms_context *context, const char *text,
                                       uint32_t len, double *value);

#endif
