// Mends what the grammar refuses.
//
// When the parser refuses a token its stack is intact, so recovery can ask what would have been
// taken, close brackets that were forgotten, give BAD for the rest of a bracket or ERROR for
// the rest of a statement, and go on. One place in the text gets one diagnostic.
#include "grammar/recover.h"

#include "grammar/build.h"
#include "grammar/meant.h"
#include "grammar/misfit.h"
#include "grammar/refused.h"
#include "grammar/repair.h"
#include "grammar/tvmscript.h"
#include "support/check.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

static tvms_diags *diags_of(surf_parser *p) {
  return &p->build.context->diags;
}
static const char *text_of(const surf_parser *p) {
  return p->text;
}

/* Messages */

// "; expected ')' or ','", if few things would do.
static void say_expected(const surf_parser *p, char *text, size_t size) {
  static const struct {
    int terminal;
    const char *text;
  } marks[] = {
      {TERMINAL_SHUT_ROUND, "')'"},
      {TERMINAL_SHUT_SQUARE, "']'"},
      {TERMINAL_SHUT_CURLY, "'}'"},
      {TERMINAL_COLON, "':'"},
      {TERMINAL_COMMA, "','"},
      {TERMINAL_FOR_IN, "'in'"},
      {TERMINAL_IMPORT, "'import'"},
      {TERMINAL_ELSE, "'else'"},
      {TERMINAL_OPEN_ROUND, "'('"},
      {TERMINAL_NAME, "a name"},
      {TERMINAL_NUMBER, "an expression"},
  };
  enum { COUNT = sizeof marks / sizeof marks[0], MOST = 3 };
  const char *found[COUNT];
  int count = 0;
  bool expression = tvms_surface_takes(p, TERMINAL_NUMBER);
  for (int i = 0; i < COUNT; i++) {
    bool part = expression
                && (marks[i].terminal == TERMINAL_NAME
                    || marks[i].terminal == TERMINAL_OPEN_ROUND);
    bool operand =
        marks[i].terminal == TERMINAL_OPEN_ROUND && tvms_surface_takes(p, TERMINAL_DOT);
    if (!part && !operand && tvms_surface_takes(p, marks[i].terminal))
      found[count++] = marks[i].text;
  }
  text[0] = '\0';
  if (count == 0 || count > MOST) return;
  size_t len = 0;
  for (int i = 0; i < count && len < size; i++) {
    const char *before = i == 0 ? "; expected " : i + 1 == count ? " or " : ", ";
    len += (size_t)snprintf(text + len, size - len, "%s%s", before, found[i]);
  }
}

static tvms_token_meaning meaning_of(const surf_parser *p, tvms_token token) {
  if (p->nested) return (tvms_token_meaning){0};
  bool inside = tvms_indentation_depth(&p->layout) > 0;
  bool comma = tvms_surface_takes(p, TERMINAL_COMMA)
               || tvms_surface_takes(p, TERMINAL_SHUT_SQUARE)
               || tvms_surface_takes(p, TERMINAL_FOR_IN)
               || p->layout.first.kind == TVMS_TOK_DEF;
  return tvms_token_meant(text_of(p), token, p->layout.first, inside, comma);
}

tvms_diag *tvms_surface_report_refused(surf_parser *p, tvms_token token,
                                       const char *TVMS_NULLABLE said) {
  tvms_span span = {token.begin, token.end};
  char what[64], expected[96] = "";
  tvms_token_meaning meant = {0};
  if (!said) meant = meaning_of(p, token);
  bool moved = meant.note && meant.span.begin != span.begin;
  if (meant.note) span = meant.span;
  if (moved) token = tvms_token_make(span.begin, span.end, TVMS_TOK_NAME);
  tvms_token_say(text_of(p), token, p->nested, what, sizeof what);
  if (!moved && !said) say_expected(p, expected, sizeof expected);
  if (token.kind == TVMS_TOK_COLON && meant.note) {
    // `keepdims: True` was taken for an argument without a name.
    tvms_diags_forget(diags_of(p), TVMS_D_late_argument,
                      (tvms_span){p->layout.first.begin, token.begin});
  }
  tvms_diag *diag =
      tvms_diag_report(diags_of(p), TVMS_D_syntax, span, what, said ? said : expected);
  if (!meant.note) return diag;
  tvms_diag_remark(diags_of(p), diag, "%s", meant.note);
  if (meant.fixed)
    tvms_diag_fix(diags_of(p), diag, meant.fix, false, "%s", meant.fixed);
  return diag;
}

// Reports the refused token. Returns true if it is Python that tvms does not take.
static bool report_refused(surf_parser *p, tvms_token token) {
  tvms_span span = {token.begin, token.end};
  const char *unsupported = tvms_token_unsupported(text_of(p), token, p->layout.first);
  if (unsupported) {
    if (tvms_token_is_keyword(token.kind)) {
      tvms_diag_report(diags_of(p), TVMS_D_unsupported, span, unsupported);
    } else {
      span = (tvms_span){p->layout.first.begin, p->layout.first.end};
      tvms_diag_report(diags_of(p), TVMS_D_unsupported, span, unsupported);
    }
    return true;
  }
  // The lexer has said so of these.
  if (token.kind == TVMS_TOK_STRAY || token.kind == TVMS_TOK_BROKEN) return false;
  if (token.kind == TVMS_TOK_NEWLINE && p->layout.lexer.unfinished) return false;
  tvms_surface_report_refused(p, token, NULL);
  return false;
}

/* Recovery of a statement */

static void keep_refused(surf_parser *p, tvms_span span) {
  tvms_vec_push(&p->build.context->memory, &p->build.surface->refused, span);
}

// Pops to where a statement may stand and puts an ERROR or UNSUPPORTED there, which spans
// from the first token of the logical line to `end`.
static void give_up_statement(surf_parser *p, uint32_t begin, uint32_t end,
                              bool unsupported) {
  tvms_surface_pop_to_statement(p);
  tvms_surf_kind kind = unsupported ? TVMS_SURF_UNSUPPORTED : TVMS_SURF_ERROR;
  tvms_ref ref =
      surf_node(&p->build, kind, 0, begin, end > begin ? end : begin, 0, 0, 0);
  p->build.grouped = 0;
  p->layout.indents.items[p->layout.indents.len - 1].skipped = true;
  keep_refused(p, (tvms_span){begin, end > begin ? end : begin});
  tvms_surface_push(p, TERMINAL_ERROR, begin, end, ref);
  TVMS_CHECK(!p->build.failed);
}

static bool ends_line(tvms_token token) {
  return token.kind == TVMS_TOK_NEWLINE || token.kind == TVMS_TOK_END
         || token.kind == TVMS_TOK_INDENT || token.kind == TVMS_TOK_DEDENT;
}

static bool may_begin_statement(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '@'
         || (unsigned char)c >= 0x80;
}

// Inside brackets: does the line of the token look like a new statement, so that a bracket
// before it was forgotten? It does if it stands in the column of an open block.
static bool begins_statement(surf_parser *p, tvms_token token, uint32_t *line) {
  uint32_t depth = tvms_indentation_depth(&p->layout);
  if (depth == 0 || token.kind == TVMS_TOK_END) return false;
  const tvms_bracket *open = &p->layout.brackets.items[depth];
  if (open->shut == TVMS_TOK_END) return false;
  uint32_t first;
  *line = tvms_indentation_line(&p->layout, token.begin);
  if (*line <= open->begin) return false;
  uint32_t column = tvms_indentation_column(&p->layout, *line, &first);
  if (token.begin == first
      && (tvms_token_only_begins_statement(token.kind)
          || tvms_token_is_header(p->layout.first.kind))) {
    return true;
  }
  return may_begin_statement(text_of(p)[first])
         && tvms_indentation_is_level(&p->layout, column);
}

// Whether something of the statement was refused already: a bracket that is open at its end
// is as likely a part of that.
static bool is_refused(surf_parser *p) {
  const tvms_diag *last = diags_of(p)->last;
  if (!last || last->source != diags_of(p)->source
      || last->span.begin < p->layout.first.begin)
    return false;
  switch ((int)last->id) {
  case TVMS_D_syntax:
  case TVMS_D_late_argument:
  case TVMS_D_mismatched_bracket: return true;
  default: return false;
  }
}

// Reports the innermost open bracket and closes all of them.
static void close_brackets(surf_parser *p, bool report) {
  const tvms_bracket *brackets = p->layout.brackets.items;
  uint32_t depth = tvms_indentation_depth(&p->layout);
  if (report && !p->layout.lexer.unfinished && !is_refused(p)) {
    const char text[2] = {text_of(p)[brackets[depth].begin], '\0'};
    tvms_diag *diag = tvms_diag_report(
        diags_of(p), TVMS_D_unclosed_bracket,
        (tvms_span){brackets[depth].begin, brackets[depth].begin + 1}, text);
    tvms_diag_remark(diags_of(p), diag, "a '%s' is missing",
                     tvms_token_text((tvms_token_kind)brackets[depth].shut));
  }
  for (; depth > 0 && !p->build.failed; depth--) {
    uint32_t at = tvms_lexer_offset(&p->layout.lexer, p->layout.lexer.token);
    tvms_surface_push_mark(p, (tvms_token_kind)brackets[depth].shut, at);
  }
}

// Ends the current statement where an earlier line should have: closes brackets, gives the
// line end, and a ':' if that was forgotten with them.
static void finish_statement(surf_parser *p, tvms_token first, uint32_t end) {
  if (!p->build.failed && tvms_token_is_header(first.kind)
      && tvms_surface_takes(p, TERMINAL_COLON)
      && !tvms_surface_takes(p, TERMINAL_NEWLINE)) {
    tvms_surface_push(p, TERMINAL_COLON, end, end, 0);
  }
  if (p->build.failed || !tvms_surface_takes(p, TERMINAL_NEWLINE)) {
    p->build.failed = false;
    give_up_statement(p, first.begin, end, false);
  }
  tvms_surface_push(p, TERMINAL_NEWLINE, end, end, 0);
  TVMS_CHECK(!p->build.failed);
}

static uint32_t trim_end(const surf_parser *p, uint32_t begin, uint32_t end) {
  const char *text = text_of(p);
  while (end > begin
         && (text[end - 1] == '\n' || text[end - 1] == '\r' || text[end - 1] == ' ')) {
    end--;
  }
  return end;
}

// The first of the lines of decorators above a line, as far as they stand behind `begin`.
static uint32_t with_decorators(surf_parser *p, uint32_t line, uint32_t begin) {
  const char *text = text_of(p);
  for (;;) {
    uint32_t above = line;
    while (above > begin && (above == line || text[above - 1] != '\n')) {
      above--;
    }
    if (above <= begin || text[above + strspn(text + above, " \t")] != '@') return line;
    line = above;
  }
}

// Forgets what the innermost bracket holds: the decorators in it were taken for operands of '@'.
static void empty_bracket(surf_parser *p, uint32_t end) {
  uint32_t depth = tvms_indentation_depth(&p->layout);
  if (depth == 0) return;
  const tvms_bracket bracket = p->layout.brackets.items[depth];
  tvms_surface_set_height(p, bracket.height);
  tvms_surface_push(p, TERMINAL_BAD, bracket.begin + 1, end, 0);
}

// The first line between the innermost bracket of `begin` and `line` that looks like a statement of
// an open block, as `b = g(y)` below `a = f(x` does: it was taken for an argument. `line` if there
// is none.
static uint32_t first_swallowed(surf_parser *p, uint32_t begin, uint32_t line) {
  const char *text = text_of(p);
  for (uint32_t at = begin; at < line; at++) {
    if (text[at] != '\n') continue;
    uint32_t next = at + 1, first;
    if (next >= line) break;
    uint32_t column = tvms_indentation_column(&p->layout, next, &first);
    uint32_t word = first;
    while (may_begin_statement(text[word]) || (text[word] >= '0' && text[word] <= '9'))
      word++;
    word += (uint32_t)strspn(text + word, " ");
    bool binds = text[word] == '=' && text[word + 1] != '=';
    if (binds && may_begin_statement(text[first])
        && tvms_indentation_is_level(&p->layout, column))
      return next;
  }
  return line;
}

// Brackets that were opened behind `place` are forgotten.
static void drop_brackets(surf_parser *p, uint32_t place) {
  while (p->layout.brackets.len > 2
         && p->layout.brackets.items[p->layout.brackets.len - 1].begin >= place) {
    p->layout.brackets.len--;
    p->layout.lexer.depth--;
  }
}

static void restart_at(surf_parser *p, uint32_t line, bool report) {
  uint32_t header = line;
  if (tvms_indentation_depth(&p->layout) > 0) {
    line = first_swallowed(p, p->layout.brackets.items[1].begin, line);
    if (line < header) drop_brackets(p, line);
  }
  uint32_t depth = tvms_indentation_depth(&p->layout);
  uint32_t inside = p->layout.brackets.items[depth].begin;
  line = with_decorators(p, line, depth ? inside : p->layout.first.begin);
  tvms_token first = p->layout.first;
  uint32_t end = trim_end(p, first.begin, line);
  if (line < header) empty_bracket(p, end);
  close_brackets(p, report);
  finish_statement(p, first, end);
  tvms_indentation_restart(&p->layout, line);
}

// The next token of a statement that has its report: brackets that do not fit follow from that.
static tvms_token skip_token(surf_parser *p) {
  const tvms_diag *last = diags_of(p)->last;
  bool said = last && last->source == diags_of(p)->source
              && last->span.begin >= p->layout.first.begin;
  p->layout.hushed = said;
  tvms_token token = tvms_indentation_next(&p->layout);
  p->layout.hushed = false;
  return token;
}

// Skips to the end of the logical line, or to a line that begins a new one. Returns the
// NEWLINE (or END) token.
static tvms_token skip_statement(surf_parser *p, tvms_token token) {
  while (!ends_line(token)) {
    uint32_t line;
    if (begins_statement(p, token, &line)) {
      tvms_indentation_restart(&p->layout, line);
      uint32_t end = trim_end(p, 0, line);
      return tvms_token_make(end, end, TVMS_TOK_NEWLINE);
    }
    token = skip_token(p);
  }
  return token;
}

/* Recovery in brackets */

// Number of brackets around the token; a bracket stands in the one around it.
static uint32_t bracket_of(const surf_parser *p, tvms_token token) {
  uint32_t depth = tvms_indentation_depth(&p->layout);
  switch ((int)token.kind) {
  case TVMS_TOK_SHUT_ROUND:
  case TVMS_TOK_SHUT_SQUARE:
  case TVMS_TOK_SHUT_CURLY: return depth + 1;
  case TVMS_TOK_OPEN_ROUND:
  case TVMS_TOK_OPEN_SQUARE:
  case TVMS_TOK_OPEN_CURLY:
  case TVMS_TOK_OPEN_ITEMS: return depth - 1;
  default: return depth;
  }
}

// A statement of several lines that cannot be read goes on, or its body begins, behind these.
static bool give_up_lines(surf_parser *p, tvms_token token) {
  tvms_token first = p->layout.first;
  bool header = first.kind == TVMS_TOK_DEF
                || (first.kind == TVMS_TOK_WITH && bracket_of(p, token) > 0);
  if (token.begin == first.begin || ends_line(token)
      || (tvms_token_is_header(first.kind) && !header)
      || tvms_token_unsupported(text_of(p), token, first))
    return false;
  uint32_t end = header ? tvms_token_header_end(text_of(p), first, token.begin)
                        : tvms_token_statement_end(text_of(p), first, token.begin);
  if (!end) return false;
  report_refused(p, token);
  give_up_statement(p, first.begin, end, false);
  tvms_surface_push(p, TERMINAL_NEWLINE, end, end, 0);
  uint32_t line = end + (uint32_t)strcspn(text_of(p) + end, "\n");
  tvms_indentation_restart(&p->layout, line + (text_of(p)[line] != '\0'));
  return true;
}

// Gives BAD for what stands between the bracket and its end. Returns the closing token, or
// false if the bracket does not close.
static bool skip_bracket(surf_parser *p, tvms_token *token) {
  uint32_t level = bracket_of(p, *token);
  const tvms_bracket bracket = p->layout.brackets.items[level];
  while (tvms_indentation_depth(&p->layout) >= level) {
    uint32_t line;
    if (token->kind == TVMS_TOK_END || begins_statement(p, *token, &line)) return false;
    *token = skip_token(p);
  }
  tvms_surface_set_height(p, bracket.height);
  tvms_surface_push(p, TERMINAL_BAD, bracket.begin + 1, token->begin, 0);
  return !p->build.failed;
}

/* The refused token */

static void report_missing_block(surf_parser *p, tvms_token token) {
  const char *text = text_of(p);
  tvms_token header = ends_line(token) ? p->layout.first : p->layout.before;
  const tvms_diag *last = diags_of(p)->last;
  bool misplaced =
      last && last->id == TVMS_D_bad_dedent && last->span.begin == header.begin;
  if (header.begin == p->no_colon || misplaced) return;
  uint32_t end = header.end;
  if (header.kind == TVMS_TOK_DEF || header.kind == TVMS_TOK_CLASS) {
    while (text[end] == ' ') {
      end++;
    }
    while (may_begin_statement(text[end]) || (text[end] >= '0' && text[end] <= '9')) {
      end++;
    }
  }
  tvms_diag *diag = tvms_diag_report(diags_of(p), TVMS_D_missing_block,
                                     (tvms_span){token.begin, token.end},
                                     (int)(end - header.begin), text + header.begin);
  tvms_diag_note(diags_of(p), diag, (tvms_span){header.begin, end},
                 "the statement that needs a body");
}

// True for what belongs to a statement that was given up and reported: its `else`, its
// `except`, the cases of a `match`.
static bool follows_skipped(const surf_parser *p, tvms_token token) {
  tvms_token first = p->layout.first;
  const tvms_indent_level *level = &p->layout.indents.items[p->layout.indents.len - 1];
  if (first.kind == TVMS_TOK_NAME && first.end - first.begin == 4
      && token.begin > first.begin
      && memcmp(text_of(p) + first.begin, "case", 4) == 0) {
    return p->layout.indents.len > 1 && level[-1].skipped;
  }
  return token.begin == first.begin && level->skipped;
}

// `def f(x: …) : R.Tensor(…):`: what stands between the colons is the type of the result.
static bool mend_arrow(surf_parser *p, tvms_token token) {
  tvms_token first = p->layout.first;
  const char *text = text_of(p);
  uint32_t last = trim_end(p, first.begin, token.begin);
  if (token.kind != TVMS_TOK_NEWLINE || first.kind != TVMS_TOK_DEF) return false;
  if (last == first.begin || text[last - 1] != ':') return false;
  if (memchr(text + first.begin, '#', last - first.begin))
    return false;  // of a comment
  uint32_t whole = tvms_surface_height(p), height = whole;
  while (height > 0 && !tvms_surface_takes(p, TERMINAL_ARROW)) {
    tvms_surface_set_height(p, --height);
  }
  uint32_t end = tvms_surface_top_end(p);
  uint32_t colon = end + (uint32_t)strspn(text + end, " ");
  if (height == 0 || text[colon] != ':') {
    tvms_surface_set_height(p, whole);
    return false;
  }
  tvms_span span = {colon, colon + 1};
  tvms_diag *diag = tvms_diag_report(diags_of(p), TVMS_D_syntax, span, "':'", "");
  tvms_diag_remark(diags_of(p), diag, "write '->' in front of the type of the result");
  tvms_diag_fix(diags_of(p), diag, (tvms_span){end, colon + 1}, false, " ->");
  tvms_span header = {first.begin, token.begin};
  keep_refused(p, header);
  tvms_surface_push(p, TERMINAL_ARROW, colon, colon + 1, 0);
  tvms_surface_push(p, TERMINAL_BAD, colon + 1, last - 1, 0);
  tvms_surface_push(p, TERMINAL_COLON, last - 1, last, 0);
  return true;
}

// Whether a bracket that nothing opens was reported in front of it: `} else {`.
static bool follows_bracket(surf_parser *p, tvms_token token) {
  const tvms_diag *last = diags_of(p)->last;
  return last && last->id == TVMS_D_unmatched_bracket
         && last->source == diags_of(p)->source && last->span.end <= token.begin
         && !memchr(text_of(p) + last->span.end, '\n', token.begin - last->span.end);
}

// The text ended in a bracket, which is closed: the end is read again behind the ends of the
// blocks around it.
static void end_again(surf_parser *p, tvms_token *token) {
  tvms_indentation_restart(&p->layout, token->begin);
  token->kind = TVMS_TOK_NEWLINE;
}

// Whether the line that began last has a string without an end, which was reported.
static bool is_unfinished(surf_parser *p) {
  const tvms_diag *last = diags_of(p)->last;
  return last
         && (last->id == TVMS_D_unfinished_string
             || last->id == TVMS_D_unfinished_triple)
         && last->source == diags_of(p)->source
         && last->span.begin >= p->layout.first.begin;
}

static bool recover(surf_parser *p, tvms_token *token) {
  if (token->kind == TVMS_TOK_BROKEN && tvms_surface_takes(p, TERMINAL_BAD)) {
    tvms_span span = {p->layout.first.begin, token->end};
    keep_refused(p, span);
    token->kind = TVMS_TOK_HOLE;
    return true;
  }
  if (token->kind == TVMS_TOK_INDENT) {
    // Behind a header that was taken for a text.
    if (!is_unfinished(p))
      tvms_diag_report(diags_of(p), TVMS_D_unexpected_indent,
                       (tvms_span){token->begin, token->end + 1});
    tvms_indentation_silence(&p->layout);
    return false;
  }
  if (tvms_surface_takes(p, TERMINAL_MISSING)) {
    report_missing_block(p, *token);
    tvms_ref ref =
        surf_node(&p->build, TVMS_SURF_ERROR, 0, token->begin, token->begin, 0, 0, 0);
    tvms_surface_push(p, TERMINAL_MISSING, token->begin, token->begin, ref);
    return true;
  }
  if (!tvms_token_only_begins_statement(token->kind) && give_up_lines(p, *token))
    return false;
  uint32_t line;
  if (begins_statement(p, *token, &line)) {
    restart_at(p, line, true);
    return false;
  }
  if (token->kind == TVMS_TOK_END && tvms_indentation_depth(&p->layout) > 0) {
    uint32_t end = token->begin;
    restart_at(p, end, true);
    end_again(p, token);
    return false;
  }
  if (mend_arrow(p, *token)) return true;
  tvms_token first = p->layout.first;
  if (token->kind == TVMS_TOK_NEWLINE && tvms_token_is_header(first.kind)
      && tvms_surface_takes(p, TERMINAL_COLON)) {
    p->no_colon = first.begin;
    tvms_diag *diag = tvms_diag_report(diags_of(p), TVMS_D_missing_colon,
                                       (tvms_span){token->begin, token->end});
    uint32_t end = trim_end(p, first.end, token->begin);
    bool comment = memchr(text_of(p) + first.end, '#', end - first.end) != NULL;
    if (!comment) tvms_diag_fix(diags_of(p), diag, (tvms_span){end, end}, true, ":");
    tvms_surface_push(p, TERMINAL_COLON, token->begin, token->begin, 0);
    return true;
  }
  const tvms_diag *last = diags_of(p)->last;
  bool follows = token->kind == TVMS_TOK_ELSE || token->kind == TVMS_TOK_ELIF;
  bool misplaced = last
                   && ((last->id == TVMS_D_bad_dedent
                        && (follows || last->span.begin == token->begin))
                       || (last->id == TVMS_D_missing_block && follows));
  // A header goes on to be misread.
  bool header = first.kind == TVMS_TOK_FOR || first.kind == TVMS_TOK_DEF;
  bool quiet =
      is_unfinished(p) || misplaced || follows_skipped(p, *token)
      || follows_bracket(p, *token)
      || (p->refused == first.begin && (token->begin == first.end + 1 || header));
  bool unsupported = quiet || report_refused(p, *token);
  if (token->begin == first.begin || header) p->refused = first.begin;
  if (bracket_of(p, *token) > 0) {
    uint32_t end = (uint32_t)strcspn(text_of(p) + token->begin, "\r\n") + token->begin;
    if (skip_bracket(p, token)) {
      keep_refused(p, (tvms_span){first.begin, end});
      return true;
    }
    p->build.failed = false;
  }
  bool begun = !ends_line(*token) && token->begin == first.begin;
  if (begun && !tvms_surface_takes(p, TERMINAL_WORD)) {
    // The statement before wanted more lines (a decorator does); this one is another.
    uint32_t end = trim_end(p, 0, token->begin);
    give_up_statement(p, end, end, false);
    tvms_surface_push(p, TERMINAL_NEWLINE, end, end, 0);
    return true;
  }
  bool heads = tvms_surface_takes(p, TERMINAL_NEWLINE)
               && tvms_token_heads_block(text_of(p), *token, first);
  *token = skip_statement(p, *token);
  if (heads && token->kind == TVMS_TOK_NEWLINE) return true;
  give_up_statement(p, first.begin < token->begin ? first.begin : token->begin,
                    token->begin, unsupported);
  if (token->kind != TVMS_TOK_NEWLINE) {
    tvms_surface_push(p, TERMINAL_NEWLINE, token->begin, token->begin, 0);
  }
  if (token->kind == TVMS_TOK_END && tvms_indentation_depth(&p->layout) > 0) {
    end_again(p, token);
    return false;
  }
  return true;
}

// A statement that was mended and is refused again has its report already.
bool tvms_surface_recover(surf_parser *p, tvms_token *token) {
  p->build.failed = false;
  if (tvms_surface_repair(p, *token)) return false;
  p->line.begin = UINT32_MAX;
  p->layout.strict = false;
  bool again = p->mended == p->layout.first.begin;
  if (token->kind == TVMS_TOK_MISFIT) {
    p->mended = p->layout.first.begin;
    keep_refused(p, (tvms_span){p->mended, token->end});
    return tvms_indentation_fit(&p->layout, token);
  }
  diags_of(p)->muted += again;
  bool fed = recover(p, token);
  diags_of(p)->muted -= again;
  return fed;
}

void tvms_surface_refuse(surf_parser *p, tvms_token token) {
  p->build.failed = false;
  report_refused(p, token);
}
