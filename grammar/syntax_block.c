// Lines and blocks in the syntax check, and going on behind a mistake.
//
// What was refused is passed over up to the end of its line or, inside of brackets, up to a line that begins
// a statement. A block below it is read as any other, and so are clauses behind it, which lost their statement.
#include "grammar/syntax_block.h"

#include "grammar/refused.h"
#include "grammar/syntax_compound.h"
#include "grammar/syntax_fault.h"
#include "grammar/syntax_stmt.h"
#include "support/diag_ids.h"

#include <ctype.h>
#include <string.h>

void tvms_syntax_begin_line(tvms_syntax *s) {
  s->first = s->token;
  // What the lexer says of the first token is found when the line before ends.
  bool own = s->open_fault && s->adopted && s->adopted_at >= s->token.begin;
  if (own) {
    s->faults->items[s->faults->len - 1].statement.begin = s->token.begin;
    return;
  }
  tvms_syntax_end_fault(s, s->token.begin);
  s->faulty = false;
}

// ---- Blocks -------------------------------------------------------------------------------

bool tvms_syntax_colon(tvms_syntax *s) {
  if (tvms_syntax_take(s, TVMS_TOK_COLON)) return true;
  if (s->token.kind != TVMS_TOK_NEWLINE || s->failed || s->layout.lexer.unfinished) {
    tvms_syntax_refuse(s, "; expected ':'");
    return false;
  }
  tvms_diag *diag = tvms_syntax_fault_at(s, TVMS_D_missing_colon,
                                         (tvms_span){s->token.begin, s->token.end});
  if (!s->stopped)
    tvms_diag_fix(&s->context->diags, diag, (tvms_span){s->end, s->end}, true, ":");
  return true;
}

bool tvms_syntax_open_block(tvms_syntax *s) {
  tvms_syntax_advance(s);
  if (tvms_syntax_take(s, TVMS_TOK_INDENT)) return true;
  tvms_token header = s->first;
  tvms_diag *diag = tvms_syntax_fault_at(
      s, TVMS_D_missing_block, (tvms_span){s->token.begin, s->token.end},
      (int)(header.end - header.begin), s->text + header.begin);
  tvms_diag_note(&s->context->diags, diag, (tvms_span){header.begin, header.end},
                 "the statement that needs a body");
  return false;
}

void tvms_syntax_shut_block(tvms_syntax *s) {
  if (s->token.kind == TVMS_TOK_DEDENT) tvms_syntax_advance(s);
}

void tvms_syntax_block(tvms_syntax *s) {
  if (s->failed || !tvms_syntax_colon(s)) return;
  if (s->token.kind != TVMS_TOK_NEWLINE) {
    tvms_syntax_simples(s);
    return;
  }
  if (!tvms_syntax_open_block(s)) return;
  tvms_syntax_statements(s, false);
  tvms_syntax_shut_block(s);
}

// ---- Behind a mistake ---------------------------------------------------------------------

// Whether the token is the first of a line that looks like a new statement, so that a bracket was not
// closed before it.
static bool begins_anew(tvms_syntax *s, uint32_t *line) {
  if (s->depth == 0 || s->token.kind == TVMS_TOK_END) return false;
  uint32_t first;
  *line = tvms_indentation_line(&s->layout, s->token.begin);
  if (*line <= s->first.begin) return false;
  uint32_t column = tvms_indentation_column(&s->layout, *line, &first);
  if (s->token.begin != first) return false;
  if (tvms_token_only_begins_statement(s->token.kind)) return true;
  unsigned char c = (unsigned char)s->text[first];
  return (isalpha(c) || c == '_' || c == '@' || c >= 0x80)
         && tvms_indentation_is_level(&s->layout, column);
}

static void restart(tvms_syntax *s, uint32_t line) {
  tvms_indentation_restart(&s->layout, line);
  s->has_ahead = false;
  s->token.kind = TVMS_TOK_NEWLINE;
  s->depth = 0;
  tvms_syntax_advance(s);
  s->depth = 0;
}

// The block of a statement that was given up: it may have been a function, or a loop.
static void lost_block(tvms_syntax *s) {
  bool in_function = s->in_function, in_loop = s->in_loop;
  s->in_function = s->in_loop = true;
  s->functions++;
  tvms_syntax_statements(s, true);
  s->functions--;
  s->in_function = in_function;
  s->in_loop = in_loop;
  tvms_syntax_shut_block(s);
}

// `def f(x) {`: the line behind a brace of C.
static bool ends_in_brace(const tvms_syntax *s, uint32_t *line) {
  if (s->token.kind != TVMS_TOK_OPEN_CURLY || s->depth > 0) return false;
  uint32_t end = s->token.end + (uint32_t)strspn(s->text + s->token.end, " \t");
  const char *next = strchr(s->text + end, '\n');
  if (!next || !strchr("#\r\n", s->text[end])) return false;
  *line = (uint32_t)(next + 1 - s->text);
  return true;
}

void tvms_syntax_recover(tvms_syntax *s) {
  uint32_t line;
  while (s->token.kind != TVMS_TOK_END && s->token.kind != TVMS_TOK_NEWLINE) {
    if (begins_anew(s, &line) || ends_in_brace(s, &line)) {
      restart(s, line);
      break;
    }
    tvms_syntax_advance(s);
  }
  s->failed = s->has_given = false;
  (void)tvms_syntax_take(s, TVMS_TOK_NEWLINE);
  tvms_syntax_end_fault(s, s->token.begin);
  if (tvms_syntax_take(s, TVMS_TOK_INDENT)) lost_block(s);
}

// ---- Statements ---------------------------------------------------------------------------

// Passes over a statement that is known to be sound, if one begins here.
static bool skip(tvms_syntax *s) {
  while (s->next_skipped < s->skipped_count
         && s->skipped[s->next_skipped].begin < s->token.begin) {
    s->next_skipped++;
  }
  if (s->next_skipped == s->skipped_count) return false;
  tvms_span span = s->skipped[s->next_skipped];
  if (span.begin != s->token.begin) return false;
  s->next_skipped++;
  const char *end = memchr(s->text + span.end, '\n', s->source->size - span.end);
  restart(s, end ? (uint32_t)(end + 1 - s->text) : s->source->size);
  return true;
}

static void unexpected_indent(tvms_syntax *s) {
  tvms_syntax_fault_at(s, TVMS_D_unexpected_indent,
                       (tvms_span){s->token.begin, s->token.begin + 1});
  tvms_syntax_advance(s);
  lost_block(s);
}

static bool is_clause(const tvms_syntax *s) {
  tvms_token_kind kind = s->token.kind;
  return kind == TVMS_TOK_ELSE || kind == TVMS_TOK_ELIF || kind == TVMS_TOK_EXCEPT
         || kind == TVMS_TOK_FINALLY;
}

// Returns whether clauses behind it may have lost their statement.
static bool statement(tvms_syntax *s, bool lost) {
  if (s->token.kind == TVMS_TOK_INDENT) {
    unexpected_indent(s);
    return true;
  }
  bool clause = is_clause(s);
  if (lost && !clause && tvms_syntax_is_word(s, "case"))
    clause = tvms_syntax_begins(tvms_syntax_peek(s).kind);
  if (lost && clause) {
    tvms_syntax_clause(s);
  } else if (tvms_syntax_is_compound(s)) {
    tvms_syntax_compound(s);
  } else if (!tvms_syntax_match(s)) {
    tvms_syntax_simples(s);
  }
  if (!s->failed) return lost && clause;
  tvms_syntax_recover(s);
  return true;
}

void tvms_syntax_statements(tvms_syntax *s, bool lost) {
  tvms_memory *memory = &s->context->memory;
  if (tvms_memory_enter(memory)) {
    while (s->token.kind != TVMS_TOK_DEDENT && s->token.kind != TVMS_TOK_END
           && !s->stopped) {
      tvms_syntax_begin_line(s);
      if (!skip(s)) lost = statement(s, lost);
    }
  } else {
    s->stopped = s->failed = true;
  }
  tvms_memory_leave(memory);
}
