// Which changes may mend a statement, and how likely each is.
//
// The costs are an order: what is forgotten or typed twice at the refused token comes first, then
// brackets at the ends of lines and in front of what begins another argument, then the same further
// away.
#include "grammar/repair_edits.h"

#include "grammar/repair_strings.h"

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
    tvms_vec_push(memory, &r->shut, TVMS_NO_TOKEN);
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
  bool last = text && kind_at(r, next + 1) != TVMS_TOK_COMMA;
  if (named || text) return (shape ? 9u : 13u) + far - named + !(named || last);
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

// `with T.sblock("b"` in front of the body: with the bracket the ':' was forgotten.
static void propose_finish(tvms_stretch *r, tvms_memory *memory, uint32_t at) {
  uint32_t open = r->inner.items[at];
  if (!r->block || kind_at(r, at) != TVMS_TOK_NEWLINE || open == TVMS_NO_TOKEN) return;
  tvms_edit edit = {.way = TVMS_EDIT_FINISH,
                    .kind = tvms_token_closing(kind_at(r, open)),
                    .at = at,
                    .other = open,
                    .cost = 14};
  if (r->inner.items[open] == TVMS_NO_TOKEN) add(r, memory, edit);
}

// `sblock("b":)`: two tokens changed places.
static void propose_swap(tvms_stretch *r, tvms_memory *memory, uint32_t at) {
  if (at + 1 >= r->tokens.len || kind_at(r, at) == TVMS_TOK_NEWLINE) return;
  tvms_token_kind kind = kind_at(r, at), next = kind_at(r, at + 1);
  bool colon = kind == TVMS_TOK_COLON && tvms_token_shuts(next) && r->block
               && kind_at(r, at + 2) == TVMS_TOK_NEWLINE;
  tvms_edit edit = {.way = TVMS_EDIT_SWAP, .at = at, .cost = colon ? 6 : 21};
  bool open = tvms_token_opens(kind) || tvms_token_opens(next);
  if (next != TVMS_TOK_NEWLINE && next != kind && !open) add(r, memory, edit);
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
  // `R.Shape("n"])`: the bracket that is refused wants one like it, where the list begins.
  uint32_t open = r->inner.items[r->refused];
  tvms_token_kind wanted = TVMS_TOK_NEWLINE;
  if (r->misfit && open != TVMS_NO_TOKEN && before(r, at) == open)
    wanted = (tvms_token_kind)(kind_at(r, r->refused) - TVMS_TOK_SHUT_ROUND
                               + TVMS_TOK_OPEN_ROUND);
  for (uint32_t i = 0; i < 3; i++) {
    bool call = ends_operand(last) || i == 0;
    add(r, memory,
        (tvms_edit){.way = TVMS_EDIT_INSERT,
                    .kind = (tvms_token_kind)(TVMS_TOK_OPEN_ROUND + i),
                    .at = at,
                    .cost = wanted == TVMS_TOK_OPEN_ROUND + i
                                ? 9
                                : cost + i * 2 + (call ? 0 : 2)});
  }
}

// How likely it is that the bracket at `at` is one too many.
static uint32_t cost_of_dropping(const tvms_stretch *r, uint32_t at) {
  tvms_token_kind kind = kind_at(r, at), end = kind_at(r, r->refused);
  bool open = tvms_token_opens(kind), same = kind_before(r, at) == kind;
  if (at == r->refused) return 11;
  // `H (= …`: what stands behind cannot begin anything.
  if (open && at + 1 == r->refused && r->inner.items[r->refused] == at
      && !tvms_token_shuts(end) && end != TVMS_TOK_COLON && end != TVMS_TOK_NEWLINE)
    return 9;
  // `R.Tensor((("n", 4), …`: between two others.
  bool between = open && tvms_token_opens(kind_before(r, at))
                 && tvms_token_opens(kind_at(r, behind(r, at)));
  if (between) return 11 + lines_off(r, at);
  return 17 + lines_off(r, at) - (same ? 2 : 0);
}

// How likely it is that the bracket at `at` should be of the kind `other`.
static uint32_t cost_of_changing(const tvms_stretch *r, uint32_t at,
                                 tvms_token_kind other) {
  uint32_t named = before(r, at);
  if (tvms_token_shuts(other)) return 10;
  bool callee = named != TVMS_NO_TOKEN && named > 1 && is_name(kind_at(r, named))
                && kind_at(r, named - 1) == TVMS_TOK_DOT;
  if (callee && other == TVMS_TOK_OPEN_ROUND) return 9;
  // Braces that hold no pairs.
  bool pairs = kind_at(r, behind(r, at) + 1) == TVMS_TOK_COLON;
  if (kind_at(r, at) == TVMS_TOK_OPEN_CURLY && !pairs && r->misfit) return 9;
  return 14 + lines_off(r, at);
}

static void propose_wrong(tvms_stretch *r, tvms_memory *memory, uint32_t at) {
  tvms_token_kind kind = kind_at(r, at);
  bool open = tvms_token_opens(kind);
  tvms_edit drop = {.way = TVMS_EDIT_DELETE, .at = at, .cost = cost_of_dropping(r, at)};
  add(r, memory, drop);
  tvms_token_kind first = open ? TVMS_TOK_OPEN_ROUND : TVMS_TOK_SHUT_ROUND;
  if (!open && at != r->refused) return;
  for (uint32_t i = 0; i < 3; i++) {
    tvms_token_kind other = (tvms_token_kind)(first + i);
    if (other == kind) continue;
    tvms_edit edit = {.way = TVMS_EDIT_REPLACE,
                      .kind = other,
                      .at = at,
                      .cost = cost_of_changing(r, at, other)};
    add(r, memory, edit);
    if (!open || r->shut.items[at] == TVMS_NO_TOKEN) continue;
    edit.way = TVMS_EDIT_PAIR;
    edit.other = r->shut.items[at];
    edit.cost = 20 + lines_off(r, at);
    add(r, memory, edit);
  }
}

/* Marks */

// `T prim_func`, `f(x)astype`: whether a dot is missing in front of a name.
static bool is_attribute(const tvms_stretch *r, uint32_t at) {
  uint32_t last = before(r, at);
  if (last == TVMS_NO_TOKEN || !is_name(kind_at(r, at))) return false;
  bool joined = token_at(r, last)->end == token_at(r, at)->begin;
  return is_namespace(r, last) || (joined && tvms_token_shuts(kind_at(r, last)));
}

// `thread"blockIdx.x"`: whether a '=' is missing in front of a string.
static bool is_named_string(const tvms_stretch *r, uint32_t at) {
  if (at == 0 || kind_at(r, at) != TVMS_TOK_STRING) return false;
  return is_name(kind_at(r, at - 1))
         && token_at(r, at - 1)->end == token_at(r, at)->begin;
}

// How likely it is that `mark` was forgotten in front of the refused token.
static uint32_t cost_of_mark(const tvms_stretch *r, tvms_token_kind mark) {
  uint32_t at = r->refused, last = before(r, at);
  switch ((int)mark) {
  case TVMS_TOK_COMMA: return 8;
  case TVMS_TOK_COLON: return r->header && is_namespace(r, at) ? 7 : 10;
  case TVMS_TOK_DOT: return is_attribute(r, at) ? 7 : 10;
  case TVMS_TOK_ARROW: return 10;
  case TVMS_TOK_ASSIGN: return is_named_string(r, at) ? 6 : 11;
  default: break;
  }
  bool operand = last != TVMS_NO_TOKEN
                 && (kind_at(r, last) > TVMS_TOK_WALRUS
                     || tvms_token_is_keyword(kind_at(r, last)));
  return operand ? 13 : 16;
}

// How likely it is that `mark` was meant by the one at `at`.
static uint32_t cost_of_other(const tvms_stretch *r, uint32_t at,
                              tvms_token_kind mark) {
  tvms_token_kind kind = kind_at(r, at);
  uint32_t off = (r->refused - at) * 3, next = behind(r, at);
  bool typed = r->header && mark == TVMS_TOK_COLON && is_namespace(r, next)
               && is_name(kind_before(r, at));
  if (typed) return 6 + off;
  if (r->header && kind == TVMS_TOK_DOT && mark == TVMS_TOK_COMMA
      && kind_at(r, at + 2) == TVMS_TOK_COLON)
    return 1 + off;
  uint32_t less =
      r->header && (kind == TVMS_TOK_COLON || mark == TVMS_TOK_ASSIGN) ? 8 : 0;
  uint32_t forgotten = mark == TVMS_TOK_COMMA ? 8 : mark == TVMS_TOK_ASSIGN ? 11 : 10;
  return forgotten + 1 + less + off;
}

// How likely it is that the token at `at` is one too many.
static uint32_t cost_of_leaving(const tvms_stretch *r, uint32_t at) {
  tvms_token_kind kind = kind_at(r, at);
  uint32_t off = (r->refused - at) * 3, last = before(r, at);
  bool mark = kind >= TVMS_TOK_COMMA;
  bool twice = mark && last != TVMS_NO_TOKEN && kind_at(r, last) == kind;
  if (kind == TVMS_TOK_DOT && tvms_token_opens(kind_at(r, at + 1))) twice = true;
  // `x=: T.int32`, `R.Tensor->(…)`.
  bool colon =
      r->header && at + 1 == r->refused && kind_at(r, r->refused) == TVMS_TOK_COLON;
  bool callee = at == r->refused && tvms_token_opens(kind_at(r, at + 1))
                && is_name(kind_before(r, at)) && kind != TVMS_TOK_COMMA;
  if (twice) return 6 + off;
  if (mark && (colon || callee)) return 7;
  return (mark ? 12 : 22) + off;
}

static void propose_marks(tvms_stretch *r, tvms_memory *memory, uint32_t at) {
  static const tvms_token_kind marks[] = {TVMS_TOK_COMMA,  TVMS_TOK_COLON,
                                          TVMS_TOK_DOT,    TVMS_TOK_ARROW,
                                          TVMS_TOK_ASSIGN, TVMS_TOK_HOLE};
  tvms_token_kind kind = kind_at(r, at);
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
    tvms_token_kind mark = marks[i];
    tvms_edit edit = {.kind = mark, .at = at};
    edit.way = TVMS_EDIT_INSERT;
    edit.cost = cost_of_mark(r, mark);
    if (at == r->refused) add(r, memory, edit);
    edit.way = TVMS_EDIT_REPLACE;
    edit.cost = cost_of_other(r, at, mark);
    bool other = kind >= TVMS_TOK_COMMA && mark != kind && mark != TVMS_TOK_HOLE;
    if (other && (kind != TVMS_TOK_DOT || mark == TVMS_TOK_COMMA)) add(r, memory, edit);
  }
  if (kind == TVMS_TOK_NEWLINE || kind == TVMS_TOK_END) return;
  tvms_edit edit = {.way = TVMS_EDIT_DELETE, .at = at, .cost = cost_of_leaving(r, at)};
  add(r, memory, edit);
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

// What stands where an operand may be missing, or one of its parts.
static void propose_near(tvms_stretch *r, tvms_memory *memory, uint32_t at) {
  tvms_token_kind kind = kind_at(r, at);
  if (!tvms_token_opens(kind) && !tvms_token_shuts(kind)) {
    propose_marks(r, memory, at);
    return;
  }
  tvms_edit hole = {
      .way = TVMS_EDIT_INSERT, .kind = TVMS_TOK_HOLE, .at = at, .cost = 16};
  if (tvms_token_shuts(kind) && at == r->refused) add(r, memory, hole);
}

void tvms_surface_propose(tvms_stretch *r, tvms_memory *memory) {
  enum { NEAR = 3 };
  r->edits.len = 0;
  tvms_surface_propose_strings(r, memory);
  if (r->broken) return;
  // Outside of brackets recover.c knows what was meant, as far as it has nothing to do with them.
  bool inside = r->inner.items[r->refused] != TVMS_NO_TOKEN || r->header;
  for (uint32_t i = 0; i <= r->refused; i++) {
    tvms_token_kind kind = kind_at(r, i);
    propose_dot(r, memory, i);
    propose_shut(r, memory, i);
    propose_finish(r, memory, i);
    if (i + 1 >= r->refused) propose_swap(r, memory, i);
    propose_open(r, memory, i);
    if (tvms_token_opens(kind) || tvms_token_shuts(kind)) propose_wrong(r, memory, i);
    if (inside && i + NEAR >= r->refused) propose_near(r, memory, i);
  }
  tvms_token_kind refused = kind_at(r, r->refused);
  bool mark = refused >= TVMS_TOK_COMMA;
  tvms_edit leave = {.way = TVMS_EDIT_DELETE,
                     .at = r->refused,
                     .cost = cost_of_leaving(r, r->refused)};
  if (!inside && mark && r->refused > 0) add(r, memory, leave);
}
