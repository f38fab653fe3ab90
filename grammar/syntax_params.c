// Arguments and parameters: their order, and names that stand twice.
#include "grammar/syntax_params.h"

#include "grammar/syntax_expr.h"
#include "grammar/syntax_fault.h"
#include "grammar/syntax_operand.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

// Names of one list. Of more than these, those behind are not compared.
enum { MOST_NAMES = 64 };

typedef struct {
  tvms_span names[MOST_NAMES];
  uint32_t count;
} name_list;

// Adds a name; true if it is there already.
static bool is_repeated(const tvms_syntax *s, name_list *list, tvms_span name) {
  uint32_t len = name.end - name.begin;
  for (uint32_t i = 0; i < list->count; i++) {
    tvms_span old = list->names[i];
    if (old.end - old.begin == len
        && memcmp(s->text + old.begin, s->text + name.begin, len) == 0)
      return true;
  }
  if (list->count < MOST_NAMES) list->names[list->count++] = name;
  return false;
}

// ---- Arguments ----------------------------------------------------------------------------

typedef struct {
  name_list names;
  uint32_t count;
  bool keyword;  // one with a name stands before
  bool mapping;  // `**m` stands before
} arguments;

static void keyword(tvms_syntax *s, arguments *args, const tvms_syntax_expr *name) {
  if (name->kind != SYNTAX_NAME || name->parens) {
    tvms_syntax_refuse(s, "; expected ')' or ','");
    return;
  }
  tvms_syntax_advance(s);
  (void)tvms_syntax_expression(s);
  args->keyword = true;
  if (!s->failed && is_repeated(s, &args->names, name->span)) {
    char what[80];
    int len = (int)(name->span.end - name->span.begin);
    snprintf(what, sizeof what, "argument '%.*s'", len > 50 ? 50 : len,
             s->text + name->span.begin);
    tvms_syntax_fault_at(s, TVMS_D_syntax, name->span, what, "; it was given before");
  }
}

static void argument(tvms_syntax *s, arguments *args) {
  tvms_token first = s->token;
  if (tvms_syntax_take(s, TVMS_TOK_POWER)) {
    (void)tvms_syntax_expression(s);
    args->mapping = true;
    return;
  }
  if (first.kind == TVMS_TOK_STAR) {
    tvms_syntax_advance(s);
    (void)tvms_syntax_expression(s);
    if (args->mapping && !s->failed)
      tvms_syntax_fault_at(s, TVMS_D_late_argument, (tvms_span){first.begin, s->end});
    return;
  }
  tvms_syntax_expr value = tvms_syntax_named(s);
  if (s->token.kind == TVMS_TOK_ASSIGN && !s->failed) {
    keyword(s, args, &value);
    return;
  }
  if (s->token.kind == TVMS_TOK_FOR || s->token.kind == TVMS_TOK_ASYNC) {
    tvms_syntax_comprehension(s);
    bool alone = args->count == 0 && s->token.kind != TVMS_TOK_COMMA;
    if (!alone && !s->failed) {
      tvms_span span = {value.span.begin, s->end};
      tvms_syntax_fault_at(s, TVMS_D_needs_parens, span, "a comprehension");
    }
    return;
  }
  if ((args->keyword || args->mapping) && !s->failed)
    tvms_syntax_fault_at(s, TVMS_D_late_argument, value.span);
}

void tvms_syntax_arguments(tvms_syntax *s) {
  arguments args;
  args.names.count = args.count = 0;
  args.keyword = args.mapping = false;
  if (s->token.kind == TVMS_TOK_SHUT_ROUND) return;
  do {
    argument(s, &args);
    args.count++;
  } while (tvms_syntax_take(s, TVMS_TOK_COMMA) && s->token.kind != TVMS_TOK_SHUT_ROUND);
}

// ---- Parameters ---------------------------------------------------------------------------

typedef struct {
  name_list names;
  bool annotated;  // a function's, not a lambda's
  bool any;
  bool fallback;  // one with a default stands before
  bool slash;
  bool star;     // '*' or '*args' stands before
  bool bare;     // '*' was the last one
  bool mapping;  // '**k' stands before
} parameters;

static void bad_parameter(tvms_syntax *s, tvms_span span, const char *text) {
  if (!s->failed) tvms_syntax_fault_at(s, TVMS_D_bad_parameter, span, text);
}

static void parameter_name(tvms_syntax *s, parameters *params, bool starred) {
  tvms_span name = {s->token.begin, s->token.end};
  if (!tvms_syntax_take(s, TVMS_TOK_WIDE_NAME)
      && !tvms_syntax_expect(s, TVMS_TOK_NAME, "; expected a name"))
    return;
  if (is_repeated(s, &params->names, name)) {
    char text[80];
    int len = (int)(name.end - name.begin);
    snprintf(text, sizeof text, "two parameters are called '%.*s'", len > 40 ? 40 : len,
             s->text + name.begin);
    bad_parameter(s, name, text);
  }
  if (!params->annotated || !tvms_syntax_take(s, TVMS_TOK_COLON)) return;
  if (starred && s->token.kind == TVMS_TOK_STAR)
    (void)tvms_syntax_item(s);
  else
    (void)tvms_syntax_expression(s);
}

static void plain_parameter(tvms_syntax *s, parameters *params) {
  tvms_span name = {s->token.begin, s->token.end};
  parameter_name(s, params, false);
  params->bare = false;
  if (tvms_syntax_take(s, TVMS_TOK_ASSIGN)) {
    params->fallback = true;
    (void)tvms_syntax_expression(s);
  } else if (params->fallback && !params->star) {
    bad_parameter(s, name, "a parameter without a default follows one with a default");
  }
}

static void starred_parameter(tvms_syntax *s, parameters *params) {
  tvms_token first = s->token;
  tvms_span span = {first.begin, first.end};
  tvms_syntax_advance(s);
  if (first.kind == TVMS_TOK_SLASH) {
    if (params->slash || params->star || !params->any)
      bad_parameter(s, span, "'/' stands once, behind parameters and before '*'");
    params->slash = true;
    return;
  }
  bool mapping = first.kind == TVMS_TOK_POWER;
  if (params->star && !mapping) bad_parameter(s, span, "'*' stands once");
  if (mapping && params->bare) bad_parameter(s, span, "a name follows '*'");
  bool named = s->token.kind == TVMS_TOK_NAME || s->token.kind == TVMS_TOK_WIDE_NAME;
  if (mapping || named) parameter_name(s, params, !mapping);
  params->bare = !mapping && !named;
  params->star = true;
  params->mapping = mapping;
  if (s->token.kind == TVMS_TOK_ASSIGN) tvms_syntax_refuse(s, "");
}

void tvms_syntax_params(tvms_syntax *s, tvms_token_kind shut) {
  parameters params;
  params.names.count = 0;
  params.any = params.fallback = params.slash = params.star = false;
  params.bare = params.mapping = false;
  params.annotated = shut == TVMS_TOK_SHUT_ROUND;
  tvms_token last = s->token;
  while (s->token.kind != shut && !s->failed) {
    tvms_span span = {s->token.begin, s->token.end};
    last = s->token;
    if (params.mapping) bad_parameter(s, span, "nothing follows '**'");
    if (s->token.kind == TVMS_TOK_STAR || s->token.kind == TVMS_TOK_POWER
        || s->token.kind == TVMS_TOK_SLASH)
      starred_parameter(s, &params);
    else
      plain_parameter(s, &params);
    params.any = true;
    if (!tvms_syntax_take(s, TVMS_TOK_COMMA)) break;
  }
  if (params.bare)
    bad_parameter(s, (tvms_span){last.begin, last.end}, "a name follows '*'");
}

void tvms_syntax_type_params(tvms_syntax *s) {
  if (!tvms_syntax_take(s, TVMS_TOK_OPEN_SQUARE)) return;
  do {
    if (!tvms_syntax_take(s, TVMS_TOK_STAR)) (void)tvms_syntax_take(s, TVMS_TOK_POWER);
    if (!tvms_syntax_take(s, TVMS_TOK_WIDE_NAME)
        && !tvms_syntax_expect(s, TVMS_TOK_NAME, "; expected a name"))
      return;
    if (tvms_syntax_take(s, TVMS_TOK_COLON)) (void)tvms_syntax_expression(s);
    if (tvms_syntax_take(s, TVMS_TOK_ASSIGN)) (void)tvms_syntax_item(s);
  } while (tvms_syntax_take(s, TVMS_TOK_COMMA)
           && s->token.kind != TVMS_TOK_SHUT_SQUARE);
  (void)tvms_syntax_expect(s, TVMS_TOK_SHUT_SQUARE, "; expected ']' or ','");
}
