// Normal spelling of the small things: numbers, strings, comments, operators.
//
// As black: digits and exponents in lower case but for hexadecimal ones, string prefixes
// in lower case without `u`, double quotes unless that needs more escapes, a space
// after '#'.
#include "format/text.h"

#include "format/walk.h"

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

// True if the body between single quotes may stand between double quotes. Nested quotes
// of f-strings are left alone.
static bool may_change_quotes(const char *body, uint32_t len, uint32_t width, bool raw,
                              bool formatted) {
  if (width == 3 && len && (body[len - 1] == '"' || body[len - 1] == '\\'))
    return false;
  for (uint32_t i = 0; i < len; i++) {
    if (body[i] == '"') return false;
    if (formatted && (body[i] == '\'' || body[i] == '\\')) return false;
    if (body[i] == '\\') {
      if (raw && (body[i + 1] == '\'' || body[i + 1] == '"')) return false;
      if (body[i + 1] == '"') return false;
      i++;
    }
  }
  return true;
}

static void put_double(tvms_writer *w, const char *body, uint32_t len, uint32_t width) {
  tvms_writer_put(w, "\"\"\"", width);
  uint32_t from = 0;
  for (uint32_t i = 0; i + 1 < len; i++) {
    if (body[i] != '\\') continue;
    if (body[i + 1] == '\'') {
      put_raw(w, body + from, i - from);
      from = i + 1;
    }
    i++;
  }
  put_raw(w, body + from, len - from);
  tvms_writer_put(w, "\"\"\"", width);
}

void tvms_format_string(tvms_writer *w, const tvms_surf *node) {
  const char *text = w->source + node->begin;
  uint32_t len = node->end - node->begin;
  if (text[0] == '"') {
    put_raw(w, text, len);
    return;
  }
  uint32_t prefix = 0;
  bool raw = false, formatted = false;
  for (; text[prefix] != '\'' && text[prefix] != '"'; prefix++) {
    char c = (char)(text[prefix] | 0x20);
    raw |= c == 'r';
    formatted |= c == 'f';
    // black keeps a capital R, which editors colour in another way
    if (c != 'u') tvms_writer_put_char(w, text[prefix] == 'R' ? 'R' : c);
  }
  const char *quote = text + prefix;
  uint32_t width =
      quote[1] == *quote && quote[2] == *quote && len - prefix >= 6 ? 3 : 1;
  uint32_t body = len - prefix - 2 * width;
  if (*quote == '\'' && may_change_quotes(quote + width, body, width, raw, formatted)) {
    put_double(w, quote + width, body, width);
  } else {
    put_raw(w, quote, len - prefix);
  }
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
