// Imports that the file does not use.
//
// Only of .tvms files: in Python an import may be there for others, and other linters look at
// it. A name is used wherever it stands, so one that is bound twice counts as used.
#include "lint/imports.h"

#include "support/diag_ids.h"

#include <string.h>

typedef struct {
  tvms_lint *lint;
  const tvms_surface *surface;
  TVMS_VEC(tvms_sym) used;
} search;

static bool is_used(const search *s, tvms_sym name) {
  for (uint32_t i = 0; i < s->used.len; i++) {
    if (s->used.items[i] == name) return true;
  }
  return false;
}

// The names that begin attributes or stand alone; few different ones matter, but all are
// collected only as far as the imports go.
static void collect_used(search *s, const tvms_sym *imported, uint32_t count) {
  for (tvms_ref ref = 1; ref < s->surface->count && s->used.len < count; ref++) {
    const tvms_surf *node = tvms_surface_at(s->surface, ref);
    if (node->kind != TVMS_SURF_NAME || is_used(s, node->a)) continue;
    for (uint32_t i = 0; i < count; i++) {
      if (imported[i] != node->a) continue;
      tvms_vec_push(&s->lint->context->memory, &s->used, node->a);
      break;
    }
  }
}

// The name that an alias binds: of `import tvm.script` the first part.
static tvms_sym bound_name(const search *s, const tvms_surf *alias) {
  if (alias->b) return alias->b;
  const char *text = tvms_symbol_text(s->lint->context, alias->a);
  return tvms_symbol_intern(s->lint->context, text, strcspn(text, "."));
}

// The bytes that go with an alias: its line if it is the only one, else a comma with it.
static tvms_span span_to_remove(const search *s, const tvms_surf *stmt,
                                tvms_ref alias) {
  const tvms_surface *surface = s->surface;
  const tvms_surf *node = tvms_surface_at(surface, alias);
  tvms_ref first = stmt->kind == TVMS_SURF_IMPORT ? stmt->a : stmt->b;
  if (node->next)
    return (tvms_span){node->begin, tvms_surface_at(surface, node->next)->begin};
  if (first == alias) {
    uint32_t end = stmt->end;
    const char *text = surface->source->text;
    end += (uint32_t)strspn(text + end, " \t\r");
    bool alone = text[end] == '\n';
    return (tvms_span){stmt->begin, alone ? end + 1 : stmt->end};
  }
  tvms_ref before = first;
  while (tvms_surface_at(surface, before)->next != alias) {
    before = tvms_surface_at(surface, before)->next;
  }
  return (tvms_span){tvms_surface_at(surface, before)->end, node->end};
}

static tvms_ref aliases_of(const tvms_surf *stmt) {
  if (stmt->kind == TVMS_SURF_IMPORT) return stmt->a;
  return stmt->kind == TVMS_SURF_IMPORT_FROM ? stmt->b : 0;
}

static void check_statement(const search *s, const tvms_surf *stmt) {
  tvms_diags *diags = &s->lint->context->diags;
  tvms_surface_each(s->surface, alias, aliases_of(stmt)) {
    const tvms_surf *node = tvms_surface_at(s->surface, alias);
    tvms_sym name = bound_name(s, node);
    if (is_used(s, name)) continue;
    tvms_diag *diag = tvms_diag_report(diags, TVMS_D_unused_import,
                                       (tvms_span){node->begin, node->end},
                                       tvms_symbol_text(s->lint->context, name));
    tvms_diag_fix(diags, diag, span_to_remove(s, stmt, alias), true, "%s", "");
  }
}

void tvms_lint_imports(tvms_lint *lint) {
  const tvms_surface *surface = lint->surface;
  if (tvms_source_is_python(surface->source)) return;
  tvms_memory *memory = &lint->context->memory;
  search s = {.lint = lint, .surface = surface};
  TVMS_VEC(tvms_sym) imported = {0};
  tvms_surface_each(surface, ref, surface->body) {
    tvms_surface_each(surface, alias, aliases_of(tvms_surface_at(surface, ref))) {
      tvms_vec_push(memory, &imported, bound_name(&s, tvms_surface_at(surface, alias)));
    }
  }
  collect_used(&s, imported.items, imported.len);
  tvms_surface_each(surface, ref, surface->body) {
    check_statement(&s, tvms_surface_at(surface, ref));
  }
  tvms_vec_fini(memory, &imported);
  tvms_vec_fini(memory, &s.used);
}
