// Drives the generated parser: feeds it tokens and mends what it refuses.
//
// The parser is a push parser without error rules of its own. When it refuses a token its
// stack is intact, so recovery can ask what would have been taken, close brackets that
// were forgotten, give BAD for the rest of a bracket or ERROR for the rest of a statement,
// and go on. One place in the text gets one diagnostic. The generated file is included
// here so that recovery can look at the parser's stack and the compiler at the actions.
#include "grammar/parse.h"

#include "grammar/build.h"
#include "grammar/identifier.h"
#include "grammar/indentation.h"
#include "grammar/literal.h"
#include "grammar/meant.h"
#include "grammar/refused.h"
#include "support/check.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

// The parser's stack is a block of the context's memory, like everything else: failing to
// grow it unwinds, and the block goes when the context does.
#define malloc(size) tvms_memory_alloc(&p->build->context->memory, (size))
#define realloc(block, size)                                                           \
  tvms_memory_realloc(&p->build->context->memory, (block), (size))
#define free(block)                      tvms_memory_free(&pParser->build->context->memory, (block))
#define YYNOERRORRECOVERY                1
#define tvms_grammar_ENGINEALWAYSONSTACK 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#ifndef NDEBUG
#  define NDEBUG  // Lemon's tracing has mutable globals
#endif
#include "grammar/tvmscript.c"
#pragma GCC diagnostic pop
#undef malloc
#undef realloc
#undef free
#undef TOKEN  // Lemon's

static const struct {
  uint8_t terminal;
  uint8_t value;
} terminals[] = {
#define TERMINAL_END 0
#define TOKEN(KIND, spelling, TERMINAL, value)                                         \
  [TVMS_TOK_##KIND] = {TERMINAL_##TERMINAL, value},
#include "grammar/tokens.def"
};

// A name that was interned, found again by its bytes. Short names only: most names are,
// and comparing two words costs less than a call.
typedef struct {
  uint64_t head;  // the first 8 bytes, or all
  uint64_t tail;  // the last 8 bytes of a longer one
  uint32_t len;   // 0: free
  tvms_sym sym;
} seen_name;

// A short text gets a small table: clearing it costs more than it saves.
enum {
  MOST_SEEN_LOG = 10,
  FEW_SEEN_LOG = 6,
  SHORT_TEXT = 16 * 1024,
  LONGEST_SEEN = 16
};

typedef struct {
  surf_build build;
  tvms_indentation layout;
  const char *text;               // that has the bytes of the tokens
  seen_name *TVMS_NULLABLE seen;  // NULL: not worth it
  uint32_t seen_log;              // log2 of how many there are
  uint32_t no_colon;  // begin of the last line whose ':' was missed; UINT32_MAX: none
  // Begin of the last line that was refused at once or in the header of a loop: what is
  // refused behind that follows from it. UINT32_MAX: none.
  uint32_t refused;
  bool nested;  // an expression in a string
  yyParser lemon;
} parse;

static tvms_diags *diags_of(parse *p) {
  return &p->build.context->diags;
}
static const char *text_of(const parse *p) {
  return p->text;
}

/* Feeding */

static inline void feed(parse *p, int terminal, uint32_t begin, uint32_t end,
                        uint32_t value) {
  tvms_grammar(&p->lemon, terminal,
               (surf_token){.both = begin | (uint64_t)end << 32, .value = value});
}

// The bytes of a name, up to 8 of them, as a word; the text is padded.
static inline uint64_t word_at(const char *text, uint32_t len) {
  uint64_t word;
  memcpy(&word, text, 8);
  return len < 8 ? word & ((UINT64_C(1) << 8 * len) - 1) : word;
}

static inline tvms_sym intern(parse *p, const char *text, uint32_t len) {
  tvms_interner *names = &p->build.context->names;
  if (len > LONGEST_SEEN || !p->seen) return tvms_interner_add(names, text, len);
  uint64_t head = word_at(text, len);
  uint64_t tail = len > 8 ? word_at(text + len - 8, 8) : 0;
  uint64_t mixed = (head ^ tail * 3 ^ len) * UINT64_C(0xD6E8FEB86659FD93);
  seen_name *seen = &p->seen[mixed >> (64 - p->seen_log)];
  if (seen->head != head || seen->tail != tail || seen->len != len) {
    *seen = (seen_name){head, tail, len, tvms_interner_add(names, text, len)};
  }
  return seen->sym;
}

static inline void feed_token(parse *p, tvms_token token) {
  uint32_t value = terminals[token.kind].value;
  if (token.kind == TVMS_TOK_NAME) {
    value = intern(p, p->text + token.begin, token.end - token.begin);
  } else if (token.kind == TVMS_TOK_WIDE_NAME) {
    value = p->layout.lexer.symbol;
  }
  tvms_grammar(&p->lemon, terminals[token.kind].terminal,
               (surf_token){.both = token.both, .value = value});
}

static uint32_t height(const parse *p) {
  return (uint32_t)(p->lemon.yytos - p->lemon.yystack);
}

// True if the parser would shift the terminal, after whatever reductions.
static bool takes(const parse *p, int terminal) {
  enum { MOST = 64 };
  YYACTIONTYPE pushed[MOST];
  int count = 0;
  const yyStackEntry *top = p->lemon.yytos;
  YYACTIONTYPE state = top->stateno;
  for (;;) {
    YYACTIONTYPE action = yy_find_shift_action((YYCODETYPE)terminal, state);
    if (action <= YY_MAX_SHIFTREDUCE) return true;
    if (action < YY_MIN_REDUCE) return false;
    unsigned rule = action - YY_MIN_REDUCE;
    int size = -yyRuleInfoNRhs[rule];
    for (; size > 0 && count > 0; size--) {
      count--;
    }
    top -= size;
    if (count == MOST) return false;
    YYACTIONTYPE from = count ? pushed[count - 1] : top->stateno;
    state = yy_find_reduce_action(from, yyRuleInfoLhs[rule]);
    pushed[count++] = state;
  }
}

/* Messages */

// "; expected ')' or ','", if few things would do.
static void say_expected(const parse *p, char *text, size_t size) {
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
  bool expression = takes(p, TERMINAL_NUMBER);
  for (int i = 0; i < COUNT; i++) {
    bool part = expression
                && (marks[i].terminal == TERMINAL_NAME
                    || marks[i].terminal == TERMINAL_OPEN_ROUND);
    bool operand = marks[i].terminal == TERMINAL_OPEN_ROUND && takes(p, TERMINAL_DOT);
    if (!part && !operand && takes(p, marks[i].terminal))
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

// Reports the refused token. Returns true if it is Python that tvms does not take.
static bool report_refused(parse *p, tvms_token token) {
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
  if (token.kind == TVMS_TOK_STRAY) return false;  // the lexer has said so
  if (token.kind == TVMS_TOK_NEWLINE && p->layout.lexer.unfinished) return false;
  char what[64], expected[96];
  bool inside = tvms_indentation_depth(&p->layout) > 0;
  tvms_token_meaning meant = {0};
  if (!p->nested) {
    bool comma = takes(p, TERMINAL_COMMA) || takes(p, TERMINAL_SHUT_SQUARE)
                 || takes(p, TERMINAL_FOR_IN) || p->layout.first.kind == TVMS_TOK_DEF;
    meant = tvms_token_meant(text_of(p), token, p->layout.first, inside, comma);
  }
  bool moved = meant.note && meant.span.begin != span.begin;
  if (meant.note) span = meant.span;
  if (moved) {
    tvms_token all = tvms_token_make(span.begin, span.end, TVMS_TOK_NAME);
    tvms_token_say(text_of(p), all, p->nested, what, sizeof what);
    expected[0] = '\0';
  } else {
    tvms_token_say(text_of(p), token, p->nested, what, sizeof what);
    say_expected(p, expected, sizeof expected);
  }
  if (token.kind == TVMS_TOK_COLON && meant.note) {
    // `keepdims: True` was taken for an argument without a name.
    tvms_diags_forget(diags_of(p), TVMS_D_late_argument,
                      (tvms_span){p->layout.first.begin, token.begin});
  }
  tvms_diag *diag = tvms_diag_report(diags_of(p), TVMS_D_syntax, span, what, expected);
  if (!meant.note) return false;
  tvms_diag_remark(diags_of(p), diag, "%s", meant.note);
  if (meant.fixed)
    tvms_diag_fix(diags_of(p), diag, meant.fix, false, "%s", meant.fixed);
  return false;
}

/* Recovery of a statement */

// Pops to where a statement may stand and puts an ERROR or UNSUPPORTED there, which spans
// from the first token of the logical line to `end`.
static void give_up_statement(parse *p, uint32_t begin, uint32_t end,
                              bool unsupported) {
  yyParser *lemon = &p->lemon;
  while (lemon->yytos > lemon->yystack) {
    YYACTIONTYPE state = lemon->yytos->stateno;
    if (state <= YY_MAX_SHIFT
        && yy_find_shift_action(TERMINAL_ERROR, state) <= YY_MAX_SHIFTREDUCE) {
      break;
    }
    lemon->yytos--;
  }
  tvms_surf_kind kind = unsupported ? TVMS_SURF_UNSUPPORTED : TVMS_SURF_ERROR;
  tvms_ref ref =
      surf_node(&p->build, kind, 0, begin, end > begin ? end : begin, 0, 0, 0);
  p->build.grouped = 0;
  p->layout.indents.items[p->layout.indents.len - 1].skipped = true;
  feed(p, TERMINAL_ERROR, begin, end, ref);
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
static bool begins_statement(parse *p, tvms_token token, uint32_t *line) {
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

// Reports the innermost open bracket and closes all of them.
static void close_brackets(parse *p, bool report) {
  const tvms_bracket *brackets = p->layout.brackets.items;
  uint32_t depth = tvms_indentation_depth(&p->layout);
  if (report && !p->layout.lexer.unfinished) {
    const char text[2] = {text_of(p)[brackets[depth].begin], '\0'};
    tvms_diag *diag = tvms_diag_report(
        diags_of(p), TVMS_D_unclosed_bracket,
        (tvms_span){brackets[depth].begin, brackets[depth].begin + 1}, text);
    tvms_diag_remark(diags_of(p), diag, "a '%s' is missing",
                     tvms_token_text((tvms_token_kind)brackets[depth].shut));
  }
  for (; depth > 0 && !p->build.failed; depth--) {
    uint32_t at = tvms_lexer_offset(&p->layout.lexer, p->layout.lexer.token);
    feed(p, terminals[brackets[depth].shut].terminal, at, at, 0);
  }
}

// Ends the current statement where an earlier line should have: closes brackets, gives the
// line end, and a ':' if that was forgotten with them.
static void finish_statement(parse *p, tvms_token first, uint32_t end) {
  if (!p->build.failed && tvms_token_is_header(first.kind) && takes(p, TERMINAL_COLON)
      && !takes(p, TERMINAL_NEWLINE)) {
    feed(p, TERMINAL_COLON, end, end, 0);
  }
  if (p->build.failed || !takes(p, TERMINAL_NEWLINE)) {
    p->build.failed = false;
    give_up_statement(p, first.begin, end, false);
  }
  feed(p, TERMINAL_NEWLINE, end, end, 0);
  TVMS_CHECK(!p->build.failed);
}

static uint32_t trim_end(const parse *p, uint32_t begin, uint32_t end) {
  const char *text = text_of(p);
  while (end > begin
         && (text[end - 1] == '\n' || text[end - 1] == '\r' || text[end - 1] == ' ')) {
    end--;
  }
  return end;
}

// The first of the lines of decorators above a line.
static uint32_t with_decorators(parse *p, uint32_t line, uint32_t begin) {
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

static void restart_at(parse *p, uint32_t line, bool report) {
  line = with_decorators(p, line, p->layout.first.begin);
  tvms_token first = p->layout.first;
  uint32_t end = trim_end(p, first.begin, line);
  close_brackets(p, report);
  finish_statement(p, first, end);
  tvms_indentation_restart(&p->layout, line);
}

// Skips to the end of the logical line, or to a line that begins a new one. Returns the
// NEWLINE (or END) token.
static tvms_token skip_statement(parse *p, tvms_token token) {
  while (!ends_line(token)) {
    uint32_t line;
    if (begins_statement(p, token, &line)) {
      tvms_indentation_restart(&p->layout, line);
      uint32_t end = trim_end(p, 0, line);
      return tvms_token_make(end, end, TVMS_TOK_NEWLINE);
    }
    token = tvms_indentation_next(&p->layout);
  }
  return token;
}

/* Recovery in brackets */

// Number of brackets around the token; a bracket stands in the one around it.
static uint32_t bracket_of(const parse *p, tvms_token token) {
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

// Gives BAD for what stands between the bracket and its end. Returns the closing token, or
// false if the bracket does not close.
static bool skip_bracket(parse *p, tvms_token *token) {
  uint32_t level = bracket_of(p, *token);
  const tvms_bracket bracket = p->layout.brackets.items[level];
  while (tvms_indentation_depth(&p->layout) >= level) {
    uint32_t line;
    if (token->kind == TVMS_TOK_END || begins_statement(p, *token, &line)) return false;
    *token = tvms_indentation_next(&p->layout);
  }
  p->lemon.yytos = p->lemon.yystack + bracket.height;
  feed(p, TERMINAL_BAD, bracket.begin + 1, token->begin, 0);
  return !p->build.failed;
}

/* The refused token */

static void report_missing_block(parse *p, tvms_token token) {
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
static bool follows_skipped(const parse *p, tvms_token token) {
  tvms_token first = p->layout.first;
  const tvms_indent_level *level = &p->layout.indents.items[p->layout.indents.len - 1];
  if (first.kind == TVMS_TOK_NAME && first.end - first.begin == 4
      && token.begin > first.begin
      && memcmp(text_of(p) + first.begin, "case", 4) == 0) {
    return p->layout.indents.len > 1 && level[-1].skipped;
  }
  return token.begin == first.begin && level->skipped;
}

static uint32_t indentation_at(const char *text, uint32_t line) {
  uint32_t at = line;
  while (text[at] == ' ' || text[at] == '\t') {
    at++;
  }
  return at - line;
}

// What was refused stands behind the ':' of a header whose block follows on the next lines, as
// in `for i in range(4):  // copy`: without it the statement is whole.
static bool heads_block(const parse *p, tvms_token token) {
  tvms_token first = p->layout.first;
  if (!tvms_token_is_header(first.kind) || !takes(p, TERMINAL_NEWLINE)) return false;
  const char *text = text_of(p);
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

// `def f(x: …) : R.Tensor(…):`: what stands between the colons is the type of the result.
static bool mend_arrow(parse *p, tvms_token token) {
  tvms_token first = p->layout.first;
  const char *text = text_of(p);
  uint32_t last = trim_end(p, first.begin, token.begin);
  if (token.kind != TVMS_TOK_NEWLINE || first.kind != TVMS_TOK_DEF) return false;
  if (last == first.begin || text[last - 1] != ':') return false;
  yyStackEntry *top = p->lemon.yytos;
  while (p->lemon.yytos > p->lemon.yystack && !takes(p, TERMINAL_ARROW)) {
    p->lemon.yytos--;
  }
  uint32_t end = (uint32_t)(p->lemon.yytos->minor.yy0.both >> 32);
  uint32_t colon = end + (uint32_t)strspn(text + end, " ");
  if (p->lemon.yytos == p->lemon.yystack || text[colon] != ':') {
    p->lemon.yytos = top;
    return false;
  }
  tvms_span span = {colon, colon + 1};
  tvms_diag *diag = tvms_diag_report(diags_of(p), TVMS_D_syntax, span, "':'", "");
  tvms_diag_remark(diags_of(p), diag, "write '->' in front of the type of the result");
  tvms_diag_fix(diags_of(p), diag, (tvms_span){end, colon + 1}, false, " ->");
  feed(p, TERMINAL_ARROW, colon, colon + 1, 0);
  feed(p, TERMINAL_BAD, colon + 1, last - 1, 0);
  feed(p, TERMINAL_COLON, last - 1, last, 0);
  return true;
}

// Mends after `token` was refused. Returns the token to go on with; false: read the next.
static bool recover(parse *p, tvms_token *token) {
  p->build.failed = false;
  if (token->kind == TVMS_TOK_INDENT) {
    tvms_diag_report(diags_of(p), TVMS_D_unexpected_indent,
                     (tvms_span){token->begin, token->end + 1});
    tvms_indentation_silence(&p->layout);
    return false;
  }
  if (takes(p, TERMINAL_MISSING)) {
    report_missing_block(p, *token);
    tvms_ref ref =
        surf_node(&p->build, TVMS_SURF_ERROR, 0, token->begin, token->begin, 0, 0, 0);
    feed(p, TERMINAL_MISSING, token->begin, token->begin, ref);
    return true;
  }
  uint32_t line;
  if (begins_statement(p, *token, &line)) {
    restart_at(p, line, true);
    return false;
  }
  if (token->kind == TVMS_TOK_END && tvms_indentation_depth(&p->layout) > 0) {
    uint32_t end = token->begin;
    restart_at(p, end, true);
    return false;
  }
  if (mend_arrow(p, *token)) return true;
  tvms_token first = p->layout.first;
  if (token->kind == TVMS_TOK_NEWLINE && tvms_token_is_header(first.kind)
      && takes(p, TERMINAL_COLON)) {
    p->no_colon = first.begin;
    tvms_diag *diag = tvms_diag_report(diags_of(p), TVMS_D_missing_colon,
                                       (tvms_span){token->begin, token->end});
    uint32_t end = trim_end(p, first.end, token->begin);
    bool comment = memchr(text_of(p) + first.end, '#', end - first.end) != NULL;
    if (!comment) tvms_diag_fix(diags_of(p), diag, (tvms_span){end, end}, true, ":");
    feed(p, TERMINAL_COLON, token->begin, token->begin, 0);
    return true;
  }
  const tvms_diag *last = diags_of(p)->last;
  bool follows = token->kind == TVMS_TOK_ELSE || token->kind == TVMS_TOK_ELIF;
  bool misplaced = last
                   && ((last->id == TVMS_D_bad_dedent
                        && (follows || last->span.begin == token->begin))
                       || (last->id == TVMS_D_missing_block && follows));
  bool quiet = misplaced || follows_skipped(p, *token)
               || (p->refused == first.begin
                   && (token->begin == first.end + 1 || first.kind == TVMS_TOK_FOR));
  bool unsupported = quiet || report_refused(p, *token);
  if (token->begin == first.begin || first.kind == TVMS_TOK_FOR) {
    p->refused = first.begin;
  }
  if (bracket_of(p, *token) > 0) {
    if (skip_bracket(p, token)) return true;
    p->build.failed = false;
  }
  bool begun = !ends_line(*token) && token->begin == first.begin;
  if (begun && !takes(p, TERMINAL_WORD)) {
    // The statement before wanted more lines (a decorator does); this one is another.
    uint32_t end = trim_end(p, 0, token->begin);
    give_up_statement(p, end, end, false);
    feed(p, TERMINAL_NEWLINE, end, end, 0);
    return true;
  }
  bool heads = heads_block(p, *token);
  *token = skip_statement(p, *token);
  if (heads && token->kind == TVMS_TOK_NEWLINE) return true;
  give_up_statement(p, first.begin < token->begin ? first.begin : token->begin,
                    token->begin, unsupported);
  if (token->kind != TVMS_TOK_NEWLINE) {
    feed(p, TERMINAL_NEWLINE, token->begin, token->begin, 0);
  }
  return true;
}

/* The loop */

static void start(parse *p, tvms_surface *surface) {
  memset(p, 0, offsetof(parse, lemon));
  p->build.surface = surface;
  p->build.context = surface->context;
  p->text = surface->source->text;
  p->no_colon = UINT32_MAX;
  p->refused = UINT32_MAX;
  tvms_grammarInit(&p->lemon, &p->build);
}

static void finish(parse *p) {
  tvms_memory *memory = &p->build.context->memory;
  tvms_grammarFinalize(&p->lemon);
  tvms_vec_fini(memory, &p->layout.indents);
  tvms_vec_fini(memory, &p->layout.brackets);
}

static void run(parse *p) {
  for (;;) {
    tvms_token token = tvms_indentation_next(&p->layout);
    do {
      feed_token(p, token);
    } while (__builtin_expect(p->build.failed, 0) && recover(p, &token));
    if (token.kind <= TVMS_TOK_OPEN_CURLY || token.kind == TVMS_TOK_OPEN_ITEMS) {
      if (token.kind == TVMS_TOK_END) return;
      if (token.kind != TVMS_TOK_NEWLINE) {
        p->layout.brackets.items[p->layout.brackets.len - 1].height = height(p);
      }
    }
  }
}

void tvms_surface_parse_file(tvms_surface *surface) {
  parse p;
  start(&p, surface);
  const tvms_source *source = surface->source;
  seen_name seen[1 << MOST_SEEN_LOG];
  p.seen = seen;
  p.seen_log = source->size < SHORT_TEXT ? FEW_SEEN_LOG : MOST_SEEN_LOG;
  memset(seen, 0, sizeof *seen << p.seen_log);
  surface->cap = source->size / 4 + 64;
  // Growing a small block gives bytes that nobody has spent time to zero.
  tvms_memory *memory = &surface->context->memory;
  surface->nodes =
      tvms_memory_realloc(memory, tvms_memory_alloc(memory, sizeof *surface->nodes),
                          (size_t)surface->cap * sizeof *surface->nodes);
  surface->count = 1;
  tvms_indentation_init(&p.layout, surface, source->text, source->size, 0, false);
  tvms_lexer_check_text(&p.layout.lexer);
  run(&p);
  finish(&p);
}

// Reports what is wrong with an expression in a string, once.
static void refuse_nested(parse *p, tvms_token token) {
  p->build.failed = false;
  report_refused(p, token);
}

tvms_ref tvms_surface_parse_nested(tvms_surface *surface, const char *bytes,
                                   size_t size, const char *text, uint32_t offset) {
  tvms_context *context = surface->context;
  uint32_t comments = surface->comment_count;
  uint32_t errors = context->diags.errors;
  parse p;
  start(&p, surface);
  p.text = text;
  tvms_indentation_init(&p.layout, surface, bytes, size, offset, true);
  if (bytes == text) tvms_lexer_check_text(&p.layout.lexer);
  p.nested = true;
  feed(&p, TERMINAL_NESTED, offset, offset, 0);
  tvms_token token;
  do {
    token = tvms_indentation_next(&p.layout);
    feed_token(&p, token);
    if (p.build.failed) {
      refuse_nested(&p, token);
      break;
    }
  } while (token.kind != TVMS_TOK_END);
  finish(&p);
  surface->comment_count = comments;
  return context->diags.errors == errors ? p.build.nested : 0;
}
