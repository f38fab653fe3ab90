// Numbers out of text. strtoll() and strtod() know other prefixes than Python, no underscores,
// and no end but a NUL, which parts of a text do not have.
#include "parser/eval/numeral.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *text;
  uint32_t len;
} piece;

static piece stripped(const char *text, uint32_t len) {
  piece inner = {text, len};
  while (inner.len && isspace((unsigned char)inner.text[0])) {
    inner.text++, inner.len--;
  }
  while (inner.len && isspace((unsigned char)inner.text[inner.len - 1])) {
    inner.len--;
  }
  return inner;
}

static int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  int letter = tolower((unsigned char)c) - 'a';
  return letter >= 0 && letter < 26 ? letter + 10 : INT_MAX;
}

// The base that a prefix such as "0x" stands for; 0: there is none.
static int prefixed_base(piece digits) {
  if (digits.len < 2 || digits.text[0] != '0') return 0;
  switch (tolower((unsigned char)digits.text[1])) {
  case 'x': return 16;
  case 'o': return 8;
  case 'b': return 2;
  default: return 0;
  }
}

// The digits of an int without its sign, as Python reads them: single underscores may stand
// between them and after a prefix. *fits: the value has 64 bits. False: it is none.
static bool read_digits(piece digits, int base, uint64_t *value, bool *fits) {
  int prefix = prefixed_base(digits);
  bool skips = prefix && (base == 0 || base == prefix);
  if (skips) digits.text += 2, digits.len -= 2;
  if (base == 0) base = prefix ? prefix : 10;
  bool underscore = !skips;
  *value = 0;
  *fits = true;
  for (uint32_t i = 0; i < digits.len; i++) {
    if (digits.text[i] == '_') {
      if (underscore) return false;
      underscore = true;
      continue;
    }
    int digit = digit_of(digits.text[i]);
    if (digit >= base) return false;
    underscore = false;
    *fits = *fits && !__builtin_mul_overflow(*value, (uint64_t)base, value)
            && !__builtin_add_overflow(*value, (uint64_t)digit, value);
  }
  return digits.len && !underscore;
}

tvms_numeral tvms_numeral_int(const char *text, uint32_t len, int base,
                              int64_t *value) {
  piece digits = stripped(text, len);
  bool negative = digits.len && digits.text[0] == '-';
  if (negative || (digits.len && digits.text[0] == '+')) digits.text++, digits.len--;
  uint64_t size;
  bool fits;
  if (!read_digits(digits, base, &size, &fits)) return TVMS_NUMERAL_WRONG;
  if (!fits || (negative && size > (uint64_t)INT64_MAX + 1))
    return TVMS_NUMERAL_TOO_BIG;
  *value = (int64_t)(negative ? 0 - size : size);
  return !negative && size > INT64_MAX ? TVMS_NUMERAL_LARGE : TVMS_NUMERAL_INT;
}

bool tvms_numeral_float(tvms_context *context, const char *text, uint32_t len,
                        double *value) {
  piece digits = stripped(text, len);
  tvms_mark mark = tvms_arena_mark(&context->scratch);
  char *copy = tvms_arena_text(&context->scratch, digits.text, digits.len);
  bool sound = digits.len > 0 && !strpbrk(copy, "xX(");  // those of C only
  char *end = copy;
  *value = strtod(copy, &end);
  sound = sound && end == copy + digits.len;
  tvms_arena_reset(&context->scratch, mark);
  return sound;
}
