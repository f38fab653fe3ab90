// Collecting safe fixes, leaving out those that overlap, and splicing them in.
#include "cli/edit.h"

#include "support/vec.h"

#include <stdlib.h>

typedef TVMS_VEC(const tvms_fix *) fixes;

static bool all_safe(const tvms_diag *diag) {
  for (const tvms_fix *fix = diag->fixes; fix; fix = fix->next) {
    if (!fix->safe) return false;
  }
  return diag->fixes != NULL;
}

// Two insertions at one place overlap too: their order would be a guess.
static bool overlap(tvms_span a, tvms_span b) {
  if (a.begin == a.end && b.begin == b.end) return a.begin == b.begin;
  return a.begin < b.end && b.begin < a.end;
}

// Findings come in order of place, so only the last few fixes can be in the way.
static bool is_free(const fixes *taken, const tvms_diag *diag, uint32_t furthest) {
  for (const tvms_fix *fix = diag->fixes; fix; fix = fix->next) {
    if (fix->span.begin > furthest) continue;
    for (uint32_t i = 0; i < taken->len; i++) {
      if (overlap(taken->items[i]->span, fix->span)) return false;
    }
  }
  return true;
}

static int by_place(const void *a, const void *b) {
  const tvms_fix *left = *(const tvms_fix *const *)a,
                 *right = *(const tvms_fix *const *)b;
  if (left->span.begin != right->span.begin) {
    return left->span.begin < right->span.begin ? -1 : 1;
  }
  return (left->span.end > right->span.end) - (left->span.end < right->span.end);
}

uint32_t tvms_apply_fixes(tvms_run *run, const tvms_source *source, tvms_strbuf *out) {
  tvms_memory *memory = &run->context->memory;
  fixes taken = {0};
  uint32_t mended = 0, furthest = 0;
  for (const tvms_diag *diag = run->context->diags.first; diag; diag = diag->next) {
    if (diag->source != source || !all_safe(diag)) continue;
    if (!is_free(&taken, diag, furthest)) continue;
    for (const tvms_fix *fix = diag->fixes; fix; fix = fix->next) {
      tvms_push(memory, &taken, fix);
      if (fix->span.end > furthest) furthest = fix->span.end;
    }
    mended++;
  }
  if (taken.len) qsort(taken.items, taken.len, sizeof *taken.items, by_place);
  uint32_t at = 0;
  for (uint32_t i = 0; i < taken.len; i++) {
    const tvms_fix *fix = taken.items[i];
    tvms_strbuf_add(out, source->text + at, fix->span.begin - at);
    tvms_strbuf_puts(out, fix->text);
    at = fix->span.end;
  }
  tvms_strbuf_add(out, source->text + at, source->size - at);
  tvms_vec_free(memory, &taken);
  return mended;
}
