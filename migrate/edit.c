// Edits of source text that the files of migration share. They are made of spans of the surface
// tree, so what they do not touch, comments and layout, stays to the byte.
#include "migrate/edit.h"

#include "migrate/internal.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

static const tvms_surf *at(const tvms_migration *migration, tvms_ref ref) {
  return tvms_surface_at(migration->surface, ref);
}

void tvms_migrate_insert(tvms_migration *migration, uint32_t at, const char *text) {
  tvms_edits_replace(&migration->edits, (tvms_span){at, at}, text);
}

const char *tvms_migrate_copy(tvms_migration *migration, tvms_span span) {
  return tvms_arena_text(&migration->arena,
                         migration->surface->source->text + span.begin,
                         span.end - span.begin);
}

void tvms_migrate_refuse(tvms_migration *migration, tvms_ref ref, const char *what) {
  tvms_diag_report(&migration->context->diags, TVMS_D_not_in_dialect,
                   tvms_surface_span(migration->surface, ref),
                   tvms_dialect_text(migration->to), what);
}

const char *tvms_migrate_text_of(tvms_migration *migration, tvms_ref ref) {
  return tvms_migrate_copy(migration, tvms_surface_span(migration->surface, ref));
}

const char *tvms_migrate_words(tvms_migration *migration, const char *a, const char *b,
                               const char *c) {
  size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
  char *text = tvms_arena_alloc(&migration->arena, size);
  snprintf(text, size, "%s%s%s", a, b, c);
  return text;
}

void tvms_migrate_remove_keyword(tvms_migration *migration, tvms_ref call,
                                 tvms_ref keyword) {
  const tvms_surf *node = at(migration, call);
  tvms_ref before = 0;
  tvms_surface_each(migration->surface, arg, node->b) {
    if (arg == keyword) break;
    before = arg;
  }
  tvms_ref after = at(migration, keyword)->next;
  tvms_span span = tvms_surface_span(migration->surface, keyword);
  if (!before && !after)
    span = (tvms_span){at(migration, node->a)->end, node->end};
  else if (before)
    span.begin = at(migration, before)->end;
  else
    span.end = at(migration, after)->begin;
  tvms_edits_replace(&migration->edits, span, "");
}

void tvms_migrate_unwrap(tvms_migration *migration, tvms_ref with, tvms_ref inner,
                         const char *before, const char *after) {
  const tvms_surf *node = at(migration, with);
  const char *text = migration->surface->source->text;
  uint32_t header_end = node->begin;
  tvms_surface_each(migration->surface, item, node->a) {
    header_end = at(migration, item)->end;
  }
  while (text[header_end] != ':') {
    header_end++;
  }
  uint32_t begin = at(migration, inner)->begin, end = at(migration, inner)->end;
  tvms_edits_replace(&migration->edits, (tvms_span){node->begin, begin}, before);
  tvms_edits_replace(&migration->edits, (tvms_span){end, header_end + 1}, after);
  uint32_t columns =
      tvms_source_indent(migration->surface->source, at(migration, node->b)->begin)
      - tvms_source_indent(migration->surface->source, node->begin);
  tvms_edits_unindent(&migration->edits, (tvms_span){header_end + 1, node->end},
                      columns);
}
