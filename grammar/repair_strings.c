// See repair_strings.h. A quote that is missing makes text of what stands behind it, up to the next one, and
// names of what was a text: the place is looked for among the ends of words.
#include "grammar/repair_strings.h"

#include <ctype.h>
#include <string.h>

static const tvms_token *token_at(const tvms_stretch *r, uint32_t at) {
  return &r->tokens.items[at];
}

static bool is_quote(char c) {
  return c == '"' || c == '\'';
}

static bool is_part_of_name(char c) {
  return c == '_' || isalnum((unsigned char)c);
}

// The quote that a string begins with.
static uint32_t quote_of(const tvms_stretch *r, uint32_t at) {
  uint32_t quote = token_at(r, at)->begin;
  while (!is_quote(r->text[quote])) {
    quote++;
  }
  return quote;
}

// Ends of words in a string, and quotes of the other kind, are where it may have ended.
static void propose_ends(tvms_stretch *r, tvms_memory *memory, uint32_t at) {
  enum { MOST = 16 };
  const char *text = r->text;
  uint32_t quote = quote_of(r, at), end = token_at(r, at)->end, found = 0;
  for (uint32_t i = quote + 1; i <= end && found < MOST; i++) {
    char c = text[i];
    bool other = is_quote(c) && c != text[quote];
    bool last = i == end || c == '\r' || c == '\n';
    if (!other && !last && !strchr(",)]}:= ", c)) continue;
    if (i > quote + 1 && text[i - 1] == ' ') continue;
    uint32_t cost = 9 + found++;
    if (i == quote + 1) cost += 4;
    if (other) cost -= 2;
    if (c == ' ' || c == '=') cost += 6;
    tvms_edit edit = {
        .way = TVMS_EDIT_CLOSE, .at = at, .place = i + other, .cost = cost};
    tvms_vec_push(memory, &r->edits, edit);
    if (last) break;
  }
}

// The quote is one too many: behind a string, in a dotted name, in front of a bracket.
static void propose_without(tvms_stretch *r, tvms_memory *memory, uint32_t at) {
  uint32_t quote = quote_of(r, at);
  char next = r->text[quote + 1];
  bool text = at > 0 && token_at(r, at - 1)->kind == TVMS_TOK_STRING
              && token_at(r, at - 1)->end == quote;
  uint32_t cost = 11;
  if (strchr("([", next)) cost = 7;
  if (text) cost = 6;
  if (next == '.' || r->text[quote - (quote > 0)] == '.') cost = 5;
  tvms_edit edit = {
      .way = TVMS_EDIT_UNQUOTE, .at = at, .place = quote + 1, .cost = cost};
  tvms_vec_push(memory, &r->edits, edit);
}

static bool is_word(tvms_token_kind kind) {
  return (kind >= TVMS_TOK_NAME && kind <= TVMS_TOK_STRING) || kind == TVMS_TOK_DOT
         || tvms_token_is_keyword(kind);
}

// The quote ends what some of the words in front of it begin.
static void propose_begins(tvms_stretch *r, tvms_memory *memory, uint32_t at) {
  uint32_t quote = quote_of(r, at);
  tvms_edit edit = {
      .way = TVMS_EDIT_OPEN, .at = at, .other = at, .place = quote + 1, .cost = 7};
  // Letters that are taken for the prefix of a string.
  if (token_at(r, at)->begin < quote) tvms_vec_push(memory, &r->edits, edit);
  for (uint32_t i = at; i > 0; i--) {
    if (!is_word((tvms_token_kind)token_at(r, i - 1)->kind)) return;
    bool joined = token_at(r, i - 1)->end == token_at(r, i)->begin
                  && is_part_of_name(r->text[token_at(r, i - 1)->begin]);
    edit.other = i - 1;
    edit.cost = joined ? 7 : 12;
    tvms_vec_push(memory, &r->edits, edit);
  }
}

static void propose_quotes(tvms_stretch *r, tvms_memory *memory, uint32_t at) {
  uint32_t quote = quote_of(r, at);
  if (r->text[quote] == r->text[quote + 1] && r->text[quote] == r->text[quote + 2])
    return;
  propose_ends(r, memory, at);
  propose_without(r, memory, at);
  propose_begins(r, memory, at);
}

void tvms_surface_propose_strings(tvms_stretch *r, tvms_memory *memory) {
  bool wanted = r->broken || token_at(r, r->refused)->kind == TVMS_TOK_STRING;
  for (uint32_t i = r->refused; i < r->tokens.len; i++) {
    if (token_at(r, i)->kind == TVMS_TOK_BROKEN) wanted = true;
    if (token_at(r, i)->kind == TVMS_TOK_NEWLINE) break;
  }
  for (uint32_t i = r->refused; wanted; i--) {
    tvms_token_kind kind = (tvms_token_kind)token_at(r, i)->kind;
    if (kind == TVMS_TOK_STRING || kind == TVMS_TOK_BROKEN)
      propose_quotes(r, memory, i);
    if (i == 0 || (i < r->refused && kind == TVMS_TOK_NEWLINE)) break;
  }
}
