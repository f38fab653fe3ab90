// See repair_report.h.
#include "grammar/repair_report.h"

#include "grammar/recover.h"
#include "support/diag_ids.h"

#include <string.h>

typedef struct {
  surf_parser *p;
  const tvms_stretch *region;
  const tvms_edit *edit;
  tvms_token refused;
} telling;

static tvms_diags *diags_of(const telling *t) {
  return &t->p->build.context->diags;
}

static tvms_token token_at(const telling *t, uint32_t at) {
  return t->region->tokens.items[at];
}

static tvms_span span_at(const telling *t, uint32_t at) {
  return (tvms_span){token_at(t, at).begin, token_at(t, at).end};
}

// Where something is put in front of a token: behind what stands before it, if that is another line.
static tvms_span place_of(const telling *t, uint32_t at) {
  uint32_t place = token_at(t, at).begin;
  if (at > 0 && token_at(t, at).kind == TVMS_TOK_NEWLINE)
    place = token_at(t, at - 1).end;
  return (tvms_span){place, place};
}

static const char *bracket_text(const telling *t, uint32_t at) {
  return tvms_token_text((tvms_token_kind)token_at(t, at).kind);
}

/* Brackets */

static void report_unclosed(const telling *t) {
  tvms_diags *diags = diags_of(t);
  uint32_t open = t->edit->other;
  const char *shut = tvms_token_text(t->edit->kind);
  const char *colon = t->edit->way == TVMS_EDIT_FINISH ? ":" : "";
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_unclosed_bracket, span_at(t, open),
                                     bracket_text(t, open));
  tvms_diag_remark(diags, diag, "a '%s%s' is missing", shut, colon);
  tvms_span place = place_of(t, t->edit->at);
  tvms_diag_fix(diags, diag, place, false, "%s%s", shut, colon);
}

// One of a pair is of the wrong kind, or does not belong there: `text` is what it should be.
static void report_mismatch(const telling *t, const char *text) {
  tvms_diags *diags = diags_of(t);
  uint32_t at = t->edit->at, shut = t->region->refused, open = at;
  if (at == shut) open = t->region->inner.items[at];
  if (open == TVMS_NO_TOKEN || token_at(t, shut).kind < TVMS_TOK_SHUT_ROUND
      || token_at(t, shut).kind > TVMS_TOK_SHUT_CURLY) {
    tvms_diag *diag = tvms_surface_report_refused(t->p, token_at(t, at), "");
    tvms_diag_remark(diags, diag, "write '%s'", text);
    tvms_diag_fix(diags, diag, span_at(t, at), false, "%s", text);
    return;
  }
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_mismatched_bracket, span_at(t, shut),
                                     bracket_text(t, shut), bracket_text(t, open));
  tvms_diag_note(diags, diag, span_at(t, open), "'%s' is opened here",
                 bracket_text(t, open));
  tvms_diag_fix(diags, diag, span_at(t, at), false, "%s", text);
}

static void report_extra(const telling *t, bool open) {
  tvms_diags *diags = diags_of(t);
  uint32_t at = t->edit->at;
  tvms_span span = span_at(t, at);
  uint32_t inner = t->region->inner.items[at];
  if (!open && t->region->misfit && at == t->region->refused
      && inner != TVMS_NO_TOKEN) {
    report_mismatch(t, "");
    return;
  }
  tvms_diag *diag =
      tvms_diag_report(diags, open ? TVMS_D_unclosed_bracket : TVMS_D_unmatched_bracket,
                       span, bracket_text(t, at));
  if (open)
    tvms_diag_remark(diags, diag, "leave it out");
  else
    tvms_diag_remark(
        diags, diag, "leave it out, unless a '%s' is missing in front of it",
        tvms_token_text((tvms_token_kind)(token_at(t, at).kind - TVMS_TOK_SHUT_ROUND
                                          + TVMS_TOK_OPEN_ROUND)));
  tvms_diag_fix(diags, diag, span, false, "%s", "");
}

// What closes a bracket that is put in front of token `at`; NO_TOKEN if it is not there.
static uint32_t closer_of(const telling *t) {
  const tvms_stretch *r = t->region;
  uint32_t depth = 1;
  for (uint32_t i = t->edit->at; i < r->tokens.len; i++) {
    tvms_token_kind kind = (tvms_token_kind)token_at(t, i).kind;
    depth += tvms_token_opens(kind);
    if (tvms_token_shuts(kind) && --depth == 0) return i;
  }
  return TVMS_NO_TOKEN;
}

static bool is_on_line(const telling *t, uint32_t from, uint32_t to) {
  uint32_t begin = token_at(t, from).begin;
  return !memchr(t->region->text + begin, '\n', token_at(t, to).begin - begin);
}

static void report_unopened(const telling *t) {
  tvms_diags *diags = diags_of(t);
  uint32_t shut = closer_of(t), at = t->edit->at;
  const char *open = tvms_token_text(t->edit->kind);
  bool near =
      shut != TVMS_NO_TOKEN && at != t->region->refused && is_on_line(t, at, shut);
  tvms_token token = token_at(t, at);
  tvms_diag *diag;
  if (near)
    diag = tvms_diag_report(diags, TVMS_D_unmatched_bracket, span_at(t, shut),
                            bracket_text(t, shut));
  else
    diag = tvms_surface_report_refused(t->p, token, "");
  tvms_diag_remark(diags, diag, "a '%s' is missing", open);
  tvms_diag_fix(diags, diag, place_of(t, at), false, "%s", open);
}

static void report_pair(const telling *t) {
  tvms_diags *diags = diags_of(t);
  const char *open = tvms_token_text(t->edit->kind);
  const char *shut = tvms_token_text(tvms_token_closing(t->edit->kind));
  tvms_diag *diag = tvms_surface_report_refused(t->p, token_at(t, t->edit->at), "");
  tvms_diag_remark(diags, diag, "write '%s' and '%s'", open, shut);
  tvms_diag_fix(diags, diag, span_at(t, t->edit->at), false, "%s", open);
  tvms_diag_fix(diags, diag, span_at(t, t->edit->other), false, "%s", shut);
}

/* Marks */

static void report_mark(const telling *t) {
  tvms_diags *diags = diags_of(t);
  const tvms_edit *edit = t->edit;
  tvms_token token = token_at(t, edit->at);
  bool same = edit->at == t->region->refused;
  tvms_diag *diag = same ? tvms_surface_report_refused(t->p, t->refused, NULL)
                         : tvms_surface_report_refused(t->p, token, "");
  if (diag->notes) return;
  const char *text = tvms_token_text(edit->kind);
  if (edit->way == TVMS_EDIT_DELETE) {
    tvms_diag_remark(diags, diag, "leave it out");
    tvms_diag_fix(diags, diag, span_at(t, edit->at), false, "%s", "");
  } else if (edit->kind == TVMS_TOK_HOLE) {
    return;
  } else if (edit->way == TVMS_EDIT_INSERT) {
    tvms_diag_remark(diags, diag, "a '%s' is missing", text);
    uint32_t end = edit->at > 0 ? token_at(t, edit->at - 1).end : token.begin;
    if (edit->at > 1 && token_at(t, edit->at - 1).kind == TVMS_TOK_NEWLINE)
      end = token_at(t, edit->at - 2).end;
    tvms_diag_fix(diags, diag, (tvms_span){end, end}, false, "%s", text);
  } else {
    tvms_diag_remark(diags, diag, "write '%s'", text);
    tvms_diag_fix(diags, diag, span_at(t, edit->at), false, "%s", text);
  }
}

static void report_swap(const telling *t) {
  tvms_diags *diags = diags_of(t);
  tvms_span first = span_at(t, t->edit->at), second = span_at(t, t->edit->at + 1);
  const char *text = t->region->text;
  tvms_diag *diag = tvms_surface_report_refused(t->p, t->refused, "");
  int begin = (int)(first.end - first.begin), end = (int)(second.end - second.begin);
  tvms_diag_remark(diags, diag, "write '%.*s%.*s'", end, text + second.begin, begin,
                   text + first.begin);
  tvms_diag_fix(diags, diag, (tvms_span){first.begin, second.end}, false, "%.*s%.*s",
                end, text + second.begin, begin, text + first.begin);
}

/* Strings */

static void report_string(const telling *t) {
  tvms_diags *diags = diags_of(t);
  const tvms_edit *edit = t->edit;
  const char *text = t->region->text;
  uint32_t quote = token_at(t, edit->at).begin;
  while (text[quote] != '"' && text[quote] != '\'') {
    quote++;
  }
  uint32_t begin = edit->way == TVMS_EDIT_UNQUOTE ? quote : token_at(t, edit->at).begin;
  tvms_diag *diag =
      tvms_diag_report(diags, TVMS_D_unfinished_string, (tvms_span){begin, quote + 1});
  uint32_t place = edit->place;
  if (edit->way == TVMS_EDIT_UNQUOTE) {
    tvms_diag_remark(diags, diag, "it ends with %c, unless that is to be left out",
                     text[quote]);
    tvms_diag_fix(diags, diag, (tvms_span){quote, quote + 1}, false, "%s", "");
  } else if (edit->way == TVMS_EDIT_OPEN) {
    begin = token_at(t, edit->other).begin;
    tvms_diag_remark(diags, diag,
                     "it ends with %c, unless one is missing in front of '%.*s'",
                     text[quote], (int)(quote - begin), text + begin);
    tvms_diag_fix(diags, diag, (tvms_span){begin, begin}, false, "%c", text[quote]);
  } else {
    char last = text[place - 1];
    bool other = last != text[quote] && (last == '"' || last == '\'');
    tvms_diag_remark(diags, diag, "it ends with %c", text[quote]);
    tvms_diag_fix(diags, diag, (tvms_span){place - (other && place > quote + 1), place},
                  false, "%c", text[quote]);
  }
}

void tvms_surface_report_edit(surf_parser *p, const tvms_stretch *region,
                              const tvms_edit *edit, tvms_token token) {
  telling t = {p, region, edit, token};
  tvms_token_kind kind = (tvms_token_kind)region->tokens.items[edit->at].kind;
  bool bracket = tvms_token_opens(kind) || tvms_token_shuts(kind);
  switch (edit->way) {
  case TVMS_EDIT_CLOSE:
  case TVMS_EDIT_OPEN:
  case TVMS_EDIT_UNQUOTE: report_string(&t); return;
  case TVMS_EDIT_PAIR: report_pair(&t); return;
  case TVMS_EDIT_SWAP: report_swap(&t); return;
  case TVMS_EDIT_FINISH: report_unclosed(&t); return;
  case TVMS_EDIT_DELETE:
    if (bracket)
      report_extra(&t, tvms_token_opens(kind));
    else
      report_mark(&t);
    return;
  case TVMS_EDIT_REPLACE:
    if (bracket)
      report_mismatch(&t, tvms_token_text(edit->kind));
    else
      report_mark(&t);
    return;
  case TVMS_EDIT_INSERT:
    if (tvms_token_shuts(edit->kind))
      report_unclosed(&t);
    else if (tvms_token_opens(edit->kind))
      report_unopened(&t);
    else
      report_mark(&t);
    return;
  }
}
