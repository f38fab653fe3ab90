// Edits of a source: a list that is sorted when it is applied. One walk over the sorted list
// copies what stands between edits; the rules for two that meet (edits.h) are decided there, by
// looking at the edit before.
#include "support/edits.h"

#include <stdlib.h>
#include <string.h>

void tvms_edits_init(tvms_edits *edits, tvms_memory *memory,
                     const tvms_source *source) {
  *edits = (tvms_edits){.source = source, .memory = memory};
}

void tvms_edits_fini(tvms_edits *edits) {
  tvms_vec_fini(edits->memory, &edits->list);
}

// ---- What is added ----

static void add(tvms_edits *edits, tvms_edit edit) {
  edit.order = edits->list.len;
  if (edit.span.end > edits->furthest) edits->furthest = edit.span.end;
  tvms_vec_push(edits->memory, &edits->list, edit);
}

void tvms_edits_replace(tvms_edits *edits, tvms_span span, const char *text) {
  add(edits, (tvms_edit){.span = span, .text = text});
}

void tvms_edits_remove_line(tvms_edits *edits, tvms_span span) {
  const char *text = edits->source->text;
  span.end += (uint32_t)strspn(text + span.end, " ");
  uint32_t end = span.end + (text[span.end] == '\r');
  if (text[end] == '\n') {
    span.begin -= tvms_source_indent(edits->source, span.begin);
    span.end = end + 1;
  }
  tvms_edits_replace(edits, span, "");
}

// The end of at most `count` blanks at `at`.
static uint32_t skip_blanks(const tvms_source *source, uint32_t at, uint32_t count) {
  while (count && at < source->size
         && (source->text[at] == ' ' || source->text[at] == '\t')) {
    count--;
    at++;
  }
  return at;
}

void tvms_edits_unindent(tvms_edits *edits, tvms_span span, uint32_t columns) {
  const tvms_source *source = edits->source;
  for (uint32_t at = span.begin; at < span.end; at++) {
    if (at > 0 && source->text[at - 1] != '\n') continue;
    tvms_span blanks = {at, skip_blanks(source, at, columns)};
    if (blanks.end == at) continue;
    add(edits, (tvms_edit){.span = blanks, .text = "", .unindents = true});
  }
}

// ---- Fix-its ----

static bool touch(tvms_span a, tvms_span b) {
  if (a.begin == a.end && b.begin == b.end) return a.begin == b.begin;
  return a.begin < b.end && b.begin < a.end;
}

// Fixes are added in order of place, so only the last few edits can be in the way.
static bool are_free(const tvms_edits *edits, const tvms_fix *fixes) {
  for (const tvms_fix *fix = fixes; fix; fix = fix->next) {
    if (fix->span.begin > edits->furthest) continue;
    for (uint32_t i = 0; i < edits->list.len; i++) {
      if (touch(edits->list.items[i].span, fix->span)) return false;
    }
  }
  return true;
}

static bool are_safe(const tvms_fix *fixes) {
  for (const tvms_fix *fix = fixes; fix; fix = fix->next) {
    if (!fix->safe) return false;
  }
  return true;
}

uint32_t tvms_edits_add_fixes(tvms_edits *edits, const tvms_diags *diags, bool unsafe) {
  uint32_t mended = 0;
  for (const tvms_diag *diag = diags->first; diag; diag = diag->next) {
    if (diag->source != edits->source || !diag->fixes) continue;
    if (!unsafe && !are_safe(diag->fixes)) continue;
    if (!are_free(edits, diag->fixes)) continue;
    for (const tvms_fix *fix = diag->fixes; fix; fix = fix->next) {
      tvms_edits_replace(edits, fix->span, fix->text);
    }
    mended++;
  }
  return mended;
}

// ---- The text ----

static int by_place(const void *a, const void *b) {
  const tvms_edit *left = a, *right = b;
  if (left->span.begin != right->span.begin) {
    return left->span.begin < right->span.begin ? -1 : 1;
  }
  if (left->span.end != right->span.end)
    return left->span.end < right->span.end ? -1 : 1;
  return left->order < right->order ? -1 : 1;
}

void tvms_edits_apply(tvms_edits *edits, tvms_strbuf *out) {
  const tvms_source *source = edits->source;
  if (edits->list.len) {
    qsort(edits->list.items, edits->list.len, sizeof(tvms_edit), by_place);
  }
  uint32_t at = 0;  // what stands before it in the source is dealt with
  const tvms_edit *before = NULL;
  for (uint32_t i = 0; i < edits->list.len; before = &edits->list.items[i++]) {
    const tvms_edit *edit = &edits->list.items[i];
    bool unindented =
        before && before->unindents && before->span.begin == edit->span.begin;
    if (unindented && edit->unindents) {
      at = skip_blanks(source, at, edit->span.end - edit->span.begin);
      continue;
    }
    if (edit->span.begin < at && !unindented) continue;
    if (at < edit->span.begin)
      tvms_strbuf_add(out, source->text + at, edit->span.begin - at);
    tvms_strbuf_puts(out, edit->text);
    if (edit->span.end > at) at = edit->span.end;
  }
  tvms_strbuf_add(out, source->text + at, source->size - at);
}
