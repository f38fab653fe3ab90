// See indentation.h. Rules of indentation: Python reference, 2.1.8, with the tab rules of its
// tokenizer: a tab goes to the next multiple of 8, and two lines whose order would change
// if a tab were one column wide are an error.
#include "grammar/indentation.h"

#include "grammar/identifier.h"
#include "grammar/literal.h"
#include "grammar/misfit.h"
#include "grammar/misspelt.h"
#include "support/check.h"
#include "support/diag_ids.h"

#include <string.h>

static const struct {
  const char *text;
  bool keyword;
} tokens[] = {
#define TOKEN(KIND, spelling, terminal, value)   [TVMS_TOK_##KIND] = {spelling, false},
#define KEYWORD(KIND, spelling, terminal, value) [TVMS_TOK_##KIND] = {spelling, true},
#include "grammar/tokens.def"
};

const char *tvms_token_text(tvms_token_kind kind) {
  return tokens[kind].text;
}
bool tvms_token_is_keyword(tvms_token_kind kind) {
  return tokens[kind].keyword;
}

void tvms_lexer_init(tvms_lexer *lexer, tvms_surface *surface, const char *text,
                     size_t size, uint32_t offset) {
  *lexer = (tvms_lexer){
      .surface = surface,
      .context = surface->context,
      .base = (uintptr_t)text - offset,
      .begin = text,
      .end = text + size,
      .cursor = text,
      .token = text,
  };
}

void tvms_indentation_init(tvms_indentation *layout, tvms_surface *surface,
                           const char *text, size_t size, uint32_t offset,
                           bool nested) {
  memset(layout, 0, sizeof *layout);
  tvms_lexer_init(&layout->lexer, surface, text, size, offset);
  layout->seen = layout->seen_line = offset;
  tvms_memory *memory = &surface->context->memory;
  tvms_vec_push(memory, &layout->indents, ((tvms_indent_level){0}));
  tvms_vec_push(memory, &layout->brackets, ((tvms_bracket){0}));
  if (nested) {
    layout->brackets.items[0].shut = TVMS_TOK_END;
    layout->lexer.depth = 1;
    tvms_vec_push(memory, &layout->brackets, ((tvms_bracket){.shut = TVMS_TOK_END}));
    return;
  }
  layout->at_line_start = true;
  if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) layout->lexer.cursor += 3;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include "grammar/lexer_rules.h"
#pragma GCC diagnostic pop

static tvms_memory *memory_of(tvms_indentation *layout) {
  return &layout->lexer.context->memory;
}
static tvms_diags *diags_of(tvms_indentation *layout) {
  return &layout->lexer.context->diags;
}

/* Indentation */

// Moves over white space with tabs or form feeds in it.
static tvms_indent_level measure_slowly(const char **at, tvms_indent_level indent) {
  for (;; ++*at) {
    switch (**at) {
    case ' ':
      indent.column++;
      indent.narrow++;
      break;
    case '\t':
      indent.column = (indent.column / 8 + 1) * 8;
      indent.narrow++;
      break;
    case '\f': indent = (tvms_indent_level){0}; break;
    default: return indent;
    }
  }
}

// Moves over white space to the first byte of a line and measures it. The text is padded,
// so words of 8 bytes can be read up to its end.
static tvms_indent_level measure(const char **at) {
  const char *begin = *at;
  const char *end = begin;
  uint64_t word;
  for (;; end += 8) {
    memcpy(&word, end, 8);
    word ^= 0x2020202020202020u;
    if (word) break;
  }
  while (*end == ' ') {
    end++;
  }
  *at = end;
  tvms_indent_level indent = {.column = (uint32_t)(end - begin),
                              .narrow = (uint32_t)(end - begin)};
  return *end == '\t' || *end == '\f' ? measure_slowly(at, indent) : indent;
}

// Moves over a prompt of Python's shell. The line stands where the text behind the prompt does in a
// whole listing of the shell; a single one may stand in the place of the indentation.
static tvms_indent_level skip_prompt(tvms_indentation *layout, const char **at,
                                     tvms_indent_level indent) {
  bool alone = !layout->prompt && layout->indents.len > 1 && indent.column == 0;
  layout->prompt = tvms_lexer_report_prompt(&layout->lexer, layout->prompt, *at);
  *at += TVMS_PROMPT;
  tvms_indent_level behind = measure(at);
  uint32_t blanks = indent.column + behind.column;
  bool instead =
      alone && blanks == 0 && tvms_indentation_is_level(layout, blanks + TVMS_PROMPT);
  if (instead) blanks += TVMS_PROMPT;
  return (tvms_indent_level){.column = blanks, .narrow = blanks};
}

// Skips lines without code. Returns the indentation of the line where it stops.
static tvms_indent_level find_line(tvms_indentation *layout) {
  tvms_lexer *lexer = &layout->lexer;
  for (;;) {
    const char *at = lexer->cursor;
    tvms_indent_level indent = measure(&at);
    while (*at == '\0' && at < lexer->end) {
      at++;  // has been reported
    }
    if ((*at == '>' || *at == '.') && tvms_lexer_is_prompt(at))
      indent = skip_prompt(layout, &at, indent);
    if (*at == '#') {
      const unsigned char *begin = (const unsigned char *)at;
      at = (const char *)tvms_lexer_take_comment(lexer, begin, begin);
    }
    bool blank = *at == '\n' || *at == '\r';
    if (blank) at += *at == '\r' && at[1] == '\n' ? 2 : 1;
    lexer->cursor = at;
    if (blank) continue;
    return at < lexer->end ? indent : (tvms_indent_level){0};
  }
}

static void report_here(tvms_indentation *layout, tvms_diag_id id) {
  uint32_t at = tvms_lexer_offset(&layout->lexer, layout->lexer.cursor);
  tvms_diag_report(diags_of(layout), id, (tvms_span){at, at + 1});
}

// A line between the columns of two blocks.
static void report_dedent(tvms_indentation *layout, const tvms_indent_level *top) {
  report_here(layout, TVMS_D_bad_dedent);
  tvms_diag_remark(diags_of(layout), diags_of(layout)->last,
                   "it is indented by %u; the blocks above by %u and %u",
                   layout->line.column, top[-1].column, top->column);
}

static tvms_token make(const tvms_indentation *layout, tvms_token_kind kind) {
  uint32_t at = tvms_lexer_offset(&layout->lexer, layout->lexer.cursor);
  return tvms_token_make(at, at, kind);
}

// A tab in front of a line that seems to leave a block where the others have blanks: it is as
// likely to belong to the block.
static bool is_misled(const tvms_indentation *layout) {
  tvms_indent_level line = layout->line;
  if (line.column == line.narrow) return false;
  const tvms_indent_level *level = &layout->indents.items[layout->indents.len - 1];
  while (level->column > line.column) {
    level--;
  }
  return level->column == line.column && level->narrow != line.narrow;
}

// Closes one block that the line in `column` has left, or none. A line between two levels
// stays in the inner block, whose level it becomes.
// Whether a body that is not indented was the last finding: what comes back to the level of
// its header belongs to that.
static bool follows_missing_block(const tvms_indentation *layout) {
  const tvms_diags *diags = &layout->lexer.context->diags;
  return diags->last && diags->last->id == TVMS_D_missing_block
         && diags->last->source == diags->source;
}

static bool dedent(tvms_indentation *layout, tvms_token *token) {
  for (;;) {
    tvms_indent_level *top = &layout->indents.items[layout->indents.len - 1];
    if (layout->line.column >= top->column) {
      if (layout->line.narrow != top->narrow) report_here(layout, TVMS_D_mixed_tabs);
      break;
    }
    if (layout->line.column > top[-1].column) {
      if (!follows_missing_block(layout)) report_dedent(layout, top);
      if (!top->moved_from) top->moved_from = top->column;
      top->column = layout->line.column;
      top->narrow = layout->line.narrow;
      break;
    }
    bool silent = top->silent;
    layout->indents.len--;
    if (silent) continue;
    *token = make(layout, TVMS_TOK_DEDENT);
    return true;
  }
  layout->dedenting = false;
  return false;
}

// Begins a logical line. Returns true if it gives an INDENT or a DEDENT first.
static bool begin_line(tvms_indentation *layout, tvms_token *token) {
  layout->at_line_start = false;
  layout->lexer.unfinished = false;
  layout->brackets.items[0].wants_in = false;
  tvms_indent_level line = find_line(layout);
  tvms_indent_level *top = &layout->indents.items[layout->indents.len - 1];
  layout->line = line;
  if (top->moved_from && line.column == top->moved_from) {
    // The line above stood between two levels, and was reported; this one does not.
    *top = (tvms_indent_level){.column = line.column,
                               .narrow = line.narrow,
                               .silent = top->silent,
                               .skipped = top->skipped};
    return false;
  }
  if (line.column == top->column) {
    if (line.narrow != top->narrow) report_here(layout, TVMS_D_mixed_tabs);
    return false;
  }
  if (line.column > top->column) {
    if (line.narrow <= top->narrow) report_here(layout, TVMS_D_mixed_tabs);
    tvms_vec_push(memory_of(layout), &layout->indents, line);
    *token = make(layout, TVMS_TOK_INDENT);
    return true;
  }
  if (is_misled(layout)) {
    report_here(layout, TVMS_D_mixed_tabs);
    return false;
  }
  layout->dedenting = true;
  return dedent(layout, token);
}

void tvms_indentation_silence(tvms_indentation *layout) {
  layout->indents.items[layout->indents.len - 1].silent = true;
}

bool tvms_indentation_is_level(const tvms_indentation *layout, uint32_t column) {
  for (uint32_t i = layout->indents.len; i > 0; i--) {
    if (layout->indents.items[i - 1].column <= column) {
      return layout->indents.items[i - 1].column == column;
    }
  }
  return false;
}

uint32_t tvms_indentation_line(tvms_indentation *layout, uint32_t offset) {
  const char *text = (const char *)layout->lexer.base;
  uint32_t line = offset;
  if (offset >= layout->seen) {
    // Forward from where the last question ended, so that long lines cost no more than
    // their length, however many questions there are.
    line = layout->seen_line;
    for (uint32_t i = layout->seen; i < offset; i++) {
      if (text[i] == '\n' || text[i] == '\r') line = i + 1;
    }
  } else {
    while (line > 0 && text[line - 1] != '\n' && text[line - 1] != '\r') {
      line--;
    }
  }
  layout->seen = offset;
  layout->seen_line = line;
  return line;
}

uint32_t tvms_indentation_column(const tvms_indentation *layout, uint32_t line,
                                 uint32_t *first) {
  const char *text = (const char *)layout->lexer.base;
  const char *at = text + line;
  tvms_indent_level indent = measure(&at);
  *first = (uint32_t)(at - text);
  return indent.column;
}

void tvms_indentation_restart(tvms_indentation *layout, uint32_t line) {
  tvms_surface *surface = layout->lexer.surface;
  layout->lexer.depth = 0;
  layout->brackets.len = 1;
  layout->has_pending = false;
  layout->replay.tokens = NULL;
  layout->at_line_start = true;
  layout->begun = false;
  layout->lexer.cursor = (const char *)layout->lexer.base + line;
  while (surface->comment_count
         && surface->comments[surface->comment_count - 1].begin >= line) {
    surface->comment_count--;
  }
}

/* Brackets */

// True if nothing but white space and joined lines stands between two places.
static bool is_next_to(const tvms_indentation *layout, uint32_t end, uint32_t begin) {
  const char *text = (const char *)layout->lexer.base;
  while (end < begin && strchr(" \t\f\\\r\n", text[end])) {
    end++;
  }
  return end == begin;
}

static void open_bracket(tvms_indentation *layout, tvms_token *token) {
  uint8_t shut = (uint8_t)(token->kind + (TVMS_TOK_SHUT_ROUND - TVMS_TOK_OPEN_ROUND));
  tvms_vec_push(memory_of(layout), &layout->brackets,
                ((tvms_bracket){.begin = token->begin, .shut = shut}));
  layout->lexer.depth++;
  if (layout->first.kind == TVMS_TOK_WITH && token->kind == TVMS_TOK_OPEN_ROUND
      && is_next_to(layout, layout->first.end, token->begin)) {
    token->kind = TVMS_TOK_OPEN_ITEMS;
  }
}

static void pop_bracket(tvms_indentation *layout) {
  layout->brackets.len--;
  layout->lexer.depth--;
}

static bool shut_bracket(tvms_indentation *layout, tvms_token *token) {
  const tvms_bracket *top = &layout->brackets.items[layout->brackets.len - 1];
  if (top->shut == token->kind) {
    pop_bracket(layout);
    return true;
  }
  if (!layout->strict) return tvms_indentation_fit(layout, token);
  token->kind = TVMS_TOK_MISFIT;
  return true;
}

/* Tokens */

static tvms_token lexed(tvms_indentation *layout, tvms_token_kind kind) {
  tvms_span span = tvms_lexer_span(&layout->lexer);
  return tvms_token_make(span.begin, span.end, kind);
}

tvms_token tvms_lexer_scan(tvms_lexer *lexer) {
  tvms_token_kind kind = lex(lexer);
  tvms_span span = tvms_lexer_span(lexer);
  return tvms_token_make(span.begin, span.end, kind);
}

void tvms_indentation_replay(tvms_indentation *layout, uint32_t line,
                             const tvms_replay *replay) {
  tvms_indentation_restart(layout, line);
  layout->dedenting = false;
  layout->replay = *replay;
  layout->has_pending = true;
}

// The name of a WIDE_NAME is the lexer's to say.
static tvms_token replay(tvms_indentation *layout) {
  tvms_replay *replay = &layout->replay;
  tvms_lexer *lexer = &layout->lexer;
  const char *text = (const char *)lexer->base;
  while (replay->next < replay->count
         && replay->tokens[replay->next].kind == TVMS_TOK_NEWLINE && lexer->depth > 0) {
    replay->next++;
  }
  if (replay->next == replay->count) {
    uint32_t end = replay->resume;
    if (replay->whole) return tvms_token_make(end, end, TVMS_TOK_END);
    replay->tokens = NULL;
    layout->has_pending = false;
    lexer->cursor = text + end;
    return tvms_lexer_scan(lexer);
  }
  tvms_token token = replay->tokens[replay->next++];
  lexer->token = text + token.begin;
  lexer->cursor = token.kind == TVMS_TOK_WIDE_NAME ? lexer->token : text + token.end;
  if (token.kind == TVMS_TOK_WIDE_NAME) lex(lexer);
  return token;
}

static tvms_token read(tvms_indentation *layout) {
  if (layout->has_pending) {
    if (layout->replay.tokens) return replay(layout);
    layout->has_pending = false;
    return layout->pending;
  }
  return lexed(layout, lex(&layout->lexer));
}

static void put_back(tvms_indentation *layout, tvms_token token) {
  if (layout->replay.tokens) {
    // What replay gave is still there; at its end nothing is taken.
    layout->replay.next -= layout->replay.next > 0 && token.kind != TVMS_TOK_END;
    return;
  }
  layout->pending = token;
  layout->has_pending = true;
}

// Joins two words to one token if `second` follows.
static void join(tvms_indentation *layout, tvms_token *token, tvms_token_kind second,
                 tvms_token_kind both) {
  tvms_token next = read(layout);
  if (next.kind == second) {
    token->end = next.end;
    token->kind = both;
  } else {
    put_back(layout, next);
  }
}

static tvms_token finish_file(tvms_indentation *layout, tvms_token end) {
  if (layout->lexer.depth > 0 || !layout->begun) return end;
  // The last line has no line end.
  layout->begun = false;
  layout->at_line_start = true;
  end.kind = TVMS_TOK_NEWLINE;
  return end;
}

// Acts on a token that means something to the layout. Returns false if it is dropped.
static bool shape(tvms_indentation *layout, tvms_token *token) {
  tvms_bracket *bracket = &layout->brackets.items[layout->brackets.len - 1];
  switch ((int)token->kind) {
  case TVMS_TOK_END: *token = finish_file(layout, *token); return true;
  case TVMS_TOK_NEWLINE:
    layout->at_line_start = true;
    layout->begun = false;
    return true;
  case TVMS_TOK_OPEN_ROUND:
  case TVMS_TOK_OPEN_SQUARE:
  case TVMS_TOK_OPEN_CURLY: open_bracket(layout, token); return true;
  case TVMS_TOK_SHUT_ROUND:
  case TVMS_TOK_SHUT_SQUARE:
  case TVMS_TOK_SHUT_CURLY: return shut_bracket(layout, token);
  case TVMS_TOK_FOR:
    bracket->wants_in = true;
    bracket->in_comp = layout->lexer.depth > 0;
    return true;
  case TVMS_TOK_IN:
    if (bracket->wants_in) token->kind = TVMS_TOK_FOR_IN;
    bracket->wants_in = false;
    return true;
  case TVMS_TOK_IF:
    if (bracket->in_comp) token->kind = TVMS_TOK_COMP_IF;
    return true;
  case TVMS_TOK_IS: join(layout, token, TVMS_TOK_NOT, TVMS_TOK_IS_NOT); return true;
  case TVMS_TOK_NOT: join(layout, token, TVMS_TOK_IN, TVMS_TOK_NOT_IN); return true;
  default: return true;
  }
}

static bool goes_on(tvms_token_kind kind) {
  return kind == TVMS_TOK_ELSE || kind == TVMS_TOK_ELIF || kind == TVMS_TOK_EXCEPT
         || kind == TVMS_TOK_FINALLY;
}

// Reads the first token of a logical line, or what indentation gives before it.
static bool first_of_line(tvms_indentation *layout, tvms_token *token) {
  do {
    if (layout->at_line_start && begin_line(layout, token)) return true;
    if (layout->dedenting && dedent(layout, token)) return true;
    *token = read(layout);
    // A line of nothing but joined lines is blank.
    layout->at_line_start = token->kind == TVMS_TOK_NEWLINE;
    if (token->kind == TVMS_TOK_END) {
      layout->dedenting = layout->indents.len > 1;
      layout->line = (tvms_indent_level){0};
    }
  } while (layout->at_line_start || layout->dedenting);
  if (token->kind == TVMS_TOK_END) return true;
  // An expression in a string has no statements.
  if (token->kind == TVMS_TOK_NAME && layout->lexer.depth == 0)
    token->kind = tvms_token_misspelt(&layout->lexer, *token);
  layout->begun = true;
  layout->before = layout->first;
  layout->first = *token;
  tvms_indent_level *top = &layout->indents.items[layout->indents.len - 1];
  if (!goes_on(token->kind)) top->skipped = false;
  return false;
}

// The next token that is not plain: the first of a line, one that shapes the layout (given
// in `token`, if `given`), or one that was read ahead.
static __attribute__((noinline)) tvms_token next_slowly(tvms_indentation *layout,
                                                        tvms_token token, bool given) {
  if (!layout->begun) {
    if (first_of_line(layout, &token)) return token;
  } else if (!given) {
    token = read(layout);
  }
  while (token.kind <= TVMS_TOK_WITH && !shape(layout, &token)) {
    token = read(layout);
  }
  return token;
}

// Most tokens take the short way, in registers.
tvms_token tvms_indentation_next(tvms_indentation *layout) {
  if (__builtin_expect(!layout->begun || layout->has_pending, 0)) {
    return next_slowly(layout, (tvms_token){0}, false);
  }
  tvms_token_kind kind = lex(&layout->lexer);
  tvms_token token = lexed(layout, kind);
  if (kind > TVMS_TOK_WITH) return token;
  return next_slowly(layout, token, true);
}
