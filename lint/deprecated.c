// Spellings that the release of the file reads with a warning: the DEPRECATED rows of
// ir/dialect.def.
#include "lint/deprecated.h"

#include "ir/dialect.h"
#include "support/diag_ids.h"
#include "support/names.h"
#include "support/vec.h"

#include <string.h>

typedef enum { ANY, INDEXED } form;
typedef enum { ALWAYS, TEXT, NEVER } fixing;

#define SPELLED_ANY     ""
#define SPELLED_INDEXED "[...]"

static const struct {
  const char *name;
  const char *spelled;
  form form;
  const char *instead;
  tvms_release_fact releases;
  fixing fix;
} rows[] = {
#define SPELLING(where, older, newer, since)
#define DEPRECATED(name, form, instead, since, until, fix)                             \
  {#name,                                                                              \
   "T." #name SPELLED_##form,                                                          \
   form,                                                                               \
   instead,                                                                            \
   (tvms_release_fact)(TVMS_DIALECT_##since << 4 | TVMS_DIALECT_##until),              \
   fix},
#include "ir/dialect.def"
};

// A node, and what it is a part of.
typedef struct {
  tvms_ref ref;
  tvms_ref parent;
} place;

typedef struct {
  tvms_lint *lint;
  const tvms_surface *surface;
  TVMS_VEC(place) todo;
} search;

static bool is_called_with_text(const search *s, place at) {
  const tvms_surf *call = tvms_surface_at(s->surface, at.parent);
  return call->kind == TVMS_SURF_CALL && call->a == at.ref && call->b
         && tvms_surface_at(s->surface, call->b)->kind == TVMS_SURF_STRING;
}

static bool is_indexed(const search *s, place at) {
  const tvms_surf *parent = tvms_surface_at(s->surface, at.parent);
  return parent->kind == TVMS_SURF_SUBSCRIPT && parent->a == at.ref;
}

static void report(const search *s, place at, size_t row, uint32_t len) {
  tvms_diags *diags = &s->lint->context->diags;
  tvms_span span = tvms_surface_span(s->surface, at.ref);
  tvms_diag *diag =
      tvms_diag_report(diags, TVMS_D_deprecated_spelling, span, rows[row].spelled);
  tvms_diag_remark(diags, diag, "write %s", rows[row].instead);
  bool fixes =
      rows[row].fix == ALWAYS || (rows[row].fix == TEXT && is_called_with_text(s, at));
  if (fixes && span.end - span.begin == 2 + len)
    tvms_diag_fix(diags, diag, span, true, "%s", rows[row].instead);
}

// An attribute of T.
static void check(const search *s, place at) {
  const tvms_surf *node = tvms_surface_at(s->surface, at.ref);
  const tvms_surf *root = tvms_surface_at(s->surface, node->a);
  if (root->kind != TVMS_SURF_NAME || root->a != TVMS_SYM_T) return;
  const char *name = tvms_symbol_text(s->lint->context, node->b);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (strcmp(rows[i].name, name) != 0) continue;
    if (!tvms_release_has(s->lint->module->dialect, rows[i].releases)) continue;
    if (rows[i].form == ANY || is_indexed(s, at))
      report(s, at, i, (uint32_t)strlen(name));
  }
}

static void push_list(search *s, tvms_ref list, tvms_ref parent) {
  tvms_surface_each(s->surface, ref, list) {
    tvms_vec_push(&s->lint->context->memory, &s->todo, ((place){ref, parent}));
  }
}

void tvms_lint_deprecated(tvms_lint *lint) {
  search s = {.lint = lint, .surface = lint->surface};
  tvms_vec_push(&lint->context->memory, &s.todo, ((place){lint->definition, 0}));
  while (s.todo.len) {
    place at = s.todo.items[--s.todo.len];
    const tvms_surf *node = tvms_surface_at(s.surface, at.ref);
    if (node->kind == TVMS_SURF_ATTRIBUTE) check(&s, at);
    uint8_t refs = tvms_surface_refs((tvms_surf_kind)node->kind);
    if (refs & TVMS_SURF_IN_A) push_list(&s, node->a, at.ref);
    if (refs & TVMS_SURF_IN_B) push_list(&s, node->b, at.ref);
    if (refs & TVMS_SURF_IN_C) push_list(&s, node->c, at.ref);
  }
  tvms_vec_fini(&lint->context->memory, &s.todo);
}
