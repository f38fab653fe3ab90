// Closing brackets that do not fit what is open: which one was forgotten, or is wrong.
//
// Without the parser only the text can tell: what closes behind the bracket on its line, and up to the end of
// the statement. repair.c knows better; this is for what it does not mend.
#include "grammar/misfit.h"

#include "support/diag_ids.h"

#include <string.h>

static tvms_diags *diags_of(tvms_indentation *layout) {
  return &layout->lexer.context->diags;
}

static char bracket_text(const tvms_indentation *layout, const tvms_bracket *bracket) {
  return ((const char *)layout->lexer.base)[bracket->begin];
}

// True if the bracket that closes `top` comes soon on this line: what stands before it is
// one too many.
static bool shuts_soon(const tvms_indentation *layout, const tvms_bracket *top,
                       uint32_t from) {
  enum { SOON = 200 };
  const char *text = (const char *)layout->lexer.base;
  char shut = *tvms_token_text((tvms_token_kind)top->shut);
  char open = bracket_text(layout, top);
  uint32_t depth = 0;
  for (uint32_t at = from; at < from + SOON; at++) {
    if (text[at] == open) depth++;
    if (text[at] == shut && depth-- == 0) return true;
    if (!text[at] || strchr("\r\n#\"'", text[at])) return false;
  }
  return false;
}

// Whether the rest of the statement closes exactly the brackets that are open but for the innermost
// `closed` ones. A comma behind the last of them is not the end of one.
static bool rest_closes(const tvms_indentation *layout, uint32_t closed,
                        uint32_t from) {
  enum { MOST = 32, SOON = 1000 };
  char wanted[MOST];
  uint32_t depth = 0;
  const tvms_bracket *brackets = layout->brackets.items;
  for (uint32_t i = 1; i + closed < layout->brackets.len && depth < MOST; i++)
    wanted[depth++] = *tvms_token_text((tvms_token_kind)brackets[i].shut);
  const char *text = (const char *)layout->lexer.base;
  bool comma = false;
  for (uint32_t at = from; at < from + SOON; at++) {
    char c = text[at];
    if (c == '#') c = text[at += (uint32_t)strcspn(text + at, "\r\n")];
    if (!c || (strchr("\r\n", c) && depth == 0)) return depth == 0 && !comma;
    if (c == '"' || c == '\'') {
      const char *end = memchr(text + at + 1, c, strcspn(text + at + 1, "\r\n"));
      if (!end) return false;
      at = (uint32_t)(end - text);
    }
    if (strchr("([{", c)) {
      if (depth == MOST) return false;
      wanted[depth++] = c == '(' ? ')' : c == '[' ? ']' : '}';
    }
    if (strchr(")]}", c) && (depth == 0 || wanted[--depth] != c)) return false;
    if (!strchr(" \t", c)) comma = c == ',';
  }
  return false;
}

// The bracket that opens may have been refused on the same line, which was reported.
static bool is_wrong_line(tvms_indentation *layout, uint32_t place) {
  const tvms_diag *last = diags_of(layout)->last;
  if (!last || last->id != TVMS_D_syntax || last->span.begin > place) return false;
  const char *text = layout->lexer.context->diags.source->text + last->span.begin;
  return !memchr(text, '\n', place - last->span.begin);
}

static tvms_token_kind kind_of(const tvms_indentation *layout,
                               const tvms_token *token) {
  char c = ((const char *)layout->lexer.base)[token->begin];
  if (c == ')') return TVMS_TOK_SHUT_ROUND;
  return c == ']' ? TVMS_TOK_SHUT_SQUARE : TVMS_TOK_SHUT_CURLY;
}

static bool fit(tvms_indentation *layout, tvms_token *token) {
  token->kind = kind_of(layout, token);
  tvms_bracket *top = &layout->brackets.items[layout->brackets.len - 1];
  tvms_span span = {token->begin, token->end};
  const char *text = tvms_token_text(token->kind);
  if (layout->brackets.len == 1 || top->shut == TVMS_TOK_END) {
    if (!is_wrong_line(layout, span.begin))
      tvms_diag_remark(
          diags_of(layout),
          tvms_diag_report(diags_of(layout), TVMS_D_unmatched_bracket, span, text),
          "leave it out, unless a '%c' is missing in front of it",
          token->kind == TVMS_TOK_SHUT_ROUND    ? '('
          : token->kind == TVMS_TOK_SHUT_SQUARE ? '['
                                                : '{');
    return false;
  }
  char open[2] = {bracket_text(layout, top), '\0'};
  tvms_span open_span = {top->begin, top->begin + 1};
  bool wrong =
      rest_closes(layout, 1, token->end) && !rest_closes(layout, 2, token->end);
  if (top[-1].shut == token->kind && !wrong) {
    // The bracket inside was forgotten: close it here and give this token again.
    tvms_diag *diag =
        tvms_diag_report(diags_of(layout), TVMS_D_unclosed_bracket, open_span, open);
    tvms_diag_remark(diags_of(layout), diag, "a '%s' is missing",
                     tvms_token_text((tvms_token_kind)top->shut));
    layout->lexer.cursor = (const char *)layout->lexer.base + token->begin;
    token->end = token->begin;
  } else {
    bool extra =
        shuts_soon(layout, top, token->end) || rest_closes(layout, 0, token->end);
    if (!is_wrong_line(layout, span.begin)) {
      tvms_diag *diag = tvms_diag_report(diags_of(layout), TVMS_D_mismatched_bracket,
                                         span, text, open);
      tvms_diag_note(diags_of(layout), diag, open_span, "'%s' is opened here", open);
      tvms_diag_fix(diags_of(layout), diag, span, false, "%s",
                    extra ? "" : tvms_token_text((tvms_token_kind)top->shut));
    }
    if (extra) return false;
  }
  token->kind = (tvms_token_kind)top->shut;
  layout->brackets.len--;
  layout->lexer.depth--;
  return true;
}

bool tvms_indentation_fit(tvms_indentation *layout, tvms_token *token) {
  diags_of(layout)->muted += layout->hushed;
  bool fits = fit(layout, token);
  diags_of(layout)->muted -= layout->hushed;
  return fits;
}
