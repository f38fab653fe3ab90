// Strings, numbers and comments: their ends, and what is wrong with them.
#include "grammar/literal.h"

#include "grammar/identifier.h"
#include "grammar/lexer.h"
#include "grammar/meant.h"
#include "grammar/string_form.h"
#include "grammar/surface.h"
#include "support/diag_ids.h"

#include <string.h>

enum { DEEPEST_FSTRING = 100 };

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
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
    int digit = tvms_hex_digit(at[*at == '_']);
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

// Is this a name as TVM's front end for ONNX makes of "0.weight": digits, and a name that begins with '_'?
static bool is_numbered_name(const char *end, const char *word) {
  const char *letter = end;
  while (letter < word && *letter == '_')
    letter++;
  bool plain = letter > end && letter < word && !is_digit(*letter);
  for (const char *at = letter; at < word; at++)
    plain &= (unsigned char)*at < 0x80;
  return plain;
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
  tvms_diags *diags = &lexer->context->diags;
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_bad_number, tvms_lexer_span(lexer),
                                     what_number(lexer->token),
                                     (int)(word - lexer->token), lexer->token);
  if (!based && word == end + 1) tvms_lexer_explain_suffix(lexer, diag, end);
  if (kind != TVMS_TOK_INT || based || !is_numbered_name(end, word)) return kind;
  tvms_lexer_explain_numbered(lexer, diag);
  return TVMS_TOK_NAME;
}

tvms_token_kind tvms_lexer_take_leading_zero(tvms_lexer *lexer) {
  lexer->cursor = tvms_lexer_name_end(lexer, lexer->cursor);
  tvms_diag_report(&lexer->context->diags, TVMS_D_leading_zero, tvms_lexer_span(lexer));
  return TVMS_TOK_INT;
}

/* Strings */

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
    int digit = tvms_hex_digit(*end);
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

static void check_body(const tvms_lexer *lexer, tvms_string_form form,
                       const char *end) {
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
  check_body(lexer, tvms_string_form_of(lexer->token), lexer->cursor - 1);
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

static tvms_token_kind report_unfinished(tvms_lexer *lexer, tvms_string_form form,
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
  tvms_string_form form = tvms_string_form_of(lexer->token);
  const char *at = form.body;
  while (at < lexer->end && !tvms_string_closes(form, at)) {
    if (form.width == 1 && ends_line(*at)) break;
    at = *at == '\\' ? skip_escape(lexer, at) : at + 1;
  }
  if (at >= lexer->end || !tvms_string_closes(form, at))
    return report_unfinished(lexer, form, at);
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

static const char *skip_formatted(formatted *f, tvms_string_form form, int depth);

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
  tvms_string_form form = tvms_string_form_of(prefix);
  if (form.formatted && depth < DEEPEST_FSTRING)
    return skip_formatted(f, form, depth + 1);
  for (at = form.body; at < f->lexer->end && !tvms_string_closes(form, at);) {
    if (form.width == 1 && ends_line(*at)) return broken(f, at);
    at = *at == '\\' ? skip_escape(f->lexer, at) : at + 1;
  }
  return at < f->lexer->end ? at + form.width : broken(f, f->lexer->end);
}

// The specification behind ':' in a field, up to the field's '}'.
static const char *skip_spec(formatted *f, tvms_string_form form, const char *at,
                             int depth);

// The expression between braces, from behind '{' to behind its '}'.
static const char *skip_field(formatted *f, tvms_string_form form, const char *field,
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
    case '#': at += strcspn(at, "\r\n"); continue;
    case ':':
      if (open == 0) return skip_spec(f, form, at + 1, depth);
      break;
    default: break;
    }
    at++;
  }
  return broken(f, f->lexer->end);
}

static const char *skip_spec(formatted *f, tvms_string_form form, const char *at,
                             int depth) {
  while (at < f->lexer->end && f->whole && !tvms_string_closes(form, at)) {
    if (*at == '}') return at + 1;
    if (form.width == 1 && ends_line(*at)) break;
    at = *at == '{' ? skip_field(f, form, at + 1, depth + 1) : at + 1;
  }
  return broken(f, at);
}

static const char *skip_formatted(formatted *f, tvms_string_form form, int depth) {
  const char *at = form.body;
  while (at < f->lexer->end && f->whole && !tvms_string_closes(form, at)) {
    if (form.width == 1 && ends_line(*at)) return broken(f, at);
    if (*at == '\\' && at[1] != '{' && at[1] != '}') {
      at = skip_escape(f->lexer, at);
    } else if (*at == '{' && at[1] != '{') {
      at = skip_field(f, form, at + 1, depth);
    } else {
      at += *at == '{' ? 2 : 1;
    }
  }
  bool closed = f->whole && at < f->lexer->end && tvms_string_closes(form, at);
  return closed ? at + form.width : broken(f, at);
}

tvms_token_kind tvms_lexer_take_fstring(tvms_lexer *lexer) {
  tvms_string_form form = tvms_string_form_of(lexer->token);
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
