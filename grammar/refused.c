// What recovery asks of tokens: what to call one that the grammar refuses, and where a statement begins.
#include "grammar/refused.h"

#include <stdio.h>
#include <string.h>

void tvms_token_say(const char *source, tvms_token token, bool nested, char *text,
                    size_t size) {
  enum { LONGEST = 40 };
  if (token.kind == TVMS_TOK_END && nested) {
    snprintf(text, size, "end of the expression");
    return;
  }
  if (token.kind == TVMS_TOK_NEWLINE || token.kind == TVMS_TOK_END
      || token.kind == TVMS_TOK_INDENT || token.kind == TVMS_TOK_DEDENT) {
    snprintf(text, size, "%s", tvms_token_text(token.kind));
    return;
  }
  int len = (int)(token.end - token.begin);
  const char *written = source + token.begin;
  int shown = len;
  if (len > LONGEST) {
    for (shown = LONGEST;
         shown > 0 && ((unsigned char)written[shown] & 0xC0) == 0x80;) {
      shown--;
    }
  }
  const char *line_end = memchr(written, '\n', (size_t)shown);
  if (line_end) shown = (int)(line_end - written);
  snprintf(text, size, "'%.*s%s'", shown, written, shown < len ? "..." : "");
}

const char *TVMS_NULLABLE tvms_token_unsupported(const char *source, tvms_token token,
                                                 tvms_token first) {
  switch ((int)token.kind) {
  case TVMS_TOK_TRY:
  case TVMS_TOK_EXCEPT:
  case TVMS_TOK_FINALLY: return "'try'";
  case TVMS_TOK_RAISE: return "'raise'";
  case TVMS_TOK_ASYNC: return "'async'";
  case TVMS_TOK_AWAIT: return "'await'";
  case TVMS_TOK_YIELD: return "'yield'";
  default: break;
  }
  if (first.kind != TVMS_TOK_NAME || token.begin == first.begin) return NULL;
  const char *text = source + first.begin;
  uint32_t len = first.end - first.begin;
  if (len == 5 && memcmp(text, "match", 5) == 0) return "'match'";
  if (len == 4 && memcmp(text, "case", 4) == 0) return "'match'";
  if (len == 4 && memcmp(text, "type", 4) == 0 && token.kind == TVMS_TOK_NAME) {
    return "a 'type' statement";
  }
  return NULL;
}

bool tvms_token_is_header(tvms_token_kind kind) {
  return kind == TVMS_TOK_DEF || kind == TVMS_TOK_CLASS || kind == TVMS_TOK_FOR
         || kind == TVMS_TOK_WHILE || kind == TVMS_TOK_IF || kind == TVMS_TOK_ELIF
         || kind == TVMS_TOK_ELSE || kind == TVMS_TOK_WITH;
}

bool tvms_token_only_begins_statement(tvms_token_kind kind) {
  switch ((int)kind) {
  case TVMS_TOK_DEF:
  case TVMS_TOK_CLASS:
  case TVMS_TOK_WITH:
  case TVMS_TOK_WHILE:
  case TVMS_TOK_RETURN:
  case TVMS_TOK_ASSERT:
  case TVMS_TOK_PASS:
  case TVMS_TOK_BREAK:
  case TVMS_TOK_CONTINUE:
  case TVMS_TOK_IMPORT:
  case TVMS_TOK_DEL:
  case TVMS_TOK_GLOBAL:
  case TVMS_TOK_NONLOCAL:
  case TVMS_TOK_TRY:
  case TVMS_TOK_RAISE: return true;
  default: return false;
  }
}

static uint32_t begin_of_line(const char *source, uint32_t at) {
  while (at > 0 && source[at - 1] != '\n') {
    at--;
  }
  return at;
}

// Behind the last character of a line that is not blank; a '#' in a text counts as a comment.
static uint32_t end_of_code(const char *source, uint32_t line) {
  uint32_t end = line + (uint32_t)strcspn(source + line, "#\r\n");
  while (end > line && strchr(" \t", source[end - 1])) {
    end--;
  }
  return end;
}

uint32_t tvms_token_header_end(const char *source, tvms_token first, uint32_t place) {
  enum { MOST_LINES = 200 };
  uint32_t column = first.begin - begin_of_line(source, first.begin);
  uint32_t line = begin_of_line(source, place);
  if (source[end_of_code(source, line) - 1] == ':') return 0;
  for (int i = 0; i < MOST_LINES; i++) {
    line += (uint32_t)strcspn(source + line, "\n");
    if (!source[line]) return 0;
    line++;
    uint32_t begin = line + (uint32_t)strspn(source + line, " \t"),
             end = end_of_code(source, line);
    bool out = begin - line <= column && !strchr(")]}#\r\n", source[begin]);
    if (out) return 0;
    if (end > line && source[end - 1] == ':') return end;
  }
  return 0;
}

static uint32_t indentation_at(const char *text, uint32_t line) {
  uint32_t at = line;
  while (text[at] == ' ' || text[at] == '\t') {
    at++;
  }
  return at - line;
}

bool tvms_token_heads_block(const char *text, tvms_token token, tvms_token first) {
  if (!tvms_token_is_header(first.kind)) return false;
  uint32_t before = token.begin;
  while (before > first.end && strchr(" \t/:", text[before - 1])) {
    before--;
  }
  if (!memchr(text + before, ':', token.begin - before)) return false;
  uint32_t line = first.begin;
  while (line > 0 && text[line - 1] != '\n') {
    line--;
  }
  const char *next = strchr(text + token.end, '\n');
  while (next && (next[1] == '\n' || next[1] == '\r')) {
    next = strchr(next + 1, '\n');
  }
  return next
         && indentation_at(text, (uint32_t)(next + 1 - text))
                > indentation_at(text, line);
}

uint32_t tvms_token_statement_end(const char *source, tvms_token first,
                                  uint32_t place) {
  uint32_t column = first.begin - begin_of_line(source, first.begin), end = 0;
  uint32_t line = begin_of_line(source, place);
  for (;;) {
    line += (uint32_t)strcspn(source + line, "\n");
    if (!source[line]) return end;
    line++;
    uint32_t begin = line + (uint32_t)strspn(source + line, " \t");
    bool shut = strchr(")]}", source[begin]) && begin - line == column;
    if (!source[begin] || (begin - line <= column && !shut)) return end;
    end = end_of_code(source, line);
  }
}
