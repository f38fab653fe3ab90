// Text that grows at its end.
#ifndef TVMS_SUPPORT_STRBUF_H
#define TVMS_SUPPORT_STRBUF_H

#include "support/memory.h"

#include <stdarg.h>
#include <string.h>

typedef struct {
  tvms_memory *memory;
  char *text;  // not ended by NUL; see tvms_strbuf_text
  size_t len;
  size_t cap;
} tvms_strbuf;

// An empty text; it takes memory when something is added.
void tvms_strbuf_init(tvms_strbuf *buffer, tvms_memory *memory);

// Frees the text; the buffer is empty then, and may be used again.
void tvms_strbuf_fini(tvms_strbuf *buffer);

// Makes room for `more` further bytes by doubling what there is. Failure unwinds.
void tvms_strbuf_grow(tvms_strbuf *buffer, size_t more);

// Appends what printf would write.
void tvms_strbuf_printf(tvms_strbuf *buffer, const char *format, ...) TVMS_PRINTF(2, 3);

// The same for functions that take such arguments themselves.
void tvms_strbuf_vprintf(tvms_strbuf *buffer, const char *format, va_list arguments)
    TVMS_PRINTF(2, 0);

// Ends the text with a NUL that is not counted, and returns it. Valid until it grows.
const char *tvms_strbuf_text(tvms_strbuf *buffer);

static inline void tvms_strbuf_add(tvms_strbuf *buffer, const char *text, size_t len) {
  if (len > buffer->cap - buffer->len) tvms_strbuf_grow(buffer, len);
  if (len) memcpy(buffer->text + buffer->len, text, len);
  buffer->len += len;
}
static inline void tvms_strbuf_puts(tvms_strbuf *buffer, const char *text) {
  tvms_strbuf_add(buffer, text, strlen(text));
}
static inline void tvms_strbuf_putc(tvms_strbuf *buffer, char c) {
  if (buffer->len == buffer->cap) tvms_strbuf_grow(buffer, 1);
  buffer->text[buffer->len++] = c;
}
// Puts `text` at an offset and moves what stands there.
void tvms_strbuf_insert(tvms_strbuf *buffer, size_t at, const char *text, size_t len);

static inline void tvms_strbuf_fill(tvms_strbuf *buffer, char c, size_t count) {
  if (count > buffer->cap - buffer->len) tvms_strbuf_grow(buffer, count);
  if (count) memset(buffer->text + buffer->len, c, count);
  buffer->len += count;
}

// Appends words in lines of at most 80 columns, and ends the last one. An empty line in
// `text` stays one, and so does a line that begins with a blank.
void tvms_strbuf_wrap(tvms_strbuf *buffer, const char *text);

// Appends the decimal digits of `value`; much faster than printf.
void tvms_strbuf_int(tvms_strbuf *buffer, int64_t value);

#endif
