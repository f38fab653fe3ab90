// Separators, indentation and escapes of json.h: ECMA-404, two spaces a level. Texts of programs
// may hold any bytes; what is not UTF-8 becomes U+FFFD, so the result is JSON always.
#include "support/json.h"

void tvms_json_init(tvms_json *json, tvms_strbuf *out) {
  *json = (tvms_json){.out = out};
}

static void break_line(tvms_json *json) {
  if (json->compact) return;
  tvms_strbuf_putc(json->out, '\n');
  tvms_strbuf_fill(json->out, ' ', 2 * (size_t)json->depth);
}

static void begin_value(tvms_json *json) {
  if (!json->keyed) {
    if (json->filled) tvms_strbuf_puts(json->out, json->compact ? ", " : ",");
    if (json->depth) break_line(json);
  }
  json->keyed = false;
  json->filled = true;
}

void tvms_json_open(tvms_json *json, char bracket) {
  begin_value(json);
  tvms_strbuf_putc(json->out, bracket);
  json->depth++;
  json->filled = false;
}

void tvms_json_close(tvms_json *json, char bracket) {
  json->depth--;
  if (json->filled) break_line(json);
  tvms_strbuf_putc(json->out, bracket);
  json->filled = true;
}

void tvms_json_key(tvms_json *json, const char *key) {
  tvms_json_text(json, key);
  tvms_strbuf_puts(json->out, ": ");
  json->keyed = true;
}

// Length of the UTF-8 sequence at `text`, 0 if it is not one.
static size_t sequence(const unsigned char *text, size_t len) {
  static const struct {
    unsigned char mask, lead;
    uint32_t least;
  } forms[] = {
      {0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};
  for (size_t i = 0; i < 4; i++) {
    if ((text[0] & forms[i].mask) != forms[i].lead) continue;
    if (i + 1 > len) return 0;
    uint32_t code = text[0] & (unsigned char)~forms[i].mask;
    for (size_t j = 1; j <= i; j++) {
      if ((text[j] & 0xC0) != 0x80) return 0;
      code = code << 6 | (text[j] & 0x3F);
    }
    bool surrogate = code >= 0xD800 && code < 0xE000;
    return code >= forms[i].least && code <= 0x10FFFF && !surrogate ? i + 1 : 0;
  }
  return 0;
}

static void add_escaped(tvms_strbuf *out, unsigned char c) {
  static const char plain[] = "\"\\\b\f\n\r\t";
  static const char letters[] = "\"\\bfnrt";
  const char *found = c ? strchr(plain, c) : NULL;
  if (found) {
    tvms_strbuf_putc(out, '\\');
    tvms_strbuf_putc(out, letters[found - plain]);
  } else {
    tvms_strbuf_printf(out, "\\u%04x", c);
  }
}

void tvms_json_string(tvms_json *json, const char *text, size_t len) {
  begin_value(json);
  tvms_strbuf *out = json->out;
  tvms_strbuf_putc(out, '"');
  for (size_t i = 0; i < len;) {
    unsigned char c = (unsigned char)text[i];
    size_t bytes = sequence((const unsigned char *)text + i, len - i);
    if (bytes == 0)
      tvms_strbuf_puts(out, "\xEF\xBF\xBD");
    else if (c < 0x20 || c == 0x7F || c == '"' || c == '\\')
      add_escaped(out, c);
    else
      tvms_strbuf_add(out, text + i, bytes);
    i += bytes ? bytes : 1;
  }
  tvms_strbuf_putc(out, '"');
}

void tvms_json_int(tvms_json *json, int64_t value) {
  begin_value(json);
  tvms_strbuf_int(json->out, value);
}

void tvms_json_bool(tvms_json *json, bool value) {
  begin_value(json);
  tvms_strbuf_puts(json->out, value ? "true" : "false");
}

// Strings of JSON hold no line ends, so every one of them is followed by indentation.
void tvms_json_value(tvms_json *json, const char *text, size_t len) {
  begin_value(json);
  for (size_t at = 0; at < len;) {
    const char *end = memchr(text + at, '\n', len - at);
    size_t line = end ? (size_t)(end - text) - at : len - at;
    tvms_strbuf_add(json->out, text + at, line);
    at += line + (end != NULL);
    while (json->compact && at < len && text[at] == ' ') {
      at++;
    }
    if (at < len) break_line(json);
  }
}
