// Compound statements: headers, clauses and what is wrong with their order.
#include "grammar/syntax_compound.h"

#include "grammar/refused.h"
#include "grammar/syntax_block.h"
#include "grammar/syntax_expr.h"
#include "grammar/syntax_fault.h"
#include "grammar/syntax_operand.h"
#include "grammar/syntax_params.h"
#include "grammar/syntax_pattern.h"
#include "grammar/syntax_stmt.h"
#include "support/diag_ids.h"

#include <string.h>

// What makes `match` a keyword in front of it: a name has no operand behind it.
static bool begins_subject(tvms_token_kind next) {
  return tvms_syntax_begins(next) && !tvms_syntax_is_round(next)
         && next != TVMS_TOK_OPEN_SQUARE && next != TVMS_TOK_PLUS
         && next != TVMS_TOK_MINUS && next != TVMS_TOK_STAR;
}

bool tvms_syntax_is_compound(const tvms_syntax *s) {
  switch ((int)s->token.kind) {
  case TVMS_TOK_IF:
  case TVMS_TOK_WHILE:
  case TVMS_TOK_FOR:
  case TVMS_TOK_TRY:
  case TVMS_TOK_WITH:
  case TVMS_TOK_DEF:
  case TVMS_TOK_CLASS:
  case TVMS_TOK_AT:
  case TVMS_TOK_ASYNC: return true;
  default: return false;
  }
}

static void else_clause(tvms_syntax *s) {
  if (s->token.kind != TVMS_TOK_ELSE || s->failed) return;
  tvms_syntax_begin_line(s);
  tvms_syntax_advance(s);
  tvms_syntax_block(s);
}

static void conditional(tvms_syntax *s) {
  do {
    tvms_syntax_begin_line(s);
    tvms_syntax_advance(s);
    (void)tvms_syntax_named(s);
    tvms_syntax_block(s);
  } while (s->token.kind == TVMS_TOK_ELIF && !s->failed);
  else_clause(s);
}

static void loop_block(tvms_syntax *s) {
  bool in_loop = s->in_loop;
  s->in_loop = true;
  tvms_syntax_block(s);
  s->in_loop = in_loop;
  else_clause(s);
}

static void for_loop(tvms_syntax *s) {
  tvms_syntax_advance(s);
  (void)tvms_syntax_loop_targets(s);
  if (!tvms_syntax_take(s, TVMS_TOK_IN)
      && !tvms_syntax_expect(s, TVMS_TOK_FOR_IN, "; expected 'in'"))
    return;
  (void)tvms_syntax_list(s);
  if (!s->failed) loop_block(s);
}

// ---- with -----------------------------------------------------------------------------------

static void with_target(tvms_syntax *s) {
  if (!tvms_syntax_take(s, TVMS_TOK_AS)) return;
  tvms_syntax_expr target = tvms_syntax_operand(s, SYNTAX_SIGN);
  tvms_syntax_check_target(s, &target, SYNTAX_ASSIGNS);
}

static void with(tvms_syntax *s) {
  tvms_syntax_advance(s);
  if (tvms_syntax_is_round(s->token.kind)) {
    // The items themselves, or an expression that begins with a bracket.
    uint32_t targets = 0;
    tvms_syntax_expr group = tvms_syntax_group(s, &targets);
    if (s->failed) return;
    if (targets || s->token.kind == TVMS_TOK_COLON) {
      tvms_syntax_block(s);
      return;
    }
    s->given = group;
    s->has_given = true;
  }
  do {
    (void)tvms_syntax_expression(s);
    with_target(s);
  } while (tvms_syntax_take(s, TVMS_TOK_COMMA));
  tvms_syntax_block(s);
}

// ---- try ------------------------------------------------------------------------------------

// The header of an `except`; true if it says what it is for.
static bool except(tvms_syntax *s) {
  tvms_syntax_advance(s);
  bool group = tvms_syntax_take(s, TVMS_TOK_STAR);
  if (s->token.kind == TVMS_TOK_COLON && !group) return false;
  (void)tvms_syntax_expression(s);
  if (tvms_syntax_take(s, TVMS_TOK_AS) && !tvms_syntax_take(s, TVMS_TOK_WIDE_NAME))
    (void)tvms_syntax_expect(s, TVMS_TOK_NAME, "; expected a name");
  return true;
}

static void handlers(tvms_syntax *s) {
  bool bare = false;
  while (s->token.kind == TVMS_TOK_EXCEPT && !s->failed) {
    tvms_syntax_begin_line(s);
    if (bare)
      tvms_syntax_fault_at(s, TVMS_D_syntax, (tvms_span){s->token.begin, s->token.end},
                           "'except'", "; one without an exception is the last");
    bare = !except(s);
    tvms_syntax_block(s);
  }
}

// What stands where `except` should.
static void alone(tvms_syntax *s, tvms_token first) {
  char what[64];
  tvms_token_say(s->text, s->token, false, what, sizeof what);
  tvms_diag *diag =
      tvms_syntax_fault_at(s, TVMS_D_syntax, (tvms_span){s->token.begin, s->token.end},
                           what, "; expected 'except' or 'finally'");
  tvms_diag_note(&s->context->diags, diag, (tvms_span){first.begin, first.end},
                 "'try' begins here");
}

static void try(tvms_syntax *s) {
  tvms_token first = s->token;
  tvms_syntax_advance(s);
  tvms_syntax_block(s);
  if (s->failed) return;
  bool handled = s->token.kind == TVMS_TOK_EXCEPT;
  handlers(s);
  if (handled) else_clause(s);
  if (s->failed) return;
  if (s->token.kind == TVMS_TOK_FINALLY) {
    tvms_syntax_begin_line(s);
    tvms_syntax_advance(s);
    tvms_syntax_block(s);
  } else if (!handled) {
    alone(s, first);
  }
}

// ---- Definitions ----------------------------------------------------------------------------

static void body(tvms_syntax *s, bool in_function) {
  bool around = s->in_function, in_loop = s->in_loop;
  s->in_function = in_function;
  s->in_loop = false;
  s->functions += in_function;
  tvms_syntax_block(s);
  s->functions -= in_function;
  s->in_function = around;
  s->in_loop = in_loop;
}

static bool name(tvms_syntax *s) {
  return tvms_syntax_take(s, TVMS_TOK_WIDE_NAME)
         || tvms_syntax_expect(s, TVMS_TOK_NAME, "; expected a name");
}

static void function(tvms_syntax *s) {
  tvms_syntax_advance(s);
  if (!name(s)) return;
  tvms_syntax_type_params(s);
  if (!tvms_syntax_expect(s, TVMS_TOK_OPEN_ROUND, "; expected '('")) return;
  tvms_syntax_params(s, TVMS_TOK_SHUT_ROUND);
  if (!tvms_syntax_expect(s, TVMS_TOK_SHUT_ROUND, "; expected ')' or ','")) return;
  if (tvms_syntax_take(s, TVMS_TOK_ARROW)) (void)tvms_syntax_expression(s);
  if (!s->failed) body(s, true);
}

static void class(tvms_syntax *s) {
  tvms_syntax_advance(s);
  if (!name(s)) return;
  tvms_syntax_type_params(s);
  if (tvms_syntax_take(s, TVMS_TOK_OPEN_ROUND)) {
    tvms_syntax_arguments(s);
    (void)tvms_syntax_expect(s, TVMS_TOK_SHUT_ROUND, "; expected ')' or ','");
  }
  if (!s->failed) body(s, false);
}

static void decorated(tvms_syntax *s) {
  while (tvms_syntax_take(s, TVMS_TOK_AT)) {
    (void)tvms_syntax_named(s);
    if (!tvms_syntax_expect(s, TVMS_TOK_NEWLINE, "")) return;
  }
  if (s->failed) return;
  if (s->token.kind == TVMS_TOK_DEF || s->token.kind == TVMS_TOK_CLASS
      || s->token.kind == TVMS_TOK_ASYNC)
    s->first = s->token;
  else
    tvms_syntax_refuse(s, "; expected 'def' or 'class' below a decorator");
}

void tvms_syntax_compound(tvms_syntax *s) {
  if (s->token.kind == TVMS_TOK_AT) decorated(s);
  if (s->token.kind == TVMS_TOK_ASYNC && !s->failed) {
    tvms_syntax_advance(s);
    if (s->token.kind != TVMS_TOK_DEF && s->token.kind != TVMS_TOK_FOR
        && s->token.kind != TVMS_TOK_WITH)
      tvms_syntax_refuse(s, "; expected 'def', 'for' or 'with'");
  }
  if (s->failed) return;
  switch ((int)s->token.kind) {
  case TVMS_TOK_IF: conditional(s); return;
  case TVMS_TOK_WHILE:
    tvms_syntax_advance(s);
    (void)tvms_syntax_named(s);
    loop_block(s);
    return;
  case TVMS_TOK_FOR: for_loop(s); return;
  case TVMS_TOK_TRY: try(s); return;
  case TVMS_TOK_WITH: with(s); return;
  case TVMS_TOK_DEF: function(s); return;
  default: class(s); return;
  }
}

void tvms_syntax_clause(tvms_syntax *s) {
  tvms_token_kind kind = s->token.kind;
  if (kind == TVMS_TOK_EXCEPT) {
    (void)except(s);
  } else {
    tvms_syntax_advance(s);
    if (kind == TVMS_TOK_ELIF) (void)tvms_syntax_named(s);
    if (kind == TVMS_TOK_NAME) tvms_syntax_case_head(s);
  }
  tvms_syntax_block(s);
}

// ---- match ----------------------------------------------------------------------------------

bool tvms_syntax_match(tvms_syntax *s) {
  if (!tvms_syntax_is_word(s, "match")) return false;
  if (begins_subject(tvms_syntax_peek(s).kind)) {
    tvms_syntax_advance(s);
    do {
      (void)tvms_syntax_item(s);
    } while (tvms_syntax_take(s, TVMS_TOK_COMMA) && tvms_syntax_begins(s->token.kind));
    tvms_syntax_cases(s);
    return true;
  }
  // `match(x):` is read as a call first, `match[x]:` and `match -x:` likewise.
  tvms_syntax_expr value = tvms_syntax_value(s);
  bool matches = s->token.kind == TVMS_TOK_COLON && !s->failed
                 && tvms_syntax_peek(s).kind == TVMS_TOK_NEWLINE;
  if (matches)
    tvms_syntax_cases(s);
  else
    tvms_syntax_after_value(s, value);
  return true;
}
