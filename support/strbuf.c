// Growth and formatting behind strbuf.h. Room doubles, so adding byte by byte is linear.
#include "support/strbuf.h"

#include <stdarg.h>
#include <stdio.h>

void tvms_strbuf_init(tvms_strbuf *buffer, tvms_memory *memory) {
  *buffer = (tvms_strbuf){.memory = memory};
}

void tvms_strbuf_fini(tvms_strbuf *buffer) {
  tvms_memory_free(buffer->memory, buffer->text);
  tvms_strbuf_init(buffer, buffer->memory);
}

void tvms_strbuf_grow(tvms_strbuf *buffer, size_t more) {
  size_t cap = buffer->cap ? buffer->cap : 256;
  while (cap - buffer->len < more) {
    cap *= 2;
  }
  buffer->text = tvms_memory_realloc(buffer->memory, buffer->text, cap);
  buffer->cap = cap;
}

void tvms_strbuf_insert(tvms_strbuf *buffer, size_t at, const char *text, size_t len) {
  if (!len) return;
  if (len > buffer->cap - buffer->len) tvms_strbuf_grow(buffer, len);
  memmove(buffer->text + at + len, buffer->text + at, buffer->len - at);
  memcpy(buffer->text + at, text, len);
  buffer->len += len;
}

void tvms_strbuf_vprintf(tvms_strbuf *buffer, const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int len = vsnprintf(NULL, 0, format, arguments);
  if (len > 0) {
    size_t bytes = (size_t)len + 1;
    if (bytes > buffer->cap - buffer->len) tvms_strbuf_grow(buffer, bytes);
    vsnprintf(buffer->text + buffer->len, bytes, format, again);
    buffer->len += (size_t)len;
  }
  va_end(again);
}

void tvms_strbuf_printf(tvms_strbuf *buffer, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tvms_strbuf_vprintf(buffer, format, arguments);
  va_end(arguments);
}

const char *tvms_strbuf_text(tvms_strbuf *buffer) {
  tvms_strbuf_putc(buffer, '\0');
  buffer->len--;
  return buffer->text;
}

void tvms_strbuf_int(tvms_strbuf *buffer, int64_t value) {
  char digits[24];
  char *end = digits + sizeof digits;
  char *first = end;
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do {
    *--first = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest);
  if (value < 0) *--first = '-';
  tvms_strbuf_add(buffer, first, (size_t)(end - first));
}

void tvms_strbuf_wrap(tvms_strbuf *buffer, const char *text) {
  enum { WIDTH = 80 };
  size_t column = 0;
  while (*text) {
    bool kept = column == 0 && *text == ' ';  // a line of a program
    size_t word = strcspn(text, kept ? "\n" : " \n");
    bool wraps = column && column + 1 + word > WIDTH;
    if (column) tvms_strbuf_putc(buffer, wraps ? '\n' : ' ');
    tvms_strbuf_add(buffer, text, word);
    column = (wraps || !column ? 0 : column + 1) + word;
    text += word;
    size_t lines = strspn(text, "\n");
    if (lines) tvms_strbuf_fill(buffer, '\n', lines);
    if (lines) column = 0;
    text += lines ? lines : *text == ' ';
  }
  tvms_strbuf_putc(buffer, '\n');
}
