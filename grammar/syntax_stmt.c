// Simple statements, and lines of them.
#include "grammar/syntax_stmt.h"

#include "grammar/syntax_expr.h"
#include "grammar/syntax_fault.h"
#include "grammar/syntax_params.h"
#include "support/diag_ids.h"

#include <string.h>

static void outside(tvms_syntax *s, tvms_token word, const char *what) {
  char text[16] = "'";
  strncat(text, tvms_token_text(word.kind), sizeof text - 3);
  strcat(text, "'");
  if (!s->failed)
    tvms_syntax_fault_at(s, TVMS_D_syntax, (tvms_span){word.begin, word.end}, text,
                         what);
}

// ---- Expressions and assignments ----------------------------------------------------------

// `*a` stands alone nowhere.
static void refuse_star(tvms_syntax *s, const tvms_syntax_expr *value) {
  if (value->kind != SYNTAX_STAR || s->failed) return;
  tvms_span span = {value->span.begin, value->span.begin + 1};
  tvms_syntax_fault_at(s, TVMS_D_syntax, span, "'*'", "");
}

static tvms_syntax_expr right_side(tvms_syntax *s) {
  tvms_syntax_advance(s);
  return tvms_syntax_value(s);
}

static bool is_augment(tvms_token_kind kind) {
  return kind >= TVMS_TOK_IS_OR && kind <= TVMS_TOK_IS_POWER;
}

static void assignment(tvms_syntax *s, tvms_syntax_expr value) {
  if (s->failed) return;
  if (s->token.kind == TVMS_TOK_COLON) {
    tvms_syntax_check_target(s, &value, SYNTAX_SINGLE);
    tvms_syntax_advance(s);
    (void)tvms_syntax_expression(s);
    if (s->token.kind == TVMS_TOK_ASSIGN && !s->failed) {
      value = right_side(s);
      refuse_star(s, &value);
    }
    return;
  }
  if (is_augment(s->token.kind)) {
    tvms_syntax_check_target(s, &value, SYNTAX_SINGLE);
    value = right_side(s);
    refuse_star(s, &value);
    return;
  }
  while (s->token.kind == TVMS_TOK_ASSIGN && !s->failed) {
    tvms_syntax_check_target(s, &value, SYNTAX_ASSIGNS);
    value = right_side(s);
  }
  refuse_star(s, &value);
}

// ---- Words ----------------------------------------------------------------------------------

static bool take_name(tvms_syntax *s) {
  return tvms_syntax_take(s, TVMS_TOK_WIDE_NAME)
         || tvms_syntax_expect(s, TVMS_TOK_NAME, "; expected a name");
}

static void dotted(tvms_syntax *s) {
  do {
    if (!take_name(s)) return;
  } while (tvms_syntax_take(s, TVMS_TOK_DOT));
}

static void import(tvms_syntax *s) {
  do {
    dotted(s);
    if (tvms_syntax_take(s, TVMS_TOK_AS)) (void)take_name(s);
  } while (tvms_syntax_take(s, TVMS_TOK_COMMA));
}

static void imported_names(tvms_syntax *s, bool bracket) {
  do {
    if (bracket && s->token.kind == TVMS_TOK_SHUT_ROUND) break;
    if (!take_name(s)) return;
    if (tvms_syntax_take(s, TVMS_TOK_AS)) (void)take_name(s);
  } while (tvms_syntax_take(s, TVMS_TOK_COMMA));
}

static void import_from(tvms_syntax *s) {
  bool dots = false;
  while (tvms_syntax_take(s, TVMS_TOK_DOT) || tvms_syntax_take(s, TVMS_TOK_ELLIPSIS)) {
    dots = true;
  }
  if (!dots || s->token.kind != TVMS_TOK_IMPORT) dotted(s);
  if (!tvms_syntax_expect(s, TVMS_TOK_IMPORT, "; expected 'import'")) return;
  tvms_token token = s->token;
  if (tvms_syntax_take(s, TVMS_TOK_STAR)) {
    if (s->in_function) outside(s, token, " in a function");
    return;
  }
  if (!tvms_syntax_is_round(token.kind)) {
    imported_names(s, false);
    return;
  }
  tvms_syntax_advance(s);
  if (s->token.kind == TVMS_TOK_SHUT_ROUND) tvms_syntax_refuse(s, "; expected a name");
  imported_names(s, true);
  (void)tvms_syntax_expect(s, TVMS_TOK_SHUT_ROUND, "; expected ')' or ','");
}

static void names(tvms_syntax *s) {
  do {
    (void)take_name(s);
  } while (tvms_syntax_take(s, TVMS_TOK_COMMA));
}

static void raise(tvms_syntax *s) {
  if (!tvms_syntax_begins(s->token.kind)) return;
  (void)tvms_syntax_expression(s);
  if (tvms_syntax_take(s, TVMS_TOK_FROM)) (void)tvms_syntax_expression(s);
}

static void delete (tvms_syntax *s) {
  tvms_syntax_expr targets = tvms_syntax_list(s);
  tvms_syntax_check_target(s, &targets, SYNTAX_DELETES);
}

static void assertion(tvms_syntax *s) {
  (void)tvms_syntax_expression(s);
  if (tvms_syntax_take(s, TVMS_TOK_COMMA)) (void)tvms_syntax_expression(s);
}

static void result(tvms_syntax *s) {
  if (!tvms_syntax_begins(s->token.kind)) return;
  tvms_syntax_expr value = tvms_syntax_list(s);
  refuse_star(s, &value);
}

// `type Pair[T] = tuple[T, T]`.
static void type_alias(tvms_syntax *s) {
  tvms_syntax_advance(s);
  (void)take_name(s);
  tvms_syntax_type_params(s);
  if (tvms_syntax_expect(s, TVMS_TOK_ASSIGN, "; expected '='"))
    (void)tvms_syntax_expression(s);
}

static bool is_type_alias(tvms_syntax *s) {
  if (!tvms_syntax_is_word(s, "type")) return false;
  tvms_token_kind next = tvms_syntax_peek(s).kind;
  return next == TVMS_TOK_NAME || next == TVMS_TOK_WIDE_NAME;
}

// The statement of the keyword that was passed; false if it is none of a simple statement.
static bool is_word(tvms_token_kind kind) {
  switch ((int)kind) {
  case TVMS_TOK_PASS:
  case TVMS_TOK_BREAK:
  case TVMS_TOK_CONTINUE:
  case TVMS_TOK_RETURN:
  case TVMS_TOK_RAISE:
  case TVMS_TOK_GLOBAL:
  case TVMS_TOK_NONLOCAL:
  case TVMS_TOK_IMPORT:
  case TVMS_TOK_FROM:
  case TVMS_TOK_DEL:
  case TVMS_TOK_ASSERT: return true;
  default: return false;
  }
}

static void word(tvms_syntax *s) {
  tvms_token token = s->token;
  tvms_syntax_advance(s);
  switch ((int)token.kind) {
  case TVMS_TOK_PASS: return;
  case TVMS_TOK_BREAK:
  case TVMS_TOK_CONTINUE:
    if (!s->in_loop) outside(s, token, " outside of a loop");
    return;
  case TVMS_TOK_RETURN:
    result(s);
    if (!s->in_function) outside(s, token, " outside of a function");
    return;
  case TVMS_TOK_RAISE: raise(s); return;
  case TVMS_TOK_NONLOCAL:
    if (!s->functions) outside(s, token, " outside of a function");
    names(s);
    return;
  case TVMS_TOK_GLOBAL: names(s); return;
  case TVMS_TOK_IMPORT: import(s); return;
  case TVMS_TOK_FROM: import_from(s); return;
  case TVMS_TOK_DEL: delete (s); return;
  default: assertion(s); return;
  }
}

static void simple(tvms_syntax *s) {
  if (is_word(s->token.kind)) {
    word(s);
  } else if (is_type_alias(s)) {
    type_alias(s);
  } else if (s->token.kind == TVMS_TOK_YIELD || tvms_syntax_begins(s->token.kind)) {
    assignment(s, tvms_syntax_value(s));
  } else {
    tvms_syntax_refuse(s, "");
  }
}

// Behind a statement: more of them, and the end of the line.
static void rest_of_line(tvms_syntax *s) {
  while (tvms_syntax_take(s, TVMS_TOK_SEMICOLON) && s->token.kind != TVMS_TOK_NEWLINE) {
    simple(s);
  }
  (void)tvms_syntax_expect(s, TVMS_TOK_NEWLINE, "");
}

void tvms_syntax_simples(tvms_syntax *s) {
  simple(s);
  rest_of_line(s);
}

void tvms_syntax_after_value(tvms_syntax *s, tvms_syntax_expr value) {
  assignment(s, value);
  rest_of_line(s);
}
