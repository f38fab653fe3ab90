// A reader of JSON without memory of its own.
#include "runtime/json_read.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64, LONGEST_NUMBER = 64 };

// Where reading stands. NULL: what was read is no JSON.
typedef struct {
  const char *at;
  const char *end;
} reader;

static void blanks(reader *r) {
  while (r->at && r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
    r->at++;
}

static bool next_is(const reader *r, char byte) {
  return r->at && r->at < r->end && *r->at == byte;
}

static void take(reader *r, char byte) {
  r->at = next_is(r, byte) ? r->at + 1 : NULL;
}

static void take_word(reader *r, const char *word) {
  for (; *word && r->at; word++)
    take(r, *word);
}

static bool is_digit(const reader *r) {
  return r->at && r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

static void take_digits(reader *r) {
  if (!is_digit(r)) r->at = NULL;
  while (is_digit(r))
    r->at++;
}

static void take_number(reader *r) {
  if (next_is(r, '-')) r->at++;
  if (next_is(r, '0'))
    r->at++;
  else
    take_digits(r);
  if (next_is(r, '.')) {
    r->at++;
    take_digits(r);
  }
  if (!next_is(r, 'e') && !next_is(r, 'E')) return;
  r->at++;
  if (next_is(r, '+') || next_is(r, '-')) r->at++;
  take_digits(r);
}

static int hex_of(char byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
  return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

// One unit of a text: a byte, or what an escape says.
static int take_unit(reader *r) {
  static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  if (!r->at || r->at >= r->end || (unsigned char)*r->at < ' ') {
    r->at = NULL;
    return -1;
  }
  if (*r->at != '\\') return (unsigned char)*r->at++;
  const char *found = ++r->at < r->end && *r->at ? strchr(escapes, *r->at) : NULL;
  if (found) {
    r->at++;
    return meant[found - escapes];
  }
  take(r, 'u');
  int code = 0;
  for (int i = 0; i < 4 && r->at; i++) {
    int digit = r->at < r->end ? hex_of(*r->at) : -1;
    code = code * 16 + digit;
    r->at = digit < 0 ? NULL : r->at + 1;
  }
  return r->at ? code : -1;
}

static void take_text(reader *r) {
  take(r, '"');
  while (r->at && !next_is(r, '"'))
    take_unit(r);
  if (r->at) r->at++;
}

static void take_plain(reader *r) {
  if (next_is(r, '"'))
    take_text(r);
  else if (next_is(r, 't'))
    take_word(r, "true");
  else if (next_is(r, 'f'))
    take_word(r, "false");
  else if (next_is(r, 'n'))
    take_word(r, "null");
  else
    take_number(r);
}

static void take_key(reader *r) {
  blanks(r);
  take_text(r);
  blanks(r);
  take(r, ':');
}

// A value and what is in it. The brackets that are open stand in `open`, so that no depth takes stack.
static void take_value(reader *r) {
  char open[DEEPEST];
  uint32_t depth = 0;
  do {
    blanks(r);
    bool object = next_is(r, '{'), list = next_is(r, '[');
    if ((object || list) && depth < DEEPEST) {
      char close = object ? '}' : ']';
      r->at++;
      blanks(r);
      if (!next_is(r, close)) {
        open[depth++] = close;
        if (object) take_key(r);
        continue;
      }
      r->at++;
    } else {
      take_plain(r);
    }
    if (depth) blanks(r);
    while (depth && next_is(r, open[depth - 1])) {
      r->at++;
      if (--depth) blanks(r);
    }
    if (!depth) return;
    take(r, ',');
    if (open[depth - 1] == '}') take_key(r);
  } while (r->at);
}

bool tvms_part_read(const char *text, uint64_t len, tvms_part *value) {
  reader r = {text, text + len};
  blanks(&r);
  value->begin = r.at;
  take_value(&r);
  if (!r.at) return false;
  value->end = r.at;
  blanks(&r);
  return r.at == r.end;
}

tvms_part_kind tvms_part_kind_of(tvms_part value) {
  int64_t number;
  switch (*value.begin) {
  case '{': return TVMS_PART_OBJECT;
  case '[': return TVMS_PART_LIST;
  case '"': return TVMS_PART_TEXT;
  case 't':
  case 'f': return TVMS_PART_BOOL;
  case 'n': return TVMS_PART_NULL;
  default: break;
  }
  number = 0;
  for (const char *at = value.begin + (*value.begin == '-'); at < value.end; at++) {
    bool digit = *at >= '0' && *at <= '9';
    if (!digit || __builtin_mul_overflow(number, 10, &number)
        || __builtin_sub_overflow(number, *at - '0', &number))
      return TVMS_PART_REAL;
  }
  // The least number has no opposite.
  return *value.begin != '-' && number == INT64_MIN ? TVMS_PART_REAL : TVMS_PART_INT;
}

// Steps over a value and the comma behind it; false at the end of what it is in.
static bool step(reader *r, tvms_part *value) {
  blanks(r);
  value->begin = r->at;
  take_value(r);
  value->end = r->at;
  blanks(r);
  bool more = next_is(r, ',');
  if (more) r->at++;
  return more;
}

static bool begins(tvms_part whole, reader *r) {
  *r = (reader){whole.begin + 1, whole.end};
  blanks(r);
  return !next_is(r, *whole.begin == '{' ? '}' : ']');
}

bool tvms_part_is(tvms_part value, const char *text) {
  reader r = {value.begin + 1, value.end};
  while (*text && r.at && !next_is(&r, '"') && take_unit(&r) == (unsigned char)*text)
    text++;
  return !*text && next_is(&r, '"');
}

bool tvms_part_field(tvms_part object, const char *key, tvms_part *value) {
  reader r;
  bool found = false, more = begins(object, &r);
  while (more) {
    blanks(&r);
    tvms_part name = {r.at, object.end}, at;
    take_key(&r);
    more = step(&r, &at);
    if (!tvms_part_is(name, key)) continue;
    *value = at;
    found = true;
  }
  return found;
}

bool tvms_part_next(tvms_part list, tvms_part *item) {
  reader r = {item->end, list.end};
  if (!item->begin) {
    if (!begins(list, &r)) return false;
  } else {
    blanks(&r);
    if (!next_is(&r, ',')) return false;
    r.at++;
  }
  step(&r, item);
  return true;
}

int64_t tvms_part_integer(tvms_part value) {
  if (tvms_part_kind_of(value) == TVMS_PART_BOOL) return *value.begin == 't';
  uint64_t number = 0;
  bool negative = *value.begin == '-';
  for (const char *at = value.begin + negative; at < value.end; at++)
    number = number * 10 + (uint64_t)(*at - '0');
  return (int64_t)(negative ? 0 - number : number);
}

double tvms_part_real(tvms_part value) {
  char text[LONGEST_NUMBER + 1] = {0};
  if (tvms_part_kind_of(value) == TVMS_PART_BOOL) return *value.begin == 't';
  size_t len = (size_t)(value.end - value.begin);
  memcpy(text, value.begin, len < LONGEST_NUMBER ? len : LONGEST_NUMBER);
  return strtod(text, NULL);
}
