// Mistakes that the syntax check finds: one for each statement, in the words that the grammar of TVMScript has.
#include "grammar/syntax_fault.h"

#include "grammar/meant.h"
#include "grammar/refused.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

// Of a text that is no Python at all, more would help nobody.
enum { MOST_FAULTS = 200 };

static void keep(tvms_syntax *s, tvms_diag *diag) {
  tvms_span span = diag->span;
  uint32_t begin = s->first.begin < span.begin ? s->first.begin : span.begin;
  tvms_syntax_fault fault = {{begin, span.end}, span.begin, diag};
  tvms_vec_push(&s->context->memory, s->faults, fault);
  s->faulty = s->open_fault = true;
  s->adopted = false;
  s->stopped = s->faults->len == MOST_FAULTS;
}

// A string that is not closed began or ended too early: what was refused of its line follows from that, and the
// lexer has dropped it.
static bool explains(const tvms_syntax *s, const tvms_diag *diag) {
  if (!s->open_fault || s->stopped) return false;
  if (diag->id != TVMS_D_unfinished_string && diag->id != TVMS_D_unfinished_triple)
    return false;
  const tvms_diag *last = s->faults->items[s->faults->len - 1].diag;
  uint32_t begin = last->span.begin, end = diag->span.begin;
  return last->id == TVMS_D_syntax && begin <= end
         && !memchr(s->text + begin, '\n', end - begin);
}

void tvms_syntax_adopt(tvms_syntax *s, tvms_diag *diag) {
  if (explains(s, diag)) {
    tvms_syntax_fault *fault = &s->faults->items[s->faults->len - 1];
    fault->diag = diag;
    fault->refused = diag->span.begin;
    return;
  }
  if (s->faulty || s->stopped) return;
  keep(s, diag);
  s->adopted = true;
  s->adopted_at = diag->span.begin;
}

tvms_diag *tvms_syntax_fault_at(tvms_syntax *s, tvms_diag_id id, tvms_span span, ...) {
  tvms_diags *diags = &s->context->diags;
  bool drop = s->faulty || s->stopped;
  va_list arguments;
  va_start(arguments, span);
  diags->muted += drop;
  tvms_diag *diag = tvms_diag_vreport(diags, id, span, arguments);
  diags->muted -= drop;
  va_end(arguments);
  s->seen = diags->last;
  if (!drop) keep(s, diag);
  return diag;
}

void tvms_syntax_end_fault(tvms_syntax *s, uint32_t end) {
  if (!s->open_fault) return;
  tvms_syntax_fault *fault = &s->faults->items[s->faults->len - 1];
  if (fault->statement.end < end) fault->statement.end = end;
  s->open_fault = false;
}

// ---- Refused tokens ---------------------------------------------------------------------

// `print x`, as Python 2 had it.
static bool explain_print(tvms_syntax *s, tvms_diag *diag) {
  tvms_token first = s->first, token = s->token;
  bool named = first.kind == TVMS_TOK_NAME && first.end - first.begin == 5
               && memcmp(s->text + first.begin, "print", 5) == 0 && s->end == first.end
               && token.begin > first.end;
  if (!named || !tvms_syntax_begins(token.kind)) return false;
  tvms_diags *diags = &s->context->diags;
  tvms_diag_remark(diags, diag, "missing '('? 'print' is a function");
  uint32_t end = token.begin + (uint32_t)strcspn(s->text + token.begin, "#;\r\n");
  bool whole = !memchr(s->text + token.begin, '(', end - token.begin);
  while (s->text[end - 1] == ' ')
    end--;
  if (!whole) return true;
  tvms_diag_fix(diags, diag, (tvms_span){first.end, token.begin}, false, "(");
  tvms_diag_fix(diags, diag, (tvms_span){end, end}, false, ")");
  return true;
}

static void explain(tvms_syntax *s, tvms_diag *diag, tvms_token_meaning meant) {
  tvms_diags *diags = &s->context->diags;
  if (explain_print(s, diag) || !meant.note) return;
  tvms_diag_remark(diags, diag, "%s", meant.note);
  if (meant.fixed) tvms_diag_fix(diags, diag, meant.fix, false, "%s", meant.fixed);
}

// The bracket that is open where a new statement begins, or the text ends.
static bool report_bracket(tvms_syntax *s) {
  if (s->depth == 0 || s->field || s->token.kind != TVMS_TOK_END) return false;
  tvms_bracket open = s->layout.brackets.items[s->depth];
  const char text[2] = {s->text[open.begin], '\0'};
  tvms_span span = {open.begin, open.begin + 1};
  tvms_diag *diag = tvms_syntax_fault_at(s, TVMS_D_unclosed_bracket, span, text);
  tvms_diag_remark(&s->context->diags, diag, "a '%s' is missing",
                   tvms_token_text((tvms_token_kind)open.shut));
  return true;
}

void tvms_syntax_refuse(tvms_syntax *s, const char *expected) {
  if (s->failed) return;
  s->failed = true;
  if (s->faulty || s->stopped || report_bracket(s)) return;
  if (s->token.kind == TVMS_TOK_NEWLINE && s->layout.lexer.unfinished) return;
  char what[64];
  tvms_span span = {s->token.begin, s->token.end};
  tvms_token_say(s->text, s->token, s->field, what, sizeof what);
  tvms_token_meaning meant = {0};
  if (!s->field)
    meant = tvms_token_meant(s->text, s->token, s->first, s->depth > 0, s->depth > 0);
  if (meant.note && meant.span.begin != span.begin) {
    span = meant.span;
    tvms_token all = tvms_token_make(span.begin, span.end, TVMS_TOK_NAME);
    tvms_token_say(s->text, all, s->field, what, sizeof what);
    expected = "";
  }
  tvms_diag *diag = tvms_syntax_fault_at(s, TVMS_D_syntax, span, what,
                                         s->field ? " in an f-string" : expected);
  s->faults->items[s->faults->len - 1].refused = s->token.begin;
  explain(s, diag, meant);
}

// ---- Targets ----------------------------------------------------------------------------

static const char *say_kind(uint8_t kind) {
  switch ((int)kind) {
  case SYNTAX_TUPLE: return "a tuple";
  case SYNTAX_LIST: return "a list";
  case SYNTAX_STAR: return "a starred expression";
  case SYNTAX_CALL: return "a call";
  case SYNTAX_OPERATION: return "an operator";
  case SYNTAX_COMPARISON: return "a comparison";
  case SYNTAX_CONDITIONAL: return "a conditional expression";
  case SYNTAX_LAMBDA: return "a lambda";
  case SYNTAX_COMPREHENSION: return "a comprehension";
  case SYNTAX_DISPLAY: return "a display in braces";
  case SYNTAX_WALRUS: return "an assignment expression";
  case SYNTAX_AWAIT: return "'await'";
  case SYNTAX_YIELD: return "'yield'";
  default: return "a literal";
  }
}

static void report_target(tvms_syntax *s, tvms_span span, uint8_t kind,
                          tvms_syntax_use use) {
  static const char *const verbs[] = {"assign to", "annotate or augment", "delete"};
  char what[16];
  uint32_t len = span.end - span.begin;
  if (kind == SYNTAX_CONSTANT)
    snprintf(what, sizeof what, "'%.*s'", (int)(len < 8 ? len : 8),
             s->text + span.begin);
  tvms_syntax_fault_at(s, TVMS_D_bad_target, span, verbs[use],
                       kind == SYNTAX_CONSTANT ? what : say_kind(kind));
}

void tvms_syntax_check_target(tvms_syntax *s, const tvms_syntax_expr *expr,
                              tvms_syntax_use use) {
  if (s->failed) return;
  switch ((int)expr->kind) {
  case SYNTAX_NAME:
  case SYNTAX_ATTRIBUTE:
  case SYNTAX_SUBSCRIPT: return;
  case SYNTAX_TUPLE:
  case SYNTAX_LIST:
    if (use == SYNTAX_SINGLE) break;
    if (expr->bad.end) report_target(s, expr->bad, expr->bad_kind, use);
    return;
  default: break;
  }
  report_target(s, expr->span, expr->kind, use);
}
