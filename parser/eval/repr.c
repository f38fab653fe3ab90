// What str() and repr() make of values.
//
// Both are those of CPython: f-strings name variables and attributes of programs, so a
// digit more or another quote is another program.
#include "parser/eval/repr.h"

#include "parser/eval/budget.h"
#include "parser/eval/convert.h"
#include "parser/eval/ops.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The fewest digits that read back as the same double, as `d.ddde+XX`.
static void shortest_digits(double value, char text[static 40]) {
  for (int more = 0; more <= 16; more++) {
    snprintf(text, 40, "%.*e", more, value);
    if (strtod(text, NULL) == value) return;
  }
}

// A number without exponent: `digits` with the point behind the first `whole` of them.
static void put_fixed(tvms_strbuf *out, const char *digits, int whole) {
  int count = (int)strlen(digits);
  if (whole <= 0) tvms_strbuf_puts(out, "0.");
  for (int i = whole; i < 0; i++) {
    tvms_strbuf_putc(out, '0');
  }
  for (int i = 0; i < count || i < whole; i++) {
    if (i == whole && i > 0) tvms_strbuf_putc(out, '.');
    tvms_strbuf_putc(out, i < count ? digits[i] : '0');
  }
  if (count <= whole) tvms_strbuf_puts(out, ".0");
}

// Python writes an exponent below -4 and from 16 on.
static void put_real(tvms_strbuf *out, double value) {
  if (isnan(value) || isinf(value)) {
    tvms_strbuf_puts(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    return;
  }
  char text[40], digits[40];
  shortest_digits(fabs(value), text);
  int exponent = atoi(strchr(text, 'e') + 1), count = 0;
  for (const char *at = text; *at != 'e'; at++) {
    if (*at != '.') digits[count++] = *at;
  }
  digits[count] = '\0';
  if (signbit(value)) tvms_strbuf_putc(out, '-');
  if (exponent >= -4 && exponent < 16)
    put_fixed(out, digits, exponent + 1);
  else
    tvms_strbuf_puts(out, text);
}

static void put_escaped(tvms_strbuf *out, unsigned char c, char quote) {
  const char *short_form = c == '\n'   ? "\\n"
                           : c == '\r' ? "\\r"
                           : c == '\t' ? "\\t"
                           : c == '\\' ? "\\\\"
                                       : NULL;
  if (short_form) {
    tvms_strbuf_puts(out, short_form);
  } else if (c < ' ' || c == 0x7F) {
    tvms_strbuf_printf(out, "\\x%02x", c);
  } else {
    if (c == (unsigned char)quote) tvms_strbuf_putc(out, '\\');
    tvms_strbuf_putc(out, (char)c);
  }
}

// In single quotes, unless it holds some and no double ones.
static void put_quoted(tvms_strbuf *out, const char *text, uint32_t len) {
  bool single = len && memchr(text, '\'', len), twice = len && memchr(text, '"', len);
  char quote = single && !twice ? '"' : '\'';
  tvms_strbuf_putc(out, quote);
  for (uint32_t i = 0; i < len; i++) {
    put_escaped(out, (unsigned char)text[i], quote);
  }
  tvms_strbuf_putc(out, quote);
}

static bool put_items(tvms_reader *reader, tvms_strbuf *out, tvms_eval_value value,
                      const char *open, const char *close) {
  tvms_strbuf_puts(out, open);
  for (uint32_t i = 0; i < value.len; i++) {
    if (i) tvms_strbuf_puts(out, ", ");
    if (!tvms_eval_put(reader, out, value.as.items[i], true)) return false;
  }
  if (value.kind == TVMS_EVAL_TUPLE && value.len == 1) tvms_strbuf_putc(out, ',');
  tvms_strbuf_puts(out, close);
  return true;
}

static bool put_dict(tvms_reader *reader, tvms_strbuf *out, tvms_eval_value dict) {
  tvms_strbuf_putc(out, '{');
  for (uint32_t i = 0; i < dict.len; i += 2) {
    if (i) tvms_strbuf_puts(out, ", ");
    if (!tvms_eval_put(reader, out, dict.as.items[i], true)) return false;
    tvms_strbuf_puts(out, ": ");
    if (!tvms_eval_put(reader, out, dict.as.items[i + 1], true)) return false;
  }
  tvms_strbuf_putc(out, '}');
  return true;
}

static bool put_dtype(tvms_strbuf *out, tvms_dtype dtype) {
  char buffer[TVMS_DTYPE_TEXT];
  tvms_strbuf_puts(out, tvms_dtype_text(dtype, buffer));
  return true;
}

bool tvms_eval_put(tvms_reader *reader, tvms_strbuf *out, tvms_eval_value value,
                   bool quoted) {
  if (out->len > tvms_eval_room(reader)) return false;
  switch ((int)value.kind) {
  case TVMS_EVAL_NONE: tvms_strbuf_puts(out, "None"); return true;
  case TVMS_EVAL_BOOL:
    tvms_strbuf_puts(out, value.as.i ? "True" : "False");
    return true;
  case TVMS_EVAL_INT:
    if (value.flags & TVMS_EVAL_LARGE)
      tvms_strbuf_printf(out, "%llu", (unsigned long long)value.as.i);
    else
      tvms_strbuf_int(out, value.as.i);
    return true;
  case TVMS_EVAL_FLOAT: put_real(out, value.as.f); return true;
  case TVMS_EVAL_STR:
    if (quoted)
      put_quoted(out, value.as.text, value.len);
    else
      tvms_strbuf_add(out, value.as.text, value.len);
    return true;
  case TVMS_EVAL_DTYPE: return put_dtype(out, value.as.dtype);
  case TVMS_EVAL_TUPLE: return put_items(reader, out, value, "(", ")");
  case TVMS_EVAL_LIST: return put_items(reader, out, value, "[", "]");
  case TVMS_EVAL_DICT: return put_dict(reader, out, value);
  case TVMS_EVAL_META: return tvms_eval_put(reader, out, value.as.items[0], quoted);
  default: break;
  }
  const tvms_eval_value_ops *ops = tvms_eval_ops_of(reader, value);
  return ops->print && ops->print(reader, out, value);
}

const char *tvms_eval_str(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                          uint32_t *len) {
  if (value.kind == TVMS_EVAL_STR) {
    *len = value.len;
    return value.as.text;
  }
  tvms_strbuf out;
  tvms_strbuf_init(&out, &reader->context->memory);
  const char *text = NULL;
  bool sound = tvms_eval_put(reader, &out, value, false);
  bool fits = tvms_eval_may_take(reader, out.len + 1, ref);
  if (sound && fits) {
    *len = (uint32_t)out.len;
    text = tvms_arena_text(&reader->values, out.text, out.len);
  } else if (fits) {
    tvms_eval_report_wrong_type(reader, ref, "the argument of str()", "a constant",
                                value);
  }
  tvms_strbuf_fini(&out);
  return text;
}
