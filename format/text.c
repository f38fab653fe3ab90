// Normal spelling of the small things: numbers, strings, comments, operators.
//
// As black: digits and exponents in lower case but for hexadecimal ones, string prefixes
// in lower case without `u`, double quotes unless that needs more escapes, a space
// after '#'.
#include "format/text.h"

#include "format/walk.h"

#include <strings.h>

static bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
         || c == '_' || (unsigned char)c >= 0x80;
}

tvms_span tvms_format_name_from(const tvms_writer *w, uint32_t begin) {
  uint32_t end = begin;
  while (is_name_byte(w->source[end])) {
    end++;
  }
  return (tvms_span){begin, end};
}

tvms_span tvms_format_name_to(const tvms_writer *w, uint32_t end) {
  uint32_t begin = end;
  while (begin > 0 && is_name_byte(w->source[begin - 1])) {
    begin--;
  }
  return (tvms_span){begin, end};
}

uint32_t tvms_writer_columns(const tvms_writer *w) {
  uint32_t columns = 0;
  for (size_t i = w->line; i < w->out->len; i++) {
    columns += ((unsigned char)w->out->text[i] & 0xC0) != 0x80;
  }
  return columns;
}

const char *tvms_format_prefix(tvms_surf_op op) {
  return op == TVMS_OP_NOT ? "not " : tvms_surface_operator_text(op);
}

void tvms_format_number(tvms_writer *w, const tvms_surf *node) {
  const char *text = w->source + node->begin;
  uint32_t len = node->end - node->begin;
  bool based = len > 2 && text[0] == '0' && (text[1] | 0x20) >= 'a';
  bool hex = based && (text[1] | 0x20) == 'x';
  for (uint32_t i = 0; i < len; i++) {
    char c = text[i];
    if (hex && i > 1 && c >= 'a' && c <= 'f')
      c = (char)(c - 'a' + 'A');
    else if (c >= 'A' && c <= 'Z' && !(hex && i > 1))
      c = (char)(c - 'A' + 'a');
    tvms_writer_put_char(w, c);
  }
}

// Writes the bytes of a string and keeps track of the lines in it.
static void put_raw(tvms_writer *w, const char *text, uint32_t len) {
  tvms_writer_put(w, text, len);
  for (const char *at = text + len; at > text; at--) {
    if (at[-1] == '\n' || at[-1] == '\r') {
      w->line = w->out->len - (size_t)(text + len - at);
      return;
    }
  }
}

// A string literal taken apart.
typedef struct {
  const char *body;
  uint32_t len;
  uint32_t width;  // of its quotes
  char quote;
  bool raw, formatted;
} literal;

// True if the body may stand between other quotes: quotes in raw and in formatted strings
// cannot be escaped or are part of expressions.
static bool may_change_quotes(const literal *l, char to) {
  bool at_end = l->len && (l->body[l->len - 1] == to || l->body[l->len - 1] == '\\');
  if (l->width == 3 && at_end) return false;
  for (uint32_t i = 0; i < l->len; i++) {
    char c = l->body[i];
    if (l->formatted && (c == '\'' || c == '"' || c == '\\')) return false;
    if (l->raw && (c == to || (c == '\\' && l->body[i + 1] == l->quote))) return false;
    if (l->width == 3 && c == to) return false;
    if (c == '\\' && !l->raw) i++;
  }
  return true;
}

// The quotes that need the fewest escapes, `preferred` if they are as good as the others.
static char best_quotes(const literal *l, char preferred) {
  char other = preferred == '"' ? '\'' : '"';
  uint32_t count[2] = {0, 0};
  for (uint32_t i = 0; i < l->len; i++) {
    count[0] += l->body[i] == preferred;
    count[1] += l->body[i] == other;
  }
  char best = l->width == 1 && !l->raw && count[0] > count[1] ? other : preferred;
  return best == l->quote || may_change_quotes(l, best) ? best : l->quote;
}

static void put_quotes(tvms_writer *w, char quote, uint32_t width) {
  tvms_strbuf_fill(w->out, quote, width);
}

// Writes the body for quotes of one character: those are escaped, the others are not.
static void put_escaped(tvms_writer *w, const literal *l, char quote) {
  uint32_t from = 0;
  for (uint32_t i = 0; i < l->len; i++) {
    char c = l->body[i];
    if (c == quote) {
      put_raw(w, l->body + from, i - from);
      tvms_writer_put_char(w, '\\');
      from = i;
    } else if (c == '\\') {
      char next = l->body[i + 1];
      bool idle = (next == '\'' || next == '"') && next != quote;
      if (idle) {
        put_raw(w, l->body + from, i - from);
        from = i + 1;
      }
      i++;
    }
  }
  put_raw(w, l->body + from, l->len - from);
}

static void put_literal(tvms_writer *w, const literal *l, char quote) {
  put_quotes(w, quote, l->width);
  if (l->width == 1 && !l->raw && !l->formatted)
    put_escaped(w, l, quote);
  else
    put_raw(w, l->body, l->len);
  put_quotes(w, quote, l->width);
}

void tvms_format_string(tvms_writer *w, const tvms_surf *node) {
  const char *text = w->source + node->begin;
  uint32_t prefix = 0;
  literal l = {.width = 1};
  for (; text[prefix] != '\'' && text[prefix] != '"'; prefix++) {
    char c = (char)(text[prefix] | 0x20);
    l.raw |= c == 'r';
    l.formatted |= c == 'f';
    // black keeps a capital R, which editors colour in another way
    if (c != 'u') tvms_writer_put_char(w, text[prefix] == 'R' ? 'R' : c);
  }
  const char *quote = text + prefix;
  uint32_t len = node->end - node->begin - prefix;
  if (quote[1] == *quote && quote[2] == *quote && len >= 6) l.width = 3;
  l.quote = *quote;
  l.body = quote + l.width;
  l.len = len - 2 * l.width;
  // Strings of several lines are in double quotes whatever the style.
  char preferred = w->quotes == TVMS_FORMAT_SINGLE && l.width == 1 ? '\'' : '"';
  put_literal(w, &l,
              w->quotes == TVMS_FORMAT_PRESERVE ? l.quote : best_quotes(&l, preferred));
}

// Whether the text up to `end` is a word of ours and nothing else.
static bool is_word(const char *text, const char *end, const char *word) {
  while (text < end && strchr(" \t#", *text)) {
    text++;
  }
  while (end > text && strchr(" \t\f", end[-1])) {
    end--;
  }
  size_t len = strcspn(word, " ");
  if ((size_t)(end - text) < len || memcmp(text, word, len) != 0) return false;
  for (text += len; text < end && (*text == ' ' || *text == '\t');) {
    text++;
  }
  word += len + 1;
  return (size_t)(end - text) == strlen(word) && memcmp(text, word, strlen(word)) == 0;
}

tvms_format_directive tvms_format_directive_of(const char *text, uint32_t len) {
  const char *end = text + len;
  if (is_word(text, end, "fmt: off") || is_word(text, end, "yapf: disable"))
    return TVMS_DIRECTIVE_OFF;
  if (is_word(text, end, "fmt: on") || is_word(text, end, "yapf: enable"))
    return TVMS_DIRECTIVE_ON;
  for (const char *at = end; at > text;) {
    at--;
    if ((*at == '#' || *at == ';') && is_word(at + 1, end, "fmt: skip"))
      return TVMS_DIRECTIVE_SKIP;
    if (*at == '#' || *at == ';') end = at;
  }
  return TVMS_DIRECTIVE_NONE;
}

void tvms_format_comment(tvms_writer *w, const tvms_comment *comment) {
  const char *text = w->source + comment->begin;
  uint32_t len = comment->end - comment->begin;
  while (len > 1
         && (text[len - 1] == ' ' || text[len - 1] == '\t' || text[len - 1] == '\f')) {
    len--;
  }
  tvms_writer_put_char(w, '#');
  bool space = len > 1 && !strchr(" !:#'\t", text[1]);
  if (space) tvms_writer_put_char(w, ' ');
  tvms_writer_put(w, text + 1, len - 1);
}

// A comment that tells a linter or a type checker something.
static bool is_pragma(const char *text, const char *end) {
  static const char *const tools[] = {"isort",  "type", "pyright", "pylint",
                                      "flake8", "ruff", "ty"};
  while (text < end && (*text == ' ' || *text == '\t')) {
    text++;
  }
  if (end - text >= 4 && strncasecmp(text, "noqa", 4) == 0) return true;
  const char *colon = memchr(text, ':', (size_t)(end - text));
  for (size_t i = 0; colon && i < sizeof tools / sizeof tools[0]; i++) {
    size_t len = strlen(tools[i]);
    if ((size_t)(colon - text) == len && memcmp(text, tools[i], len) == 0) return true;
  }
  return false;
}

uint32_t tvms_format_behind(const tvms_writer *w, uint32_t begin, uint32_t end) {
  if (w->comment_at < begin || w->comment_at >= end) return 0;
  const tvms_comment *comment = &w->surface->comments[w->next];
  const char *text = w->source + comment->begin, *stop = w->source + comment->end;
  if (comment->own_line || is_pragma(text + 1, stop)) return 0;
  while (stop > text && (stop[-1] == ' ' || stop[-1] == '\t')) {
    stop--;
  }
  bool spaced = stop > text + 1 && !strchr(" !:#'\t", text[1]);
  uint32_t columns = spaced ? 3 : 2;
  for (; text < stop; text++) {
    columns += ((unsigned char)*text & 0xC0) != 0x80;
  }
  return columns;
}

void tvms_format_to_comment(tvms_writer *w, uint32_t index) {
  w->next = index;
  bool more = index < w->surface->comment_count;
  w->comment_at = more ? w->surface->comments[index].begin : UINT32_MAX;
}

void tvms_format_next_comment(tvms_writer *w) {
  tvms_format_to_comment(w, w->next + 1);
}

void tvms_format_comments_behind(tvms_writer *w, uint32_t end) {
  if (w->comment_at >= end || w->surface->comments[w->next].own_line) return;
  tvms_writer_put(w, "  ", 2);
  tvms_format_comment(w, &w->surface->comments[w->next]);
  tvms_format_next_comment(w);
}

void tvms_format_comments_before(tvms_writer *w, uint32_t end) {
  while (w->comment_at < end) {
    tvms_format_comment(w, &w->surface->comments[w->next]);
    tvms_format_next_comment(w);
    tvms_writer_new_line(w);
  }
}
