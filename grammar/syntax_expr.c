// Expressions from operators up to lists: the levels of Python's grammar that hold no brackets of their own.
#include "grammar/syntax_expr.h"

#include "grammar/syntax_fault.h"
#include "grammar/syntax_operand.h"
#include "grammar/syntax_params.h"
#include "support/diag_ids.h"

static int strength(tvms_token_kind kind) {
  switch ((int)kind) {
  case TVMS_TOK_OR: return SYNTAX_OR;
  case TVMS_TOK_AND: return SYNTAX_AND;
  case TVMS_TOK_IN:
  case TVMS_TOK_IS:
  case TVMS_TOK_IS_NOT:
  case TVMS_TOK_NOT_IN:
  case TVMS_TOK_EQ:
  case TVMS_TOK_NE:
  case TVMS_TOK_LT:
  case TVMS_TOK_LE:
  case TVMS_TOK_GT:
  case TVMS_TOK_GE: return SYNTAX_COMPARE;
  case TVMS_TOK_BIT_OR: return SYNTAX_BIT_OR;
  case TVMS_TOK_BIT_XOR: return SYNTAX_BIT_XOR;
  case TVMS_TOK_BIT_AND: return SYNTAX_BIT_AND;
  case TVMS_TOK_SHIFT_LEFT:
  case TVMS_TOK_SHIFT_RIGHT: return SYNTAX_SHIFT;
  case TVMS_TOK_PLUS:
  case TVMS_TOK_MINUS: return SYNTAX_SUM;
  case TVMS_TOK_STAR:
  case TVMS_TOK_SLASH:
  case TVMS_TOK_AT:
  case TVMS_TOK_FLOOR_DIV:
  case TVMS_TOK_MOD: return SYNTAX_PRODUCT;
  default: return 0;
  }
}

tvms_syntax_expr tvms_syntax_operation(tvms_syntax *s, int least) {
  tvms_syntax_expr left = tvms_syntax_operand(s, least);
  while (!s->failed) {
    int found = strength(s->token.kind);
    if (!found || found < least) break;
    tvms_syntax_advance(s);
    (void)tvms_syntax_operation(s, found + 1);
    left = tvms_syntax_made(s, left.span.begin,
                            found == SYNTAX_COMPARE ? SYNTAX_COMPARISON
                                                    : SYNTAX_OPERATION);
  }
  return left;
}

static tvms_syntax_expr lambda(tvms_syntax *s) {
  tvms_memory *memory = &s->context->memory;
  uint32_t begin = s->token.begin;
  if (tvms_memory_enter(memory)) {
    tvms_syntax_advance(s);
    tvms_syntax_params(s, TVMS_TOK_COLON);
    bool in_function = s->in_function;
    s->in_function = true;
    if (tvms_syntax_expect(s, TVMS_TOK_COLON, "; expected ':'"))
      (void)tvms_syntax_expression(s);
    s->in_function = in_function;
  } else {
    s->stopped = s->failed = true;
  }
  tvms_memory_leave(memory);
  return tvms_syntax_made(s, begin, SYNTAX_LAMBDA);
}

tvms_syntax_expr tvms_syntax_expression(tvms_syntax *s) {
  if (s->token.kind == TVMS_TOK_LAMBDA && !s->has_given) return lambda(s);
  tvms_syntax_expr first = tvms_syntax_operation(s, SYNTAX_OR);
  bool conditional = false;
  while (s->token.kind == TVMS_TOK_IF && !s->failed) {
    conditional = true;
    tvms_syntax_advance(s);
    (void)tvms_syntax_operation(s, SYNTAX_OR);
    if (!tvms_syntax_expect(s, TVMS_TOK_ELSE, "; expected 'else'")) break;
    if (s->token.kind == TVMS_TOK_LAMBDA)
      (void)lambda(s);
    else
      (void)tvms_syntax_operation(s, SYNTAX_OR);
  }
  return conditional ? tvms_syntax_made(s, first.span.begin, SYNTAX_CONDITIONAL)
                     : first;
}

tvms_syntax_expr tvms_syntax_named(tvms_syntax *s) {
  tvms_syntax_expr first = tvms_syntax_expression(s);
  if (s->token.kind != TVMS_TOK_WALRUS || s->failed) return first;
  if (first.kind != SYNTAX_NAME || first.parens) {
    tvms_syntax_refuse(s, "");
    return first;
  }
  tvms_syntax_advance(s);
  (void)tvms_syntax_expression(s);
  return tvms_syntax_made(s, first.span.begin, SYNTAX_WALRUS);
}

static tvms_syntax_expr starred(tvms_syntax *s) {
  uint32_t begin = s->token.begin;
  tvms_syntax_advance(s);
  tvms_syntax_expr value = tvms_syntax_operation(s, SYNTAX_BIT_OR);
  tvms_syntax_expr star = tvms_syntax_made(s, begin, SYNTAX_STAR);
  // What is starred must be a target where the whole is.
  bool target = value.kind <= SYNTAX_LIST && !value.bad.end;
  if (!target) {
    star.bad = value.bad.end ? value.bad : value.span;
    star.bad_kind = value.bad.end ? value.bad_kind : value.kind;
  }
  return star;
}

tvms_syntax_expr tvms_syntax_item(tvms_syntax *s) {
  return s->token.kind == TVMS_TOK_STAR && !s->has_given ? starred(s)
                                                         : tvms_syntax_named(s);
}

static tvms_syntax_expr list_item(tvms_syntax *s) {
  return s->token.kind == TVMS_TOK_STAR && !s->has_given ? starred(s)
                                                         : tvms_syntax_expression(s);
}

void tvms_syntax_note_item(tvms_syntax_expr *list, const tvms_syntax_expr *item) {
  if (list->bad.end) return;
  if (item->bad.end) {
    list->bad = item->bad;
    list->bad_kind = item->bad_kind;
  } else if (item->kind > SYNTAX_STAR) {
    list->bad = item->span;
    list->bad_kind = item->kind;
  }
}

// The items behind the first one, which `item` reads, up to what no item begins with.
static tvms_syntax_expr rest_of_list(tvms_syntax *s, tvms_syntax_expr first,
                                     tvms_syntax_expr (*item)(tvms_syntax *)) {
  if (s->token.kind != TVMS_TOK_COMMA || s->failed) return first;
  tvms_syntax_expr list = {.span = first.span, .kind = SYNTAX_TUPLE};
  tvms_syntax_note_item(&list, &first);
  while (tvms_syntax_take(s, TVMS_TOK_COMMA)) {
    if (!tvms_syntax_begins(s->token.kind)) break;
    tvms_syntax_expr more = item(s);
    tvms_syntax_note_item(&list, &more);
  }
  list.span.end = s->end;
  return list;
}

tvms_syntax_expr tvms_syntax_list(tvms_syntax *s) {
  return rest_of_list(s, list_item(s), list_item);
}

tvms_syntax_expr tvms_syntax_value(tvms_syntax *s) {
  if (s->token.kind != TVMS_TOK_YIELD) return tvms_syntax_list(s);
  tvms_token word = s->token;
  tvms_syntax_advance(s);
  if (tvms_syntax_take(s, TVMS_TOK_FROM))
    (void)tvms_syntax_expression(s);
  else if (tvms_syntax_begins(s->token.kind))
    (void)tvms_syntax_list(s);
  if (!s->in_function && !s->failed)
    tvms_syntax_fault_at(s, TVMS_D_syntax, (tvms_span){word.begin, word.end}, "'yield'",
                         " outside of a function");
  return tvms_syntax_made(s, word.begin, SYNTAX_YIELD);
}

static tvms_syntax_expr loop_target(tvms_syntax *s) {
  if (s->token.kind == TVMS_TOK_STAR) return starred(s);
  return tvms_syntax_operation(s, SYNTAX_BIT_OR);
}

tvms_syntax_expr tvms_syntax_loop_targets(tvms_syntax *s) {
  tvms_syntax_expr targets = rest_of_list(s, loop_target(s), loop_target);
  // Where the loop has no `in`, that is what is wrong.
  if (s->token.kind == TVMS_TOK_FOR_IN || s->token.kind == TVMS_TOK_IN)
    tvms_syntax_check_target(s, &targets, SYNTAX_ASSIGNS);
  return targets;
}
