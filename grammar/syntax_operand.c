// Operands: names, literals and brackets, with what is called, indexed and taken of them.
#include "grammar/syntax_operand.h"

#include "grammar/string_form.h"
#include "grammar/syntax_expr.h"
#include "grammar/syntax_fault.h"
#include "grammar/syntax_fstring.h"
#include "grammar/syntax_params.h"
#include "support/diag_ids.h"

#include <string.h>

static bool begins_comprehension(const tvms_syntax *s) {
  return s->token.kind == TVMS_TOK_FOR || s->token.kind == TVMS_TOK_ASYNC;
}

void tvms_syntax_comprehension(tvms_syntax *s) {
  while (begins_comprehension(s) && !s->failed) {
    (void)tvms_syntax_take(s, TVMS_TOK_ASYNC);
    if (!tvms_syntax_expect(s, TVMS_TOK_FOR, "; expected 'for'")) return;
    (void)tvms_syntax_loop_targets(s);
    if (!tvms_syntax_take(s, TVMS_TOK_IN)
        && !tvms_syntax_expect(s, TVMS_TOK_FOR_IN, "; expected 'in'"))
      return;
    (void)tvms_syntax_operation(s, SYNTAX_OR);
    while (tvms_syntax_take(s, TVMS_TOK_COMP_IF) || tvms_syntax_take(s, TVMS_TOK_IF)) {
      // 3.8 takes a lambda here.
      if (s->token.kind == TVMS_TOK_LAMBDA)
        (void)tvms_syntax_expression(s);
      else
        (void)tvms_syntax_operation(s, SYNTAX_OR);
    }
  }
}

// ---- Brackets -----------------------------------------------------------------------------

static const char in_round[] = "; expected ')' or ','";
static const char in_square[] = "; expected ']' or ','";
static const char in_curly[] = "; expected '}' or ','";

// The items of a tuple, a list or a set behind the first one. True if there was a comma.
static bool more_items(tvms_syntax *s, tvms_syntax_expr *list, tvms_token_kind shut) {
  bool comma = false;
  while (tvms_syntax_take(s, TVMS_TOK_COMMA)) {
    comma = true;
    if (s->token.kind == shut) break;
    tvms_syntax_expr item = tvms_syntax_item(s);
    tvms_syntax_note_item(list, &item);
  }
  return comma;
}

static void refuse_star(tvms_syntax *s, const tvms_syntax_expr *item) {
  if (item->kind != SYNTAX_STAR || s->failed) return;
  tvms_span span = {item->span.begin, item->span.begin + 1};
  tvms_syntax_fault_at(s, TVMS_D_syntax, span, "'*'", "");
}

static void with_target(tvms_syntax *s, uint32_t *items) {
  if (!items || !tvms_syntax_take(s, TVMS_TOK_AS)) return;
  ++*items;
  tvms_syntax_expr target = tvms_syntax_operand(s, SYNTAX_SIGN);
  tvms_syntax_check_target(s, &target, SYNTAX_ASSIGNS);
}

static tvms_syntax_expr group_items(tvms_syntax *s, uint32_t begin, uint32_t *items) {
  tvms_syntax_expr first = tvms_syntax_item(s), list = {.kind = SYNTAX_TUPLE};
  if (begins_comprehension(s)) {
    refuse_star(s, &first);
    tvms_syntax_comprehension(s);
    (void)tvms_syntax_expect(s, TVMS_TOK_SHUT_ROUND, "; expected ')'");
    return tvms_syntax_made(s, begin, SYNTAX_COMPREHENSION);
  }
  with_target(s, items);
  tvms_syntax_note_item(&list, &first);
  bool comma = false;
  while (tvms_syntax_take(s, TVMS_TOK_COMMA)) {
    comma = true;
    if (s->token.kind == TVMS_TOK_SHUT_ROUND) break;
    tvms_syntax_expr item = tvms_syntax_item(s);
    tvms_syntax_note_item(&list, &item);
    with_target(s, items);
  }
  (void)tvms_syntax_expect(s, TVMS_TOK_SHUT_ROUND, in_round);
  if (!comma) {
    refuse_star(s, &first);
    first.parens = true;
    return first;
  }
  list.span = (tvms_span){begin, s->end};
  return list;
}

tvms_syntax_expr tvms_syntax_group(tvms_syntax *s, uint32_t *items) {
  uint32_t begin = s->token.begin;
  tvms_syntax_advance(s);
  if (tvms_syntax_take(s, TVMS_TOK_SHUT_ROUND))
    return tvms_syntax_made(s, begin, SYNTAX_TUPLE);
  if (s->token.kind != TVMS_TOK_YIELD) return group_items(s, begin, items);
  tvms_syntax_expr value = tvms_syntax_value(s);
  (void)tvms_syntax_expect(s, TVMS_TOK_SHUT_ROUND, "; expected ')'");
  value.parens = true;
  return value;
}

static tvms_syntax_expr square(tvms_syntax *s) {
  uint32_t begin = s->token.begin;
  tvms_syntax_expr list = {.kind = SYNTAX_LIST};
  tvms_syntax_advance(s);
  if (tvms_syntax_take(s, TVMS_TOK_SHUT_SQUARE))
    return tvms_syntax_made(s, begin, SYNTAX_LIST);
  tvms_syntax_expr first = tvms_syntax_item(s);
  tvms_syntax_note_item(&list, &first);
  if (begins_comprehension(s)) {
    refuse_star(s, &first);
    tvms_syntax_comprehension(s);
    list.kind = SYNTAX_COMPREHENSION;
  } else {
    (void)more_items(s, &list, TVMS_TOK_SHUT_SQUARE);
  }
  (void)tvms_syntax_expect(s, TVMS_TOK_SHUT_SQUARE, in_square);
  list.span = (tvms_span){begin, s->end};
  return list;
}

// `k: v` or `**more`. True if it is a pair.
static bool pair(tvms_syntax *s) {
  if (tvms_syntax_take(s, TVMS_TOK_POWER)) {
    (void)tvms_syntax_operation(s, SYNTAX_BIT_OR);
    return false;
  }
  (void)tvms_syntax_expression(s);
  if (tvms_syntax_expect(s, TVMS_TOK_COLON, "; expected ':'"))
    (void)tvms_syntax_expression(s);
  return true;
}

static void more_pairs(tvms_syntax *s) {
  while (tvms_syntax_take(s, TVMS_TOK_COMMA) && s->token.kind != TVMS_TOK_SHUT_CURLY) {
    (void)pair(s);
  }
}

static tvms_syntax_expr curly(tvms_syntax *s) {
  uint32_t begin = s->token.begin;
  tvms_syntax_advance(s);
  if (tvms_syntax_take(s, TVMS_TOK_SHUT_CURLY))
    return tvms_syntax_made(s, begin, SYNTAX_DISPLAY);
  tvms_syntax_expr set = {.kind = SYNTAX_DISPLAY};
  if (s->token.kind == TVMS_TOK_POWER) {
    (void)pair(s);
    more_pairs(s);
  } else {
    tvms_syntax_expr first = tvms_syntax_item(s);
    bool dict = first.kind != SYNTAX_STAR
                && (first.kind != SYNTAX_WALRUS || first.parens)
                && tvms_syntax_take(s, TVMS_TOK_COLON);
    if (dict) (void)tvms_syntax_expression(s);
    if (begins_comprehension(s)) {
      refuse_star(s, &first);
      tvms_syntax_comprehension(s);
      set.kind = SYNTAX_COMPREHENSION;
    } else if (dict) {
      more_pairs(s);
    } else {
      (void)more_items(s, &set, TVMS_TOK_SHUT_CURLY);
    }
  }
  (void)tvms_syntax_expect(s, TVMS_TOK_SHUT_CURLY, in_curly);
  return tvms_syntax_made(s, begin, (tvms_syntax_kind)set.kind);
}

// ---- Atoms --------------------------------------------------------------------------------

static tvms_syntax_expr strings(tvms_syntax *s) {
  uint32_t begin = s->token.begin;
  bool bytes = tvms_string_form_of(s->text + begin).bytes;
  while (s->token.kind == TVMS_TOK_STRING && !s->failed) {
    tvms_token token = s->token;
    tvms_string_form form = tvms_string_form_of(s->text + token.begin);
    if (form.bytes != bytes)
      tvms_syntax_fault_at(s, TVMS_D_mixed_strings,
                           (tvms_span){token.begin, token.end});
    if (form.formatted) tvms_syntax_fstring(s, token);
    tvms_syntax_advance(s);
  }
  return tvms_syntax_made(s, begin, SYNTAX_LITERAL);
}

static tvms_syntax_expr atom(tvms_syntax *s) {
  tvms_token token = s->token;
  tvms_syntax_kind kind = SYNTAX_LITERAL;
  switch ((int)token.kind) {
  case TVMS_TOK_NAME:
  case TVMS_TOK_WIDE_NAME: kind = SYNTAX_NAME; break;
  case TVMS_TOK_INT:
  case TVMS_TOK_FLOAT:
  case TVMS_TOK_IMAGINARY:
  case TVMS_TOK_BROKEN: break;
  case TVMS_TOK_TRUE:
  case TVMS_TOK_FALSE:
  case TVMS_TOK_NONE:
  case TVMS_TOK_ELLIPSIS: kind = SYNTAX_CONSTANT; break;
  case TVMS_TOK_STRING: return strings(s);
  case TVMS_TOK_OPEN_ITEMS:
  case TVMS_TOK_OPEN_ROUND: return tvms_syntax_group(s, NULL);
  case TVMS_TOK_OPEN_SQUARE: return square(s);
  case TVMS_TOK_OPEN_CURLY: return curly(s);
  default:
    tvms_syntax_refuse(s, "; expected an expression");
    return (tvms_syntax_expr){.span = {token.begin, token.end}, .kind = SYNTAX_NAME};
  }
  tvms_syntax_advance(s);
  return tvms_syntax_made(s, token.begin, kind);
}

// ---- What follows an atom -----------------------------------------------------------------

static void bound(tvms_syntax *s) {
  if (tvms_syntax_begins(s->token.kind) && s->token.kind != TVMS_TOK_STAR)
    (void)tvms_syntax_expression(s);
}

static void index_or_slice(tvms_syntax *s) {
  if (s->token.kind != TVMS_TOK_COLON) {
    (void)tvms_syntax_item(s);
    if (s->token.kind != TVMS_TOK_COLON) return;
  }
  tvms_syntax_advance(s);
  bound(s);
  if (tvms_syntax_take(s, TVMS_TOK_COLON)) bound(s);
}

static void subscript(tvms_syntax *s) {
  tvms_syntax_advance(s);
  do {
    index_or_slice(s);
  } while (tvms_syntax_take(s, TVMS_TOK_COMMA)
           && s->token.kind != TVMS_TOK_SHUT_SQUARE);
  (void)tvms_syntax_expect(s, TVMS_TOK_SHUT_SQUARE, in_square);
}

static tvms_syntax_expr primary(tvms_syntax *s) {
  uint32_t begin = s->token.begin;
  bool awaits = tvms_syntax_take(s, TVMS_TOK_AWAIT);
  tvms_syntax_expr value;
  if (s->has_given) {
    value = s->given;
    begin = value.span.begin;
    s->has_given = false;
  } else {
    value = atom(s);
  }
  while (!s->failed) {
    tvms_syntax_kind kind = SYNTAX_CALL;
    if (s->token.kind == TVMS_TOK_DOT) {
      tvms_syntax_advance(s);
      kind = SYNTAX_ATTRIBUTE;
      if (!tvms_syntax_take(s, TVMS_TOK_WIDE_NAME))
        (void)tvms_syntax_expect(s, TVMS_TOK_NAME, "; expected a name");
    } else if (tvms_syntax_is_round(s->token.kind)) {
      tvms_syntax_advance(s);
      tvms_syntax_arguments(s);
      (void)tvms_syntax_expect(s, TVMS_TOK_SHUT_ROUND, in_round);
    } else if (s->token.kind == TVMS_TOK_OPEN_SQUARE) {
      subscript(s);
      kind = SYNTAX_SUBSCRIPT;
    } else {
      break;
    }
    value = tvms_syntax_made(s, begin, kind);
  }
  return awaits ? tvms_syntax_made(s, begin, SYNTAX_AWAIT) : value;
}

static tvms_syntax_expr signed_operand(tvms_syntax *s, int least) {
  uint32_t begin = s->token.begin;
  tvms_token_kind kind = s->has_given ? TVMS_TOK_NAME : s->token.kind;
  if (kind == TVMS_TOK_NOT) {
    if (least > SYNTAX_NOT) {
      tvms_syntax_refuse(s, "; it needs parentheses here");
      return tvms_syntax_made(s, begin, SYNTAX_OPERATION);
    }
    tvms_syntax_advance(s);
    (void)tvms_syntax_operation(s, SYNTAX_NOT);
    return tvms_syntax_made(s, begin, SYNTAX_OPERATION);
  }
  if (kind == TVMS_TOK_MINUS || kind == TVMS_TOK_PLUS || kind == TVMS_TOK_INVERT) {
    tvms_syntax_advance(s);
    (void)tvms_syntax_operand(s, SYNTAX_SIGN);
    return tvms_syntax_made(s, begin, SYNTAX_OPERATION);
  }
  tvms_syntax_expr value = primary(s);
  if (s->token.kind != TVMS_TOK_POWER || s->failed) return value;
  tvms_syntax_advance(s);
  (void)tvms_syntax_operand(s, SYNTAX_SIGN);
  return tvms_syntax_made(s, begin, SYNTAX_OPERATION);
}

tvms_syntax_expr tvms_syntax_operand(tvms_syntax *s, int least) {
  tvms_memory *memory = &s->context->memory;
  tvms_syntax_expr value = {0};
  if (tvms_memory_enter(memory))
    value = signed_operand(s, least);
  else
    s->stopped = s->failed = true;
  tvms_memory_leave(memory);
  return value;
}
