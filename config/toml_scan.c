// Keys, strings, numbers and dates of TOML.
#include "config/toml_scan.h"

#include "support/diag_ids.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool tvms_toml_fail(tvms_toml_reader *r, uint32_t begin, const char *what) {
  if (r->failed) return false;
  r->failed = true;
  uint32_t end = r->at > begin ? r->at : begin + (begin < r->size);
  tvms_diag_report(&r->context->diags, TVMS_D_config_syntax, (tvms_span){begin, end},
                   what);
  return false;
}

static bool is_at(const tvms_toml_reader *r, const char *what) {
  return strncmp(r->text + r->at, what, strlen(what)) == 0;
}

static bool is_line_end(const tvms_toml_reader *r) {
  return r->text[r->at] == '\n' || is_at(r, "\r\n");
}

// A control character other than a tab: none may stand in comments and strings.
static bool is_control(char c) {
  unsigned char byte = (unsigned char)c;
  return (byte < 0x20 && byte != '\t') || byte == 0x7F;
}

void tvms_toml_skip_blanks(tvms_toml_reader *r) {
  while (r->text[r->at] == ' ' || r->text[r->at] == '\t') {
    r->at++;
  }
}

static bool skip_comment(tvms_toml_reader *r) {
  if (r->text[r->at] != '#') return true;
  while (r->at < r->size && !is_line_end(r)) {
    if (is_control(r->text[r->at]))
      return tvms_toml_fail(r, r->at, "a control character in a comment");
    r->at++;
  }
  return true;
}

static void skip_line_end(tvms_toml_reader *r) {
  r->at += r->text[r->at] == '\r' ? 2 : 1;
}

bool tvms_toml_skip_lines(tvms_toml_reader *r) {
  for (;;) {
    tvms_toml_skip_blanks(r);
    if (!skip_comment(r)) return false;
    if (r->at >= r->size || !is_line_end(r)) return true;
    skip_line_end(r);
  }
}

bool tvms_toml_end_line(tvms_toml_reader *r) {
  tvms_toml_skip_blanks(r);
  if (!skip_comment(r)) return false;
  if (r->at >= r->size) return true;
  if (!is_line_end(r)) return tvms_toml_fail(r, r->at, "expected the end of the line");
  skip_line_end(r);
  return true;
}

/* Strings */

static void put_utf8(tvms_strbuf *out, uint32_t c) {
  if (c < 0x80) {
    tvms_strbuf_putc(out, (char)c);
    return;
  }
  int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static const uint8_t heads[] = {0, 0xC0, 0xE0, 0xF0};
  tvms_strbuf_putc(out, (char)(heads[more] | (c >> (6 * more))));
  while (more-- > 0) {
    tvms_strbuf_putc(out, (char)(0x80 | ((c >> (6 * more)) & 0x3F)));
  }
}

static bool scan_hex(tvms_toml_reader *r, uint32_t begin, int digits,
                     tvms_strbuf *out) {
  uint32_t c = 0;
  for (; digits > 0; digits--) {
    char digit = r->text[r->at];
    if (!isxdigit((unsigned char)digit))
      return tvms_toml_fail(r, begin, "too few hexadecimal digits in an escape");
    uint32_t value =
        digit <= '9' ? (uint32_t)(digit - '0') : (uint32_t)((digit | 0x20) - 'a' + 10);
    c = (c << 4) | value;
    r->at++;
  }
  if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
    return tvms_toml_fail(r, begin, "the escape means no character");
  put_utf8(out, c);
  return true;
}

// Behind the backslash of a string over several lines: true if white space up to the next
// line follows, all of which is skipped with what is blank below.
static bool skip_joined(tvms_toml_reader *r) {
  uint32_t begin = r->at;
  tvms_toml_skip_blanks(r);
  if (r->at >= r->size || !is_line_end(r)) {
    r->at = begin;
    return false;
  }
  while (r->at < r->size
         && (is_line_end(r) || isblank((unsigned char)r->text[r->at]))) {
    r->at++;
  }
  return true;
}

static bool scan_escape(tvms_toml_reader *r, bool lines, tvms_strbuf *out) {
  static const char letters[] = "btnfr\"\\", meant[] = "\b\t\n\f\r\"\\";
  uint32_t begin = r->at++;
  if (lines && skip_joined(r)) return true;
  char c = r->text[r->at++];
  if (c == 'u') return scan_hex(r, begin, 4, out);
  if (c == 'U') return scan_hex(r, begin, 8, out);
  const char *letter = c ? strchr(letters, c) : NULL;
  if (!letter) return tvms_toml_fail(r, begin, "unknown escape in a string");
  tvms_strbuf_putc(out, meant[letter - letters]);
  return true;
}

// The text up to the closing quotes, of which `width` stand at the begin as well.
static bool scan_body(tvms_toml_reader *r, uint32_t begin, char quote, uint32_t width,
                      tvms_strbuf *out) {
  const char triple[] = {quote, quote, quote, '\0'};
  bool lines = width == 3;
  if (lines && is_line_end(r)) skip_line_end(r);
  for (;;) {
    char c = r->text[r->at];
    bool line_end = r->at < r->size && is_line_end(r);
    if (r->at >= r->size || (line_end && !lines))
      return tvms_toml_fail(r, begin, "this string is not closed");
    if (c == quote && (!lines || is_at(r, triple))) {
      r->at += width;
      // Up to two quotes may stand right in front of the closing ones.
      for (int more = 0; lines && more < 2 && r->text[r->at] == quote;
           more++, r->at++) {
        tvms_strbuf_putc(out, quote);
      }
      return true;
    }
    if (c == '\\' && quote == '"') {
      if (!scan_escape(r, lines, out)) return false;
      continue;
    }
    if (is_control(c) && !line_end)
      return tvms_toml_fail(r, r->at, "a control character in a string");
    tvms_strbuf_putc(out, c);
    r->at++;
  }
}

static const char *scan_string(tvms_toml_reader *r, bool key) {
  const char *text = r->text + r->at;
  uint32_t begin = r->at, width = text[1] == *text && text[2] == *text ? 3 : 1;
  if (key && width == 3) {
    tvms_toml_fail(r, begin, "a key is a string of one line");
    return NULL;
  }
  tvms_strbuf out;
  tvms_strbuf_init(&out, &r->context->memory);
  r->at += width;
  char *copy = NULL;
  if (scan_body(r, begin, *text, width, &out))
    copy = tvms_arena_text(&r->context->arena, tvms_strbuf_text(&out), out.len);
  tvms_strbuf_fini(&out);
  return copy;
}

static bool is_bare(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '-';
}

const char *tvms_toml_scan_key(tvms_toml_reader *r) {
  char c = r->text[r->at];
  if (c == '"' || c == '\'') return scan_string(r, true);
  uint32_t begin = r->at;
  while (is_bare(r->text[r->at])) {
    r->at++;
  }
  if (r->at == begin) {
    tvms_toml_fail(r, begin, "expected a key");
    return NULL;
  }
  return tvms_arena_text(&r->context->arena, r->text + begin, r->at - begin);
}

/* Numbers and dates: words of letters, digits and signs */

static bool is_word(char c) {
  return is_bare(c) || c == '+' || c == '.' || c == ':';
}

// Digits of a base with single underscores between them; adds them to `out`.
static bool scan_digits(const char **text, const char *digits, tvms_strbuf *out) {
  const char *at = *text;
  bool digit = false;
  for (; *at; at++) {
    if (*at == '_' && digit && at[1] && strchr(digits, at[1])) continue;
    if (*at == '_' || !strchr(digits, *at)) break;
    digit = true;
    tvms_strbuf_putc(out, *at);
  }
  *text = at;
  return digit;
}

static const char decimal[] = "0123456789";

static bool is_based(const char *text, tvms_strbuf *out, int *base) {
  static const char *const digits[] = {"0123456789abcdefABCDEF", "01234567", "01"};
  static const char letters[] = "xob";
  static const int bases[] = {16, 8, 2};
  const char *letter = *text == '0' && text[1] ? strchr(letters, text[1]) : NULL;
  if (!letter) return false;
  *base = bases[letter - letters];
  text += 2;
  return scan_digits(&text, digits[letter - letters], out) && !*text;
}

// A decimal integer or float. Returns false if it is neither.
static bool is_decimal(const char *text, tvms_strbuf *out, bool *is_float) {
  if (*text == '+' || *text == '-') tvms_strbuf_putc(out, *text++);
  *is_float = strcmp(text, "inf") == 0 || strcmp(text, "nan") == 0;
  if (*is_float) return true;
  if (*text == '0' && (isdigit((unsigned char)text[1]) || text[1] == '_')) return false;
  if (!scan_digits(&text, decimal, out)) return false;
  if (*text == '.') {
    text++;
    *is_float = true;
    if (!scan_digits(&text, decimal, out)) return false;
  }
  if (*text == 'e' || *text == 'E') {
    text++;
    *is_float = true;
    text += *text == '+' || *text == '-';
    if (!scan_digits(&text, decimal, out)) return false;
  }
  return !*text;
}

// The shape of a date, a time or both: digits stand where 'd' does.
static bool has_shape(const char **text, const char *shape) {
  const char *at = *text;
  for (; *shape; shape++, at++) {
    if (*shape == 'd' ? !isdigit((unsigned char)*at) : *at != *shape) return false;
  }
  *text = at;
  return true;
}

static bool is_date(const char *text) {
  bool date = has_shape(&text, "dddd-dd-dd");
  if (date && !*text) return true;
  if (date && !(*text == 'T' || *text == 't' || *text == ' ')) return false;
  text += date;
  if (!has_shape(&text, "dd:dd:dd")) return false;
  if (*text == '.') {
    text++;
    if (!isdigit((unsigned char)*text)) return false;
    text += strspn(text, decimal);
  }
  if (!*text) return true;
  if (!date) return false;
  if ((*text == 'Z' || *text == 'z') && !text[1]) return true;
  if (*text != '+' && *text != '-') return false;
  text++;
  return has_shape(&text, "dd:dd") && !*text;
}

static void read_word(const char *text, tvms_toml *value, tvms_strbuf *digits,
                      bool *good) {
  int base = 10;
  bool is_float = false;
  *good = true;
  value->kind = TVMS_TOML_INTEGER;
  if (is_date(text)) {
    value->kind = TVMS_TOML_DATE;
  } else if (is_based(text, digits, &base)
             || (digits->len = 0, is_decimal(text, digits, &is_float))) {
    if (is_float)
      value->kind = TVMS_TOML_FLOAT;
    else
      value->integer = strtoll(tvms_strbuf_text(digits), NULL, base);
  } else {
    *good = false;
  }
}

static bool scan_word(tvms_toml_reader *r, tvms_toml *value) {
  uint32_t begin = r->at;
  while (is_word(r->text[r->at])) {
    r->at++;
  }
  // A date may have a blank before its time.
  const char *date = r->text + begin;
  const char *time = r->text + r->at + 1;
  if (r->text[r->at] == ' ' && has_shape(&date, "dddd-dd-dd") && date == r->text + r->at
      && has_shape(&time, "dd:")) {
    r->at++;
    while (is_word(r->text[r->at])) {
      r->at++;
    }
  }
  const char *text =
      tvms_arena_text(&r->context->arena, r->text + begin, r->at - begin);
  bool truth = strcmp(text, "true") == 0;
  if (truth || strcmp(text, "false") == 0) {
    value->kind = TVMS_TOML_BOOL;
    value->integer = truth;
    return true;
  }
  tvms_strbuf digits;
  tvms_strbuf_init(&digits, &r->context->memory);
  bool good;
  read_word(text, value, &digits, &good);
  tvms_strbuf_fini(&digits);
  return good
         || tvms_toml_fail(r, begin,
                           *text ? "this is no value; a text stands in quotes"
                                 : "expected a value");
}

bool tvms_toml_scan_value(tvms_toml_reader *r, tvms_toml *value) {
  char c = r->text[r->at];
  if (c != '"' && c != '\'') return scan_word(r, value);
  value->kind = TVMS_TOML_STRING;
  value->text = scan_string(r, false);
  return value->text != NULL;
}
