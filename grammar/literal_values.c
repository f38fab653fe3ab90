// Values of literals.
//
// The lexer has checked a literal and reported; what is wrong with one gives something harmless.
#include "grammar/literal_values.h"

#include "grammar/string_form.h"

#include <stdlib.h>
#include <string.h>

// The bytes of a literal.
typedef struct {
  const char *begin;
  const char *end;
} literal;

static literal literal_of(const tvms_surface *surface, tvms_ref ref) {
  const tvms_surf *node = tvms_surface_at(surface, ref);
  if (node->flags & TVMS_SURF_DECODED) {
    const tvms_name *name = tvms_interner_name(&surface->context->names, node->c);
    return (literal){name->text, name->text + name->len};
  }
  const char *text = surface->source->text;
  return (literal){text + node->begin, text + node->end};
}

bool tvms_surface_int(const tvms_surface *surface, tvms_ref ref, uint64_t *value) {
  literal digits = literal_of(surface, ref);
  const char *at = digits.begin, *end = digits.end;
  char mark = (char)(*at == '0' ? at[1] | 0x20 : 0);
  uint32_t base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
  if (base != 10) at += 2;
  uint64_t sum = 0;
  for (; at < end; at++) {
    if (*at == '_') continue;
    int digit = tvms_hex_digit(*at);
    if (digit < 0 || (uint32_t)digit >= base) break;  // reported
    if (__builtin_mul_overflow(sum, base, &sum)
        || __builtin_add_overflow(sum, (uint64_t)digit, &sum)) {
      return false;
    }
  }
  *value = sum;
  return true;
}

double tvms_surface_float(const tvms_surface *surface, tvms_ref ref) {
  enum { SHORT = 64 };
  literal written = literal_of(surface, ref);
  char small[SHORT];
  tvms_arena *scratch = &surface->context->scratch;
  tvms_mark mark = tvms_arena_mark(scratch);
  size_t size = (size_t)(written.end - written.begin);
  char *digits = size < SHORT ? small : tvms_arena_alloc(scratch, size + 1);
  size_t len = 0;
  for (const char *at = written.begin; at < written.end; at++) {
    if (*at != '_') digits[len++] = *at;
  }
  digits[len] = '\0';
  double value = strtod(digits, NULL);
  tvms_arena_reset(scratch, mark);
  return value;
}

bool tvms_surface_is_fstring(const tvms_surface *surface, tvms_ref ref) {
  const tvms_surf *node = tvms_surface_at(surface, ref);
  if (node->kind == TVMS_SURF_STRING) {
    return tvms_string_form_of(literal_of(surface, ref).begin).formatted;
  }
  if (node->kind != TVMS_SURF_STRINGS) return false;
  tvms_surface_each(surface, piece, node->a) {
    if (tvms_surface_is_fstring(surface, piece)) return true;
  }
  return false;
}

bool tvms_surface_string_inside(const tvms_surface *surface, tvms_ref ref,
                                tvms_span *inside) {
  const tvms_surf *node = tvms_surface_at(surface, ref);
  if (node->kind != TVMS_SURF_STRING || node->flags & TVMS_SURF_DECODED) return false;
  const char *text = surface->source->text;
  tvms_string_form form = tvms_string_form_of(text + node->begin);
  uint32_t begin = (uint32_t)(form.body - text);
  if (form.formatted || form.bytes || node->end < begin + form.width) return false;
  *inside = (tvms_span){begin, node->end - form.width};
  return form.raw || !memchr(form.body, '\\', inside->end - begin);
}

// Writes `c` as UTF-8; lone surrogates as the three bytes that their number gives.
static char *put_character(char *out, uint32_t c) {
  if (c < 0x80) {
    *out++ = (char)c;
    return out;
  }
  int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static const unsigned char first[] = {0, 0xC0, 0xE0, 0xF0};
  *out++ = (char)(first[more] | c >> (6 * more));
  while (more-- > 0) {
    *out++ = (char)(0x80 | (c >> (6 * more) & 0x3F));
  }
  return out;
}

static const char *decode_hex(const char *at, const char *end, int digits,
                              uint32_t *c) {
  *c = 0;
  for (int i = 0; i < digits && at < end && tvms_hex_digit(*at) >= 0; i++, at++) {
    *c = *c * 16 + (uint32_t)tvms_hex_digit(*at);
  }
  if (*c > 0x10FFFF) *c = 0xFFFD;
  return at;
}

// The escape behind the backslash at `at`; unknown ones stand for themselves.
static const char *decode_escape(const char *at, const char *end, bool bytes,
                                 char **out) {
  static const char letters[] = "abfnrtv\\'\"";
  static const char values[] = "\a\b\f\n\r\t\v\\'\"";
  char letter = at[1];
  uint32_t c = 0;
  if (letter == '\n') return at + 2;
  if (letter == '\r') return at + (at[2] == '\n' ? 3 : 2);
  const char *known = letter ? strchr(letters, letter) : NULL;
  if (known) {
    *(*out)++ = values[known - letters];
    return at + 2;
  }
  if (letter >= '0' && letter <= '7') {
    const char *stop = at + 4 < end ? at + 4 : end;
    for (at++; at < stop && *at >= '0' && *at <= '7'; at++) {
      c = c * 8 + (uint32_t)(*at - '0');
    }
  } else if (letter == 'x') {
    at = decode_hex(at + 2, end, 2, &c);
  } else if (!bytes && (letter == 'u' || letter == 'U')) {
    at = decode_hex(at + 2, end, letter == 'u' ? 4 : 8, &c);
  } else {
    *(*out)++ = '\\';
    return at + 1;
  }
  if (bytes)
    *(*out)++ = (char)c;
  else
    *out = put_character(*out, c);
  return at;
}

// What a string is decoded into.
typedef struct {
  char *text;
  char *at;                        // behind what is there
  uint32_t *TVMS_NULLABLE places;  // of each byte of `text` and of its end
  bool bytes;
} decoding;

// The first `byte` from `at` on, or `end`.
static const char *next_of(const char *at, const char *end, char byte) {
  const char *found = memchr(at, byte, (size_t)(end - at));
  return found ? found : end;
}

static void decode_piece(const tvms_surface *surface, tvms_ref ref, decoding *d) {
  const tvms_surf *node = tvms_surface_at(surface, ref);
  literal token = literal_of(surface, ref);
  tvms_string_form form = tvms_string_form_of(token.begin);
  const char *end = token.end;
  bool finished =
      end - form.width >= form.body && tvms_string_closes(form, end - form.width);
  if (finished) end -= form.width;
  d->bytes = form.bytes;
  // Bytes that are decoded twice have no places of their own.
  bool placed = !(node->flags & TVMS_SURF_DECODED);
  const char *escape = NULL;  // the next backslash that is one, or `end`
  for (const char *at = form.body; at < end;) {
    uint32_t place = node->begin + (placed ? (uint32_t)(at - token.begin) : 0);
    char *begin = d->at;
    if (!escape || escape < at) escape = form.raw ? end : next_of(at, end, '\\');
    if (at == escape) {
      at = decode_escape(at, end, form.bytes, &d->at);
    } else if (*at == '\r') {
      *d->at++ = '\n';
      at += at[1] == '\n' ? 2 : 1;
    } else if (d->places) {
      *d->at++ = *at++;
    } else {
      const char *stop = next_of(at, escape, '\r');
      memcpy(d->at, at, (size_t)(stop - at));
      d->at += stop - at;
      at = stop;
    }
    for (; d->places && begin < d->at; begin++) {
      d->places[begin - d->text] = place;
    }
  }
  uint32_t behind = placed ? (uint32_t)(end - token.begin) : node->end - node->begin;
  if (d->places) d->places[d->at - d->text] = node->begin + behind;
}

static tvms_surf_text decode(const tvms_surface *surface, tvms_ref ref, decoding *d) {
  const tvms_surf *node = tvms_surface_at(surface, ref);
  d->at = d->text;
  if (node->kind == TVMS_SURF_STRING) {
    decode_piece(surface, ref, d);
  } else {
    tvms_surface_each(surface, piece, node->a) {
      decode_piece(surface, piece, d);
    }
  }
  *d->at = '\0';
  return (tvms_surf_text){
      .text = d->text, .len = (size_t)(d->at - d->text), .is_bytes = d->bytes};
}

tvms_surf_text tvms_surface_string(const tvms_surface *surface, tvms_ref ref,
                                   tvms_arena *arena) {
  const tvms_surf *node = tvms_surface_at(surface, ref);
  // No escape is shorter than the bytes that it stands for.
  decoding d = {.text = tvms_arena_alloc(arena, node->end - node->begin + 4)};
  return decode(surface, ref, &d);
}

tvms_surf_text tvms_surface_placed_string(const tvms_surface *surface, tvms_ref ref,
                                          tvms_arena *arena, const uint32_t **places) {
  enum { PADDING = 16 };
  const tvms_surf *node = tvms_surface_at(surface, ref);
  size_t most = node->end - node->begin + PADDING;
  decoding d = {.text = tvms_arena_alloc(arena, most),
                .places = tvms_arena_array(arena, uint32_t, most)};
  *places = d.places;
  return decode(surface, ref, &d);
}
