// Which changes may mend a statement, and how likely each is.
//
// The costs are an order: what is forgotten or typed twice at the refused token comes first, then
// brackets at the ends of lines and in front of what begins another argument, then the same further
// away.
#include "grammar/repair_edits.h"

#include <ctype.h>
#include <string.h>

static void add(tvms_stretch *r, tvms_memory *memory, tvms_edit edit) {
  tvms_vec_push(memory, &r->edits, edit);
}

static const tvms_token *token_at(const tvms_stretch *r, uint32_t at) {
  return &r->tokens.items[at];
}

static tvms_token_kind kind_at(const tvms_stretch *r, uint32_t at) {
  return at < r->tokens.len ? (tvms_token_kind)r->tokens.items[at].kind : TVMS_TOK_END;
}

// The token before, whatever lines they stand in.
static uint32_t before(const tvms_stretch *r, uint32_t at) {
  while (at > 0 && kind_at(r, at - 1) == TVMS_TOK_NEWLINE) {
    at--;
  }
  return at > 0 ? at - 1 : TVMS_NO_TOKEN;
}

static uint32_t behind(const tvms_stretch *r, uint32_t at) {
  do {
    at++;
  } while (kind_at(r, at) == TVMS_TOK_NEWLINE && at < r->tokens.len);
  return at;
}

static tvms_token_kind kind_before(const tvms_stretch *r, uint32_t at) {
  uint32_t token = before(r, at);
  return token == TVMS_NO_TOKEN ? TVMS_TOK_NEWLINE : kind_at(r, token);
}

static bool is_name(tvms_token_kind kind) {
  return kind == TVMS_TOK_NAME || kind == TVMS_TOK_WIDE_NAME;
}

static bool begins_operand(tvms_token_kind kind) {
  return is_name(kind) || (kind >= TVMS_TOK_INT && kind <= TVMS_TOK_ELLIPSIS)
         || tvms_token_opens(kind) || kind == TVMS_TOK_MINUS || kind == TVMS_TOK_NOT;
}

static bool ends_operand(tvms_token_kind kind) {
  return is_name(kind) || (kind >= TVMS_TOK_INT && kind <= TVMS_TOK_ELLIPSIS)
         || tvms_token_shuts(kind);
}

// `T`, `R`, `I`: what a dotted name of TVMScript begins with.
static bool is_namespace(const tvms_stretch *r, uint32_t at) {
  if (at >= r->tokens.len) return false;
  const tvms_token *token = token_at(r, at);
  return token->kind == TVMS_TOK_NAME && token->end - token->begin == 1
         && strchr("TRI", r->text[token->begin]);
}

void tvms_surface_pair(tvms_stretch *r, tvms_memory *memory) {
  r->inner.len = r->shut.len = 0;
  uint32_t open = TVMS_NO_TOKEN;
  for (uint32_t i = 0; i < r->tokens.len; i++) {
    tvms_token_kind kind = kind_at(r, i);
    tvms_vec_push(memory, &r->inner, open);
    tvms_vec_push(memory, &r->shut, (uint32_t)TVMS_NO_TOKEN);
    if (tvms_token_opens(kind)) open = i;
    if (tvms_token_shuts(kind) && open != TVMS_NO_TOKEN
        && tvms_token_closing(kind_at(r, open)) == kind) {
      r->shut.items[open] = i;
      open = r->inner.items[open];
    }
  }
}

// Lines between the token and the one that was refused.
static uint32_t lines_off(const tvms_stretch *r, uint32_t at) {
  uint32_t lines = 0;
  for (uint32_t i = at; i < r->refused; i++) {
    lines += kind_at(r, i) == TVMS_TOK_NEWLINE;
  }
  return lines;
}

/* Brackets */

// Whether an argument without a name would follow behind the comma, and one with a name stands in
// front of it.
static bool is_late(const tvms_stretch *r, uint32_t comma) {
  uint32_t next = behind(r, comma), open = r->inner.items[comma];
  bool named = is_name(kind_at(r, next)) && kind_at(r, next + 1) == TVMS_TOK_ASSIGN;
  if (named || !begins_operand(kind_at(r, next)) || open == TVMS_NO_TOKEN) return false;
  for (uint32_t i = open; i < comma; i++) {
    if (kind_at(r, i) == TVMS_TOK_ASSIGN && r->inner.items[i] == open) return true;
  }
  return false;
}

// Where what stands in a bracket ends, if that was forgotten: `kind` is the token behind.
static uint32_t cost_of_shutting(const tvms_stretch *r, uint32_t at) {
  tvms_token_kind kind = kind_at(r, at);
  uint32_t next = behind(r, at);
  bool named = kind == TVMS_TOK_COMMA && is_name(kind_at(r, next))
               && (kind_at(r, next + 1) == TVMS_TOK_ASSIGN
                   || kind_at(r, next + 1) == TVMS_TOK_COLON);
  // Where it was opened on the same line, that line is out of balance.
  uint32_t far =
      lines_off(r, at) + (lines_off(r, r->inner.items[at]) == lines_off(r, at) ? 0 : 3);
  if (kind == TVMS_TOK_NEWLINE || kind == TVMS_TOK_END) return 12 + far;
  if (at == r->refused) return 12;
  // A shape has no strings: `T.Buffer((4, 4, "float32")`.
  uint32_t open = r->inner.items[at];
  bool shape = open != TVMS_NO_TOKEN && tvms_token_opens(kind_before(r, open));
  bool text = kind == TVMS_TOK_COMMA && kind_at(r, next) == TVMS_TOK_STRING;
  if (named || text) return (shape ? 9 : 13) + far;
  if (kind == TVMS_TOK_COMMA && is_late(r, at)) return 9 + far;
  if (kind == TVMS_TOK_COMMA && kind_at(r, at + 1) == TVMS_TOK_NEWLINE) return 14 + far;
  if (tvms_token_shuts(kind) || kind == TVMS_TOK_ARROW || kind == TVMS_TOK_COLON)
    return 15 + far;
  return 18 + far;
}

static void propose_shut(tvms_stretch *r, tvms_memory *memory, uint32_t at) {
  uint32_t open = r->inner.items[at];
  tvms_token_kind last = kind_before(r, at);
  bool next_line = at > 0 && at < r->refused && kind_at(r, at - 1) == TVMS_TOK_NEWLINE;
  if (open == TVMS_NO_TOKEN || next_line
      || !(ends_operand(last) || tvms_token_opens(last) || last == TVMS_TOK_COMMA))
    return;
  uint32_t cost = cost_of_shutting(r, at);
  if (tvms_token_opens(last)) cost++;
  if (last == TVMS_TOK_COMMA) cost += 6;
  add(r, memory,
      (tvms_edit){.way = TVMS_EDIT_INSERT,
                  .kind = tvms_token_closing(kind_at(r, open)),
                  .at = at,
                  .other = open,
                  .cost = cost});
}

static void propose_open(tvms_stretch *r, tvms_memory *memory, uint32_t at) {
  tvms_token_kind kind = kind_at(r, at), last = kind_before(r, at);
  bool end = kind == TVMS_TOK_NEWLINE && at == r->refused;
  if (at == 0 || !(begins_operand(kind) || end || tvms_token_shuts(kind))) return;
  uint32_t far = lines_off(r, at);
  uint32_t cost = 19 + far;
  if (at == r->refused) cost = 13;
  if (tvms_token_opens(last) || last == TVMS_TOK_ASSIGN || last == TVMS_TOK_COMMA)
    cost = 16 + far;
  if (kind == TVMS_TOK_COMMA || tvms_token_shuts(kind)) cost = 17 + far;
  for (uint32_t i = 0; i < 3; i++) {
    bool call = ends_operand(last) || i == 0;
    add(r, memory,
        (tvms_edit){.way = TVMS_EDIT_INSERT,
                    .kind = (tvms_token_kind)(TVMS_TOK_OPEN_ROUND + i),
                    .at = at,
                    .cost = cost + i * 2 + (call ? 0 : 2)});
  }
}

// The bracket at `at` is one too many, or of the wrong kind.
static void propose_wrong(tvms_stretch *r, tvms_memory *memory, uint32_t at) {
  tvms_token_kind kind = kind_at(r, at);
  bool open = tvms_token_opens(kind), same = kind_before(r, at) == kind;
  uint32_t far = lines_off(r, at);
  uint32_t cost = at == r->refused ? 11u : 17 + far - (same ? 2u : 0u);
  // `H (= …`: what stands behind cannot begin anything.
  tvms_token_kind end = kind_at(r, r->refused);
  if (open && at + 1 == r->refused && !tvms_token_shuts(end) && end != TVMS_TOK_COLON
      && end != TVMS_TOK_NEWLINE && r->inner.items[r->refused] == at)
    cost = 9;
  add(r, memory, (tvms_edit){.way = TVMS_EDIT_DELETE, .at = at, .cost = cost});
  tvms_token_kind first = open ? TVMS_TOK_OPEN_ROUND : TVMS_TOK_SHUT_ROUND;
  if (!open && at != r->refused) return;
  uint32_t named = before(r, at);
  bool callee = named != TVMS_NO_TOKEN && named > 1 && is_name(kind_at(r, named))
                && kind_at(r, named - 1) == TVMS_TOK_DOT;
  for (uint32_t i = 0; i < 3; i++) {
    tvms_token_kind other = (tvms_token_kind)(first + i);
    if (other == kind) continue;
    uint32_t less = !open ? 10u : callee && i == 0 ? 9u : 14u + far;
    add(r, memory,
        (tvms_edit){.way = TVMS_EDIT_REPLACE, .kind = other, .at = at, .cost = less});
    if (open && r->shut.items[at] != TVMS_NO_TOKEN)
      add(r, memory,
          (tvms_edit){.way = TVMS_EDIT_PAIR,
                      .kind = other,
                      .at = at,
                      .other = r->shut.items[at],
                      .cost = 20 + far});
  }
}

/* Marks */

// `T prim_func`, `f(x)astype`: whether a dot is missing in front of a name.
static bool is_attribute(const tvms_stretch *r, uint32_t last, uint32_t at) {
  if (last == TVMS_NO_TOKEN) return false;
  bool joined = token_at(r, last)->end == token_at(r, at)->begin;
  return is_namespace(r, last) || (joined && tvms_token_shuts(kind_at(r, last)));
}

static void propose_marks(tvms_stretch *r, tvms_memory *memory, uint32_t at) {
  static const struct {
    tvms_token_kind kind;
    uint32_t cost;
  } marks[] = {
      {TVMS_TOK_COMMA, 8},  {TVMS_TOK_COLON, 10},  {TVMS_TOK_DOT, 10},
      {TVMS_TOK_ARROW, 10}, {TVMS_TOK_ASSIGN, 11}, {TVMS_TOK_HOLE, 16},
  };
  tvms_token_kind kind = kind_at(r, at);
  uint32_t last = before(r, at);
  bool punctuation = kind >= TVMS_TOK_COMMA;
  uint32_t off = (r->refused - at) * 3;
  bool twice = punctuation && last != TVMS_NO_TOKEN && kind_at(r, last) == kind;
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
    uint32_t cost = marks[i].cost;
    bool operand = last != TVMS_NO_TOKEN
                   && (kind_at(r, last) > TVMS_TOK_WALRUS
                       || tvms_token_is_keyword(kind_at(r, last)));
    if (marks[i].kind == TVMS_TOK_HOLE && operand) cost = 13;
    if (marks[i].kind == TVMS_TOK_DOT && is_name(kind) && is_attribute(r, last, at))
      cost = 7;
    bool type = marks[i].kind == TVMS_TOK_COLON && r->header && is_namespace(r, at);
    if (type) cost = 7;
    if (r->header && kind == TVMS_TOK_COLON && marks[i].kind != TVMS_TOK_COLON)
      cost += 8;
    bool parameter = r->header && kind == TVMS_TOK_DOT
                     && marks[i].kind == TVMS_TOK_COMMA
                     && kind_at(r, at + 2) == TVMS_TOK_COLON;
    if (parameter) cost = 1;
    if (at == r->refused)
      add(r, memory,
          (tvms_edit){
              .way = TVMS_EDIT_INSERT, .kind = marks[i].kind, .at = at, .cost = cost});
    bool other = punctuation && marks[i].kind != kind && marks[i].kind != TVMS_TOK_HOLE;
    if (kind == TVMS_TOK_DOT && marks[i].kind != TVMS_TOK_COMMA) other = false;
    if (other)
      add(r, memory,
          (tvms_edit){.way = TVMS_EDIT_REPLACE,
                      .kind = marks[i].kind,
                      .at = at,
                      .cost = cost + 1 + off});
  }
  if (kind == TVMS_TOK_DOT && tvms_token_opens(kind_at(r, at + 1))) twice = true;
  bool name = is_name(kind) || tvms_token_is_keyword(kind)
              || (kind >= TVMS_TOK_INT && kind <= TVMS_TOK_STRING);
  if (kind == TVMS_TOK_NEWLINE || kind == TVMS_TOK_END) return;
  add(r, memory,
      (tvms_edit){.way = TVMS_EDIT_DELETE,
                  .at = at,
                  .cost = (twice  ? 6
                           : name ? 22
                                  : 12)
                          + off});
}

// `T,Buffer(…)`, `R:Tensor(…)`.
static void propose_dot(tvms_stretch *r, tvms_memory *memory, uint32_t at) {
  tvms_token_kind kind = kind_at(r, at);
  bool mark = kind == TVMS_TOK_COMMA || kind == TVMS_TOK_COLON
              || kind == TVMS_TOK_ASSIGN || kind == TVMS_TOK_SEMICOLON;
  if (!mark || at == 0 || at + 1 >= r->tokens.len || !is_namespace(r, at - 1)) return;
  if (!is_name(kind_at(r, at + 1))
      || token_at(r, at)->end != token_at(r, at + 1)->begin)
    return;
  tvms_edit dot = {.way = TVMS_EDIT_REPLACE, .kind = TVMS_TOK_DOT, .at = at, .cost = 6};
  add(r, memory, dot);
}

/* Strings */

static bool is_quote(char c) {
  return c == '"' || c == '\'';
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
    uint32_t empty = i == quote + 1 ? 4 : 0;
    add(r, memory,
        (tvms_edit){.way = TVMS_EDIT_CLOSE,
                    .at = at,
                    .place = i + other,
                    .cost = 9 + empty + found - (other ? 2 : 0)});
    found++;
    if (last) break;
  }
}

static void propose_quotes(tvms_stretch *r, tvms_memory *memory, uint32_t at) {
  uint32_t quote = quote_of(r, at), begin = token_at(r, at)->begin;
  if (r->text[quote] == r->text[quote + 1] && r->text[quote] == r->text[quote + 2])
    return;
  propose_ends(r, memory, at);
  add(r, memory,
      (tvms_edit){.way = TVMS_EDIT_UNQUOTE, .at = at, .place = quote + 1, .cost = 11});
  // Words of the line in front of it, up to the one that follows a bracket or a comma.
  for (uint32_t i = at; i > 0; i--) {
    tvms_token_kind kind = kind_at(r, i - 1);
    bool word = is_name(kind) || kind == TVMS_TOK_INT || kind == TVMS_TOK_DOT
                || kind == TVMS_TOK_STRING || kind == TVMS_TOK_FLOAT
                || tvms_token_is_keyword(kind);
    if (!word) break;
    bool joined = token_at(r, i - 1)->end == token_at(r, i)->begin && begin == quote;
    add(r, memory,
        (tvms_edit){.way = TVMS_EDIT_OPEN,
                    .at = at,
                    .other = i - 1,
                    .place = quote + 1,
                    .cost = joined ? 7 : 12});
  }
}

// Strings on the line of the refused token.
static void propose_strings(tvms_stretch *r, tvms_memory *memory) {
  uint32_t i = r->refused;
  for (;; i--) {
    tvms_token_kind kind = kind_at(r, i);
    if (kind == TVMS_TOK_STRING || kind == TVMS_TOK_BROKEN)
      propose_quotes(r, memory, i);
    if (i == 0 || (i < r->refused && kind == TVMS_TOK_NEWLINE)) break;
  }
}

void tvms_surface_propose(tvms_stretch *r, tvms_memory *memory) {
  enum { NEAR = 3 };
  r->edits.len = 0;
  bool strings = r->broken;
  for (uint32_t i = r->refused; i < r->tokens.len; i++) {
    if (kind_at(r, i) == TVMS_TOK_BROKEN) strings = true;
    if (kind_at(r, i) == TVMS_TOK_NEWLINE) break;
  }
  if (strings || kind_at(r, r->refused) == TVMS_TOK_STRING) propose_strings(r, memory);
  if (r->broken) return;
  // Outside of brackets recover.c knows what was meant, as far as it has nothing to do with them.
  bool inside = r->inner.items[r->refused] != TVMS_NO_TOKEN || r->header;
  for (uint32_t i = 0; i <= r->refused; i++) {
    tvms_token_kind kind = kind_at(r, i);
    propose_dot(r, memory, i);
    propose_shut(r, memory, i);
    propose_open(r, memory, i);
    if (tvms_token_opens(kind) || tvms_token_shuts(kind)) propose_wrong(r, memory, i);
    bool near = inside && i + NEAR >= r->refused;
    if (near && tvms_token_shuts(kind) && i == r->refused)
      add(r, memory,
          (tvms_edit){
              .way = TVMS_EDIT_INSERT, .kind = TVMS_TOK_HOLE, .at = i, .cost = 16});
    if (near && !tvms_token_opens(kind) && !tvms_token_shuts(kind))
      propose_marks(r, memory, i);
  }
}
