// Taking findings out of the list, and saying which comments were for nothing.
//
// A comment may be for nothing only because its rule did not run: the rule is off, the definition
// around it has an error or waits for Python. Nothing is said of those, nor in Python files of
// what may be meant for another tool.
#include "lint/suppress.h"

#include "lint/rules.h"
#include "lint/statements.h"
#include "lint/suppress_read.h"
#include "support/diag_ids.h"
#include "support/strbuf.h"

#include <string.h>

typedef struct {
  tvms_lint *lint;
  tvms_suppressions found;
  tvms_lint_statements statements;
} suppressing;

// ---- Which comment suppresses what ----

enum { SYNTAX_BAND = 1, CODES_OF_BAND = 100 };

static bool is_error(tvms_diag_id id) {
  return tvms_diag_row_of(id)->severity == TVMS_SEVERITY_ERROR;
}

// Whether the comment names the row; notes that it was useful.
static bool covers(suppressing *s, tvms_suppression *suppression, tvms_diag_id id) {
  if (tvms_diag_row_of(id)->code / CODES_OF_BAND == SYNTAX_BAND) return false;
  for (uint32_t i = 0; i < suppression->count; i++) {
    tvms_suppressed_code *code = &s->found.codes.items[suppression->first + i];
    if (!code->known || code->id != id) continue;
    code->used = true;
    return true;
  }
  if (suppression->count || is_error(id)) return false;
  suppression->used = true;
  return true;
}

// The number of the first comment at or behind the line that begins there.
static uint32_t first_from(const tvms_suppressions *found, uint32_t line) {
  uint32_t low = 0, high = found->list.len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (found->list.items[middle].line < line)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool line_covers(suppressing *s, uint32_t line, tvms_diag_id id) {
  bool covered = false;
  for (uint32_t i = first_from(&s->found, line); i < s->found.list.len; i++) {
    tvms_suppression *suppression = &s->found.list.items[i];
    if (suppression->line != line) break;
    bool here = !suppression->own_line && !suppression->whole_file;
    covered = (here && covers(s, suppression, id)) || covered;
  }
  return covered;
}

static bool file_covers(suppressing *s, tvms_diag_id id) {
  bool covered = false;
  for (uint32_t i = 0; i < s->found.list.len; i++) {
    tvms_suppression *suppression = &s->found.list.items[i];
    bool here = suppression->own_line && suppression->whole_file;
    covered = (here && covers(s, suppression, id)) || covered;
  }
  return covered;
}

static bool is_kept(void *self, const tvms_diag *diag) {
  suppressing *s = self;
  const tvms_source *source = s->found.surface->source;
  if (diag->source != source) return true;
  uint32_t own = tvms_lint_line_begin(source, diag->span.begin);
  tvms_span statement = tvms_lint_statements_at(&s->statements, diag->span.begin);
  uint32_t first = tvms_lint_line_begin(source, statement.begin);
  uint32_t last = tvms_lint_line_begin(source, statement.end);
  bool covered = line_covers(s, own, diag->id);
  if (first != own) covered = line_covers(s, first, diag->id) || covered;
  if (last != own && last != first) covered = line_covers(s, last, diag->id) || covered;
  return !(file_covers(s, diag->id) || covered);
}

// ---- Comments that are for nothing ----

static bool was_looked_at(const suppressing *s, const tvms_suppression *suppression) {
  const tvms_lint *lint = s->lint;
  if (suppression->whole_file) return !lint->unseen.len && !lint->failed;
  for (uint32_t i = 0; i < lint->unseen.len; i++) {
    tvms_span span = lint->unseen.items[i];
    uint32_t begin = tvms_lint_line_begin(s->found.surface->source, span.begin);
    uint32_t end = tvms_lint_line_end(s->found.surface->source, span.end);
    if (suppression->span.begin >= begin && suppression->span.begin < end) return false;
  }
  return true;
}

// Whether its finding would have been reported if it was there.
static bool was_looked_for(const suppressing *s, tvms_diag_id id) {
  const tvms_lint_rule *rule = tvms_lint_rule_of(id);
  if (!tvms_lint_wants(s->lint, id)) return false;
  if (rule && rule->looks_at == TVMS_LINT_FILE) return !s->lint->failed;
  return rule || is_error(id);
}

static bool is_for_nothing(const suppressing *s, const tvms_suppression *suppression,
                           const tvms_suppressed_code *code) {
  bool python = tvms_source_is_python(s->found.surface->source);
  if (!code->known || code->used) return false;
  if (python && !suppression->ours && !tvms_lint_rule_of(code->id)) return false;
  return was_looked_for(s, code->id);
}

// Takes the comment out, with its line if nothing else stands there. What follows in the comment
// stays one.
static void add_fix(suppressing *s, const tvms_suppression *suppression,
                    tvms_diag *diag) {
  const tvms_source *source = s->found.surface->source;
  const char *text = source->text, *left = "";
  tvms_span span = suppression->span;
  uint32_t rest = span.end;
  while (rest < suppression->comment_end && text[rest] == ' ')
    rest++;
  if (rest < suppression->comment_end) {
    if (text[rest] == '#')
      span.end = rest;
    else
      left = "#";
  } else if (suppression->only && suppression->own_line) {
    uint32_t end = tvms_lint_line_end(source, span.end);
    span = (tvms_span){suppression->line, end + (end < source->size)};
  } else {
    while (span.begin > 0 && strchr(" \t", text[span.begin - 1]))
      span.begin--;
  }
  tvms_diag_fix(&s->lint->context->diags, diag, span, true, "%s", left);
}

// Leaves the codes that are of use.
static void add_fixes_of_codes(suppressing *s, const tvms_suppression *suppression,
                               tvms_diag *diag) {
  const tvms_suppressed_code *codes = &s->found.codes.items[suppression->first];
  tvms_strbuf kept;
  tvms_strbuf_init(&kept, &s->lint->context->memory);
  for (uint32_t i = 0; i < suppression->count; i++) {
    if (is_for_nothing(s, suppression, &codes[i])) continue;
    if (kept.len) tvms_strbuf_puts(&kept, ", ");
    tvms_span span = codes[i].span;
    tvms_strbuf_add(&kept, s->found.surface->source->text + span.begin,
                    span.end - span.begin);
  }
  tvms_span all = {codes[0].span.begin, codes[suppression->count - 1].span.end};
  tvms_diag_fix(&s->lint->context->diags, diag, all, true, "%s",
                tvms_strbuf_text(&kept));
  tvms_strbuf_fini(&kept);
}

// Reports the codes of one comment that suppress nothing, if there are any.
static void report_codes(suppressing *s, const tvms_suppression *suppression) {
  tvms_strbuf names;
  tvms_strbuf_init(&names, &s->lint->context->memory);
  uint32_t count = 0;
  for (uint32_t i = 0; i < suppression->count; i++) {
    const tvms_suppressed_code *code = &s->found.codes.items[suppression->first + i];
    if (!is_for_nothing(s, suppression, code)) continue;
    tvms_strbuf_puts(&names, count++ ? ", " : " of ");
    tvms_strbuf_puts(&names, tvms_diag_row_of(code->id)->label);
  }
  if (count) {
    tvms_diag *diag =
        tvms_diag_report(&s->lint->context->diags, TVMS_D_unused_suppression,
                         suppression->span, tvms_strbuf_text(&names));
    if (count == suppression->count)
      add_fix(s, suppression, diag);
    else
      add_fixes_of_codes(s, suppression, diag);
  }
  tvms_strbuf_fini(&names);
}

static bool names(const suppressing *s, const tvms_suppression *suppression,
                  tvms_diag_id id) {
  for (uint32_t i = 0; i < suppression->count; i++) {
    const tvms_suppressed_code *code = &s->found.codes.items[suppression->first + i];
    if (code->known && code->id == id) return true;
  }
  return false;
}

static void report_unused(suppressing *s, const tvms_suppression *suppression) {
  bool python = tvms_source_is_python(s->found.surface->source);
  if (!was_looked_at(s, suppression)) return;
  if (names(s, suppression, TVMS_D_unused_suppression)) return;
  if (suppression->count) {
    report_codes(s, suppression);
    return;
  }
  if (suppression->used || (python && !suppression->ours)) return;
  tvms_diag *diag = tvms_diag_report(&s->lint->context->diags,
                                     TVMS_D_unused_suppression, suppression->span, "");
  add_fix(s, suppression, diag);
}

static void report_unknown(suppressing *s, const tvms_suppression *suppression) {
  if (!suppression->ours) return;  // it may be a code of another tool
  for (uint32_t i = 0; i < suppression->count; i++) {
    const tvms_suppressed_code *code = &s->found.codes.items[suppression->first + i];
    if (code->known) continue;
    const char *text = s->found.surface->source->text + code->span.begin;
    tvms_diag_report(&s->lint->context->diags, TVMS_D_unknown_suppression, code->span,
                     (int)(code->span.end - code->span.begin), text);
  }
}

void tvms_lint_suppress(tvms_lint *lint) {
  suppressing s = {.lint = lint};
  tvms_lint_suppressions_read(&s.found, lint->surface);
  if (s.found.list.len) {
    tvms_lint_statements_init(&s.statements, lint->surface);
    tvms_diags_keep_if(&lint->context->diags, is_kept, &s);
    for (uint32_t i = 0; i < s.found.list.len && lint->seen; i++) {
      report_unused(&s, &s.found.list.items[i]);
      report_unknown(&s, &s.found.list.items[i]);
    }
    tvms_lint_statements_fini(&s.statements);
  }
  tvms_lint_suppressions_fini(&s.found);
}
