// `match`: its cases and their patterns (PEP 634).
#include "grammar/syntax_pattern.h"

#include "grammar/syntax_block.h"
#include "grammar/syntax_compound.h"
#include "grammar/syntax_expr.h"
#include "grammar/syntax_fault.h"
#include "support/diag_ids.h"

static void as_pattern(tvms_syntax *s);

static bool is_name(const tvms_syntax *s) {
  return s->token.kind == TVMS_TOK_NAME || s->token.kind == TVMS_TOK_WIDE_NAME;
}

static bool begins_pattern(const tvms_syntax *s) {
  tvms_token_kind kind = s->token.kind;
  return kind == TVMS_TOK_STAR
         || (tvms_syntax_begins(kind) && kind != TVMS_TOK_NOT && kind != TVMS_TOK_LAMBDA
             && kind != TVMS_TOK_AWAIT);
}

// `*rest`, or a pattern.
static void item(tvms_syntax *s) {
  if (!tvms_syntax_take(s, TVMS_TOK_STAR)) {
    as_pattern(s);
  } else if (!tvms_syntax_take(s, TVMS_TOK_WIDE_NAME)) {
    (void)tvms_syntax_expect(s, TVMS_TOK_NAME, "; expected a name");
  }
}

static void items(tvms_syntax *s, tvms_token_kind shut, const char *expected) {
  tvms_syntax_advance(s);
  while (s->token.kind != shut && !s->failed) {
    item(s);
    if (!tvms_syntax_take(s, TVMS_TOK_COMMA)) break;
  }
  (void)tvms_syntax_expect(s, shut, expected);
}

static void number(tvms_syntax *s) {
  if (s->token.kind != TVMS_TOK_INT && s->token.kind != TVMS_TOK_FLOAT
      && s->token.kind != TVMS_TOK_IMAGINARY)
    tvms_syntax_refuse(s, "; expected a number");
  else
    tvms_syntax_advance(s);
}

// `-1`, `1 + 2j`.
static void signed_number(tvms_syntax *s) {
  (void)tvms_syntax_take(s, TVMS_TOK_MINUS);
  number(s);
  if (tvms_syntax_take(s, TVMS_TOK_PLUS) || tvms_syntax_take(s, TVMS_TOK_MINUS))
    number(s);
}

static void mapping(tvms_syntax *s) {
  tvms_syntax_advance(s);
  while (s->token.kind != TVMS_TOK_SHUT_CURLY && !s->failed) {
    if (tvms_syntax_take(s, TVMS_TOK_POWER)) {
      if (!tvms_syntax_take(s, TVMS_TOK_WIDE_NAME))
        (void)tvms_syntax_expect(s, TVMS_TOK_NAME, "; expected a name");
    } else {
      // A literal or a dotted name; which, the compiler does not have to know here.
      (void)tvms_syntax_operation(s, SYNTAX_SUM);
      if (tvms_syntax_expect(s, TVMS_TOK_COLON, "; expected ':'")) as_pattern(s);
    }
    if (!tvms_syntax_take(s, TVMS_TOK_COMMA)) break;
  }
  (void)tvms_syntax_expect(s, TVMS_TOK_SHUT_CURLY, "; expected '}' or ','");
}

// `Point(0, y=1)`.
static void class_arguments(tvms_syntax *s) {
  tvms_syntax_advance(s);
  bool named = false;
  while (s->token.kind != TVMS_TOK_SHUT_ROUND && !s->failed) {
    tvms_token first = s->token;
    bool name = is_name(s);
    as_pattern(s);
    bool alone = name && s->end == first.end;
    if (alone && tvms_syntax_take(s, TVMS_TOK_ASSIGN)) {
      named = true;
      as_pattern(s);
    } else if (named && !s->failed) {
      tvms_syntax_fault_at(s, TVMS_D_late_argument, (tvms_span){first.begin, s->end});
    }
    if (!tvms_syntax_take(s, TVMS_TOK_COMMA)) break;
  }
  (void)tvms_syntax_expect(s, TVMS_TOK_SHUT_ROUND, "; expected ')' or ','");
}

static void name_or_class(tvms_syntax *s) {
  tvms_syntax_advance(s);
  while (tvms_syntax_take(s, TVMS_TOK_DOT)) {
    if (!tvms_syntax_take(s, TVMS_TOK_WIDE_NAME)
        && !tvms_syntax_expect(s, TVMS_TOK_NAME, "; expected a name"))
      return;
  }
  if (tvms_syntax_is_round(s->token.kind)) class_arguments(s);
}

static void closed_pattern(tvms_syntax *s) {
  switch ((int)s->token.kind) {
  case TVMS_TOK_NAME:
  case TVMS_TOK_WIDE_NAME: name_or_class(s); return;
  case TVMS_TOK_OPEN_ITEMS:
  case TVMS_TOK_OPEN_ROUND:
    items(s, TVMS_TOK_SHUT_ROUND, "; expected ')' or ','");
    return;
  case TVMS_TOK_OPEN_SQUARE:
    items(s, TVMS_TOK_SHUT_SQUARE, "; expected ']' or ','");
    return;
  case TVMS_TOK_OPEN_CURLY: mapping(s); return;
  case TVMS_TOK_STRING:
    while (tvms_syntax_take(s, TVMS_TOK_STRING)) {
    }
    return;
  case TVMS_TOK_BROKEN:
  case TVMS_TOK_TRUE:
  case TVMS_TOK_FALSE:
  case TVMS_TOK_NONE: tvms_syntax_advance(s); return;
  case TVMS_TOK_MINUS:
  case TVMS_TOK_INT:
  case TVMS_TOK_FLOAT:
  case TVMS_TOK_IMAGINARY: signed_number(s); return;
  default: tvms_syntax_refuse(s, "; expected a pattern"); return;
  }
}

static void as_pattern(tvms_syntax *s) {
  tvms_memory *memory = &s->context->memory;
  if (tvms_memory_enter(memory)) {
    do {
      closed_pattern(s);
    } while (tvms_syntax_take(s, TVMS_TOK_BIT_OR));
    if (tvms_syntax_take(s, TVMS_TOK_AS) && !tvms_syntax_take(s, TVMS_TOK_WIDE_NAME))
      (void)tvms_syntax_expect(s, TVMS_TOK_NAME, "; expected a name");
  } else {
    s->stopped = s->failed = true;
  }
  tvms_memory_leave(memory);
}

void tvms_syntax_case_head(tvms_syntax *s) {
  item(s);
  while (tvms_syntax_take(s, TVMS_TOK_COMMA) && begins_pattern(s)) {
    item(s);
  }
  if (tvms_syntax_take(s, TVMS_TOK_IF)) (void)tvms_syntax_named(s);
}

static void one_case(tvms_syntax *s) {
  tvms_syntax_begin_line(s);
  if (tvms_syntax_is_word(s, "case"))
    tvms_syntax_clause(s);
  else
    tvms_syntax_refuse(s, "; expected 'case'");
  if (s->failed) tvms_syntax_recover(s);
}

static void cases_of_block(tvms_syntax *s) {
  while (s->token.kind != TVMS_TOK_DEDENT && s->token.kind != TVMS_TOK_END
         && !s->stopped) {
    one_case(s);
  }
}

void tvms_syntax_cases(tvms_syntax *s) {
  if (s->failed || !tvms_syntax_colon(s)) return;
  if (s->token.kind != TVMS_TOK_NEWLINE) {
    tvms_syntax_refuse(s, "; expected the end of the line");
    return;
  }
  if (!tvms_syntax_open_block(s)) {
    // Cases that are not indented follow from that.
    while (tvms_syntax_is_word(s, "case")
           && tvms_syntax_begins(tvms_syntax_peek(s).kind) && !s->stopped) {
      one_case(s);
    }
    return;
  }
  cases_of_block(s);
  tvms_syntax_shut_block(s);
}
