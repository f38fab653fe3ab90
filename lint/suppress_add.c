// One edit for each line that gets a comment, with the codes of all findings that it suppresses.
#include "lint/suppress_add.h"

#include "lint/statements.h"
#include "lint/suppress_read.h"
#include "support/diag_ids.h"
#include "support/strbuf.h"
#include "support/trial.h"

#include <stdlib.h>

enum { SYNTAX_BAND = 1, CODES_OF_BAND = 100 };

// A code, and the end of the line that it goes to.
typedef struct {
  uint32_t end;
  tvms_diag_id id;
} wanted;

typedef struct {
  tvms_context *context;
  tvms_source *source;
  tvms_surface surface;
  tvms_lint_statements statements;
  tvms_suppressions found;
  TVMS_VEC(tvms_span) strings;  // of more than one line, in order of place
  TVMS_VEC(wanted) wanted;
} adding;

static int by_place(const void *a, const void *b) {
  const wanted *left = a, *right = b;
  if (left->end != right->end) return left->end < right->end ? -1 : 1;
  return left->id < right->id ? -1 : left->id > right->id;
}

static void collect_strings(adding *a) {
  for (tvms_ref ref = 1; ref < a->surface.count; ref++) {
    const tvms_surf *node = tvms_surface_at(&a->surface, ref);
    if (node->kind != TVMS_SURF_STRING) continue;
    tvms_span span = {node->begin, node->end};
    if (tvms_lint_line_end(a->source, span.begin) < span.end)
      tvms_vec_push(&a->context->memory, &a->strings, span);
  }
}

// Can a comment stand there, at the end of a line?
static bool takes_comment(const adding *a, uint32_t end) {
  if (end > 0 && a->source->text[end - 1] == '\\') return false;
  for (uint32_t i = 0; i < a->strings.len; i++) {
    const tvms_span *string = &a->strings.items[i];
    if (string->begin < end && end < string->end) return false;
  }
  return true;
}

// The end of the text of a line, before what ends the line.
static uint32_t text_end(const adding *a, uint32_t place) {
  uint32_t end = tvms_lint_line_end(a->source, place);
  while (end > place && a->source->text[end - 1] == '\r')
    end--;
  return end;
}

static bool is_wanted(const adding *a, const tvms_diag *diag) {
  bool about_comments =
      diag->id == TVMS_D_unused_suppression || diag->id == TVMS_D_unknown_suppression;
  return diag->source == a->source && diag->severity != TVMS_SEVERITY_NOTE
         && !about_comments
         && tvms_diag_row_of(diag->id)->code / CODES_OF_BAND != SYNTAX_BAND;
}

static void add_wanted(adding *a, const tvms_diag *diag) {
  uint32_t end = text_end(a, diag->span.begin);
  if (!takes_comment(a, end)) {
    tvms_span span = tvms_lint_statements_at(&a->statements, diag->span.begin);
    end = text_end(a, span.end);
    if (span.begin == span.end || !takes_comment(a, end)) return;
  }
  wanted one = {end, diag->id};
  tvms_vec_push(&a->context->memory, &a->wanted, one);
}

// The comment of the line with codes that another one can be added to, or NULL.
static const tvms_suppression *TVMS_NULLABLE list_at(const adding *a, uint32_t end) {
  uint32_t line = tvms_lint_line_begin(a->source, end);
  for (uint32_t i = 0; i < a->found.list.len; i++) {
    const tvms_suppression *s = &a->found.list.items[i];
    if (s->line == line && s->count && !s->own_line && !s->whole_file) return s;
  }
  return NULL;
}

static const char *kept_text(const adding *a, tvms_strbuf *text) {
  return tvms_arena_text(&a->context->arena, tvms_strbuf_text(text), text->len);
}

// Adds the edit of one line, with wanted codes from `first` on; returns where the next
// line's are.
static uint32_t add_line(adding *a, uint32_t first, tvms_edits *edits) {
  uint32_t end = a->wanted.items[first].end, i = first;
  const tvms_suppression *list = list_at(a, end);
  tvms_strbuf text;
  tvms_strbuf_init(&text, &a->context->memory);
  if (!list) tvms_strbuf_puts(&text, "  # noqa:");
  for (; i < a->wanted.len && a->wanted.items[i].end == end; i++) {
    tvms_diag_id id = a->wanted.items[i].id;
    if (i > first && a->wanted.items[i - 1].id == id) continue;
    tvms_strbuf_puts(&text, list || i > first ? ", " : " ");
    tvms_strbuf_puts(&text, tvms_diag_row_of(id)->label);
  }
  uint32_t place = end;
  if (list) place = a->found.codes.items[list->first + list->count - 1].span.end;
  tvms_edits_replace(edits, (tvms_span){place, place}, kept_text(a, &text));
  tvms_strbuf_fini(&text);
  return i;
}

static void parse(adding *a) {
  tvms_diags *diags = &a->context->diags;
  tvms_trial_mute(diags);
  tvms_surface_parse(&a->surface, a->context, a->source);
  tvms_trial_unmute(diags);
  tvms_lint_statements_init(&a->statements, &a->surface);
  tvms_lint_suppressions_read(&a->found, &a->surface);
  collect_strings(a);
}

uint32_t tvms_lint_suppress_all(tvms_context *context, tvms_source *source,
                                tvms_edits *edits) {
  adding a = {.context = context, .source = source};
  parse(&a);
  for (const tvms_diag *diag = context->diags.first; diag; diag = diag->next) {
    if (is_wanted(&a, diag)) add_wanted(&a, diag);
  }
  uint32_t count = a.wanted.len;
  if (count) qsort(a.wanted.items, count, sizeof *a.wanted.items, by_place);
  for (uint32_t i = 0; i < count;)
    i = add_line(&a, i, edits);
  tvms_vec_fini(&context->memory, &a.wanted);
  tvms_vec_fini(&context->memory, &a.strings);
  tvms_lint_suppressions_fini(&a.found);
  tvms_lint_statements_fini(&a.statements);
  tvms_surface_fini(&a.surface);
  return count;
}
