// Strings, numbers and comments: their ends, what is wrong with them, and their values.
//
// The lexer checks a literal once and reports; the functions that give values are called
// later, on literals that may have been reported, and then return something harmless.
#include "grammar/literal.h"

#include "grammar/identifier.h"
#include "grammar/lexer.h"
#include "grammar/surface.h"
#include "support/diag_ids.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST_FSTRING = 100 };

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

static tvms_span span_of(const tvms_lexer *lexer, const char *begin, const char *end) {
  return (tvms_span){tvms_lexer_offset(lexer, begin), tvms_lexer_offset(lexer, end)};
}

const unsigned char *tvms_lexer_take_comment(tvms_lexer *lexer,
                                             const unsigned char *begin,
                                             const unsigned char *end) {
  const char *from = (const char *)begin;
  const char *at = (const char *)end;
  while (at < lexer->end && *at != '\n' && *at != '\r') {
    at++;  // over NULs, which have been reported
  }
  tvms_surface *surface = lexer->surface;
  if (surface->comment_count == surface->comment_cap) {
    uint32_t cap = surface->comment_cap ? surface->comment_cap * 2 : 32;
    surface->comments = tvms_memory_realloc(&lexer->context->memory, surface->comments,
                                            cap * sizeof *surface->comments);
    surface->comment_cap = cap;
  }
  uint32_t offset = tvms_lexer_offset(lexer, from);
  const char *line = from;
  for (uint32_t left = offset; left > 0; left--) {
    char before = line[-1];
    if (before != ' ' && before != '\t' && before != '\f') break;
    line--;
  }
  bool own_line = tvms_lexer_offset(lexer, line) == 0 || line[-1] == '\n'
                  || line[-1] == '\r'
                  || (tvms_lexer_offset(lexer, line) == 3
                      && memcmp(line - 3, "\xEF\xBB\xBF", 3) == 0);
  surface->comments[surface->comment_count++] = (tvms_comment){
      .begin = offset, .end = tvms_lexer_offset(lexer, at), .own_line = own_line};
  return (const unsigned char *)at;
}

tvms_token_kind tvms_lexer_take_backslash(tvms_lexer *lexer) {
  tvms_diag_report(&lexer->context->diags, TVMS_D_bad_line_join,
                   tvms_lexer_span(lexer));
  return TVMS_TOK_STRAY;
}

/* Numbers */

static bool follows_number(const char *word, size_t len) {
  static const char *const words[] = {"and", "else", "for", "if",
                                      "in",  "is",   "not", "or"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (strlen(words[i]) == len && memcmp(words[i], word, len) == 0) return true;
  }
  return false;
}

// End of the well-formed number at `at`; tells its kind.
static const char *end_of_digits(const char *at, int base) {
  for (;; at++) {
    int digit = hex_digit(at[*at == '_']);
    if (digit < 0 || digit >= base) return at;
    at += *at == '_';
  }
}

static const char *end_of_number(const char *at, tvms_token_kind *kind) {
  *kind = TVMS_TOK_INT;
  char mark = (char)(*at == '0' ? at[1] | 0x20 : 0);
  int base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
  if (base != 10) return end_of_digits(at + 2, base);
  if (is_digit(*at)) at = end_of_digits(at + 1, 10);
  if (*at == '.') {
    *kind = TVMS_TOK_FLOAT;
    at++;
    if (is_digit(*at)) at = end_of_digits(at + 1, 10);
  }
  const char *exponent = at + 1 + (at[1] == '+' || at[1] == '-');
  if ((*at == 'e' || *at == 'E') && is_digit(*exponent)) {
    *kind = TVMS_TOK_FLOAT;
    at = end_of_digits(exponent + 1, 10);
  }
  if (*at == 'j' || *at == 'J') {
    *kind = TVMS_TOK_IMAGINARY;
    at++;
  }
  return at;
}

static const char *what_number(const char *token) {
  char mark = (char)(*token == '0' ? token[1] | 0x20 : 0);
  if (mark == 'x') return "hexadecimal";
  if (mark == 'o') return "octal";
  return mark == 'b' ? "binary" : "decimal";
}

// A number with letters behind it: sound if they are a word that may follow one.
tvms_token_kind tvms_lexer_take_number(tvms_lexer *lexer, tvms_token_kind kind) {
  const char *end = end_of_number(lexer->token, &kind);
  const char *word = tvms_lexer_name_end(lexer, end);
  bool based = end == lexer->token + 2 && !is_digit(lexer->token[1])
               && lexer->token[1] != '.' && kind == TVMS_TOK_INT;
  lexer->cursor = end;
  if (!based && (word == end || follows_number(end, (size_t)(word - end)))) return kind;
  lexer->cursor = word;
  tvms_diag_report(&lexer->context->diags, TVMS_D_bad_number, tvms_lexer_span(lexer),
                   what_number(lexer->token), (int)(word - lexer->token), lexer->token);
  return kind;
}

tvms_token_kind tvms_lexer_take_leading_zero(tvms_lexer *lexer) {
  lexer->cursor = tvms_lexer_name_end(lexer, lexer->cursor);
  tvms_diag_report(&lexer->context->diags, TVMS_D_leading_zero, tvms_lexer_span(lexer));
  return TVMS_TOK_INT;
}

/* Strings */

// The parts of a string token: letters before the quote, kind and width of the quote.
typedef struct {
  bool raw, bytes, formatted;
  char quote;
  uint32_t width;    // 1 or 3
  const char *body;  // after the opening quote
} string_form;

static string_form form_of(const char *token) {
  string_form form = {.width = 1};
  for (; *token != '\'' && *token != '"'; token++) {
    char letter = (char)(*token | 0x20);
    form.raw |= letter == 'r';
    form.bytes |= letter == 'b';
    form.formatted |= letter == 'f';
  }
  form.quote = *token;
  // `""` followed by another quote is a triple one: the lexer takes the longest match.
  if (token[1] == form.quote && token[2] == form.quote) form.width = 3;
  form.body = token + form.width;
  return form;
}

static void report_escape(const tvms_lexer *lexer, const char *begin, const char *end,
                          const char *what) {
  tvms_diag_report(&lexer->context->diags, TVMS_D_bad_escape,
                   span_of(lexer, begin, end), what);
}

// Checks `digits` hexadecimal digits after the letter at `at`. Returns their end.
static const char *check_hex(const tvms_lexer *lexer, const char *at, int digits) {
  uint32_t value = 0;
  const char *end = at + 1;
  for (int i = 0; i < digits; i++, end++) {
    int digit = hex_digit(*end);
    if (digit < 0) {
      report_escape(lexer, at - 1, end, "too few hexadecimal digits");
      return end;
    }
    value = value * 16 + (uint32_t)digit;
  }
  if (value > 0x10FFFF) report_escape(lexer, at - 1, end, "beyond U+10FFFF");
  return end;
}

static const char *check_escape(const tvms_lexer *lexer, const char *at,
                                const char *end, bool bytes) {
  char letter = at[1];
  if (letter == 'x') return check_hex(lexer, at + 1, 2);
  if (bytes) return at + 2;
  if (letter == 'u') return check_hex(lexer, at + 1, 4);
  if (letter == 'U') return check_hex(lexer, at + 1, 8);
  if (letter != 'N') return at + 2;
  const char *shut = at[2] == '{' ? memchr(at, '}', (size_t)(end - at)) : NULL;
  if (!shut) {
    report_escape(lexer, at, at + 2, "'\\N' needs the name of a character in braces");
    return at + 2;
  }
  tvms_diag_report(&lexer->context->diags, TVMS_D_named_escape,
                   span_of(lexer, at, shut + 1));
  return shut + 1;
}

static void check_body(const tvms_lexer *lexer, string_form form, const char *end) {
  for (const char *at = form.body; at < end;) {
    if (form.bytes && (unsigned char)*at >= 0x80) {
      tvms_diag_report(&lexer->context->diags, TVMS_D_wide_bytes,
                       span_of(lexer, at, at + 1));
      return;
    }
    if (*at == '\\' && !form.raw)
      at = check_escape(lexer, at, end, form.bytes);
    else
      at += *at == '\\' ? 2 : 1;
  }
}

tvms_token_kind tvms_lexer_take_escapes(tvms_lexer *lexer) {
  check_body(lexer, form_of(lexer->token), lexer->cursor - 1);
  return TVMS_TOK_STRING;
}

static bool ends_line(char c) {
  return c == '\n' || c == '\r';
}

// After the backslash at `at` and what it escapes.
static const char *skip_escape(const tvms_lexer *lexer, const char *at) {
  if (at + 1 >= lexer->end) return lexer->end;
  return at + (at[1] == '\r' && at[2] == '\n' ? 3 : 2);
}

// A text that begins or ends too early makes words of what is around it on its line.
static void forget_refused(tvms_lexer *lexer) {
  const char *begin = lexer->token;
  while (begin > lexer->begin && begin[-1] != '\n') {
    begin--;
  }
  tvms_diags_forget(&lexer->context->diags, TVMS_D_syntax,
                    span_of(lexer, begin, lexer->token));
}

static bool closes(string_form form, const char *at) {
  return *at == form.quote
         && (form.width == 1 || (at[1] == form.quote && at[2] == form.quote));
}

static tvms_token_kind report_unfinished(tvms_lexer *lexer, string_form form,
                                         const char *at) {
  lexer->cursor = at;
  lexer->unfinished = true;
  forget_refused(lexer);
  tvms_diag *diag = tvms_diag_report(&lexer->context->diags,
                                     form.width == 3 ? TVMS_D_unfinished_triple
                                                     : TVMS_D_unfinished_string,
                                     span_of(lexer, lexer->token, form.body));
  tvms_diag_remark(&lexer->context->diags, diag, "it ends with %.*s", (int)form.width,
                   form.body - form.width);
  return TVMS_TOK_BROKEN;
}

tvms_token_kind tvms_lexer_take_string(tvms_lexer *lexer) {
  string_form form = form_of(lexer->token);
  const char *at = form.body;
  while (at < lexer->end && !closes(form, at)) {
    if (form.width == 1 && ends_line(*at)) break;
    at = *at == '\\' ? skip_escape(lexer, at) : at + 1;
  }
  if (at >= lexer->end || !closes(form, at)) return report_unfinished(lexer, form, at);
  lexer->cursor = at + form.width;
  check_body(lexer, form, at);
  return TVMS_TOK_STRING;
}

// f-strings: every function moves from behind an opening to behind its end, and leaves
// `whole` false if that does not come.
typedef struct {
  const tvms_lexer *lexer;
  bool whole;
} formatted;

static const char *skip_formatted(formatted *f, string_form form, int depth);

static const char *broken(formatted *f, const char *at) {
  f->whole = false;
  return at;
}

// From a quote inside the braces of an f-string to behind the string that it opens.
static const char *skip_nested(formatted *f, const char *field, const char *at,
                               int depth) {
  const char *prefix = at;
  while (prefix > field && is_letter(prefix[-1]) && at - prefix < 2) {
    prefix--;
  }
  string_form form = form_of(prefix);
  if (form.formatted && depth < DEEPEST_FSTRING)
    return skip_formatted(f, form, depth + 1);
  for (at = form.body; at < f->lexer->end && !closes(form, at);) {
    if (form.width == 1 && ends_line(*at)) return broken(f, at);
    at = *at == '\\' ? skip_escape(f->lexer, at) : at + 1;
  }
  return at < f->lexer->end ? at + form.width : broken(f, f->lexer->end);
}

// The specification behind ':' in a field, up to the field's '}'.
static const char *skip_spec(formatted *f, string_form form, const char *at, int depth);

// The expression between braces, from behind '{' to behind its '}'.
static const char *skip_field(formatted *f, string_form form, const char *field,
                              int depth) {
  if (depth > DEEPEST_FSTRING) return broken(f, field);
  uint32_t open = 0;
  for (const char *at = field; at < f->lexer->end && f->whole;) {
    switch (*at) {
    case '\'':
    case '"': at = skip_nested(f, field, at, depth); continue;
    case '(':
    case '[':
    case '{': open++; break;
    case ')':
    case ']': open -= open > 0; break;
    case '}':
      if (open == 0) return at + 1;
      open--;
      break;
    case ':':
      if (open == 0) return skip_spec(f, form, at + 1, depth);
      break;
    default: break;
    }
    at++;
  }
  return broken(f, f->lexer->end);
}

static const char *skip_spec(formatted *f, string_form form, const char *at,
                             int depth) {
  while (at < f->lexer->end && f->whole && !closes(form, at)) {
    if (*at == '}') return at + 1;
    if (form.width == 1 && ends_line(*at)) break;
    at = *at == '{' ? skip_field(f, form, at + 1, depth + 1) : at + 1;
  }
  return broken(f, at);
}

static const char *skip_formatted(formatted *f, string_form form, int depth) {
  const char *at = form.body;
  while (at < f->lexer->end && f->whole && !closes(form, at)) {
    if (form.width == 1 && ends_line(*at)) return broken(f, at);
    if (*at == '\\' && at[1] != '{' && at[1] != '}') {
      at = skip_escape(f->lexer, at);
    } else if (*at == '{' && at[1] != '{') {
      at = skip_field(f, form, at + 1, depth);
    } else {
      at += *at == '{' ? 2 : 1;
    }
  }
  bool closed = f->whole && at < f->lexer->end && closes(form, at);
  return closed ? at + form.width : broken(f, at);
}

tvms_token_kind tvms_lexer_take_fstring(tvms_lexer *lexer) {
  string_form form = form_of(lexer->token);
  formatted f = {lexer, true};
  const char *end = skip_formatted(&f, form, 0);
  if (!f.whole) {
    end = form.body;
    while (end < lexer->end && (form.width == 3 || !ends_line(*end))) {
      end++;
    }
    return report_unfinished(lexer, form, end);
  }
  lexer->cursor = end;
  return TVMS_TOK_STRING;
}

/* Values */

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
    int digit = hex_digit(*at);
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
    return form_of(literal_of(surface, ref).begin).formatted;
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
  string_form form = form_of(text + node->begin);
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
  for (int i = 0; i < digits && at < end && hex_digit(*at) >= 0; i++, at++) {
    *c = *c * 16 + (uint32_t)hex_digit(*at);
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
  string_form form = form_of(token.begin);
  const char *end = token.end;
  bool finished = end - form.width >= form.body && closes(form, end - form.width);
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
