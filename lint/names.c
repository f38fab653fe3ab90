// Names that hide others, and names that are not written as names of their kind are.
//
// A name is hidden where a loop, an axis or a parameter of an inner function binds it again while
// the loop or the function that has bound it is open. To give a variable of Relax a new value under
// its old name is a habit and no finding. Functions of Python are Python's own.
#include "lint/names.h"

#include "support/diag_ids.h"
#include "support/vec.h"

#include <ctype.h>
#include <string.h>

// A name that is bound, by a parameter or a loop.
typedef struct {
  tvms_sym name;
  tvms_span span;
  bool loop;
} bound;

typedef struct {
  tvms_lint *lint;
  const tvms_surface *surface;
  TVMS_VEC(bound) open;
} search;

// ---- Style ----

// lower_case, with digits and underscores.
static bool is_lower(const char *text) {
  for (; *text; text++) {
    if (isupper((unsigned char)*text)) return false;
  }
  return true;
}

// CapWords.
static bool is_capital(const char *text) {
  text += strspn(text, "_");
  return isupper((unsigned char)*text) && !strchr(text, '_');
}

static void check_style(const search *s, const tvms_surf_definition *definition,
                        bool class) {
  const char *name = tvms_symbol_text(s->lint->context, definition->name);
  if (class ? is_capital(name) : is_lower(name)) return;
  tvms_diag_report(&s->lint->context->diags, TVMS_D_name_style, definition->name_span,
                   class ? "class" : "function", name,
                   class ? "CapWords" : "lower_case");
}

// ---- Shadows ----

static void check_bound(search *s, tvms_sym name, tvms_span span, bool only_loops) {
  const char *text = tvms_symbol_text(s->lint->context, name);
  if (text[0] == '_') return;
  for (uint32_t i = s->open.len; i-- > 0;) {
    const bound *outer = &s->open.items[i];
    if (outer->name != name || (only_loops && !outer->loop)) continue;
    tvms_diags *diags = &s->lint->context->diags;
    tvms_diag *diag = tvms_diag_report(diags, TVMS_D_shadowed_name, span, text);
    tvms_diag_note(diags, diag, outer->span, "the outer '%s' is bound here", text);
    return;
  }
}

static void bind(search *s, tvms_sym name, tvms_span span, bool loop) {
  check_bound(s, name, span, false);
  bound added = {name, span, loop};
  tvms_vec_push(&s->lint->context->memory, &s->open, added);
}

// Each name of a target: one, or several in a tuple or a list.
static void bind_target(search *s, tvms_ref ref, bool loop) {
  const tvms_surf *node = tvms_surface_at(s->surface, ref);
  if (node->kind == TVMS_SURF_NAME) {
    tvms_span span = {node->begin, node->end};
    if (loop)
      bind(s, node->a, span, true);
    else
      check_bound(s, node->a, span, true);
  } else if (node->kind == TVMS_SURF_TUPLE || node->kind == TVMS_SURF_LIST) {
    tvms_surface_each(s->surface, item, node->a) {
      bind_target(s, item, loop);
    }
  }
}

static void visit_list(search *s, tvms_ref list);

static bool is_python(const search *s, const tvms_surf_definition *definition) {
  tvms_surface_each(s->surface, ref, definition->decorators) {
    const tvms_surf *node = tvms_surface_at(s->surface, ref);
    if (node->kind == TVMS_SURF_CALL) node = tvms_surface_at(s->surface, node->a);
    tvms_sym name = node->kind == TVMS_SURF_ATTRIBUTE ? node->b
                    : node->kind == TVMS_SURF_NAME    ? node->a
                                                      : 0;
    if (!name) continue;
    if (strcmp(tvms_symbol_text(s->lint->context, name), "pyfunc") == 0) return true;
  }
  return false;
}

static void visit_definition(search *s, tvms_ref ref) {
  tvms_surf_definition definition = tvms_surface_define(s->surface, ref);
  bool class = tvms_surface_at(s->surface, ref)->kind == TVMS_SURF_CLASS;
  if (is_python(s, &definition)) return;
  if (tvms_lint_wants(s->lint, TVMS_D_name_style)) check_style(s, &definition, class);
  uint32_t open = s->open.len;
  tvms_surface_each(s->surface, param, class ? 0 : definition.params) {
    const tvms_surf *node = tvms_surface_at(s->surface, param);
    if (node->a) bind(s, node->a, (tvms_span){node->begin, node->end}, false);
  }
  visit_list(s, definition.body);
  s->open.len = open;
}

static void visit_statement(search *s, tvms_ref ref) {
  const tvms_surf *stmt = tvms_surface_at(s->surface, ref);
  uint32_t open = s->open.len;
  tvms_ref bodies[2];
  switch ((int)stmt->kind) {
  case TVMS_SURF_DEF:
  case TVMS_SURF_CLASS: visit_definition(s, ref); return;
  case TVMS_SURF_ASSIGN:
    tvms_surface_each(s->surface, target, stmt->a) {
      bind_target(s, target, false);
    }
    return;
  case TVMS_SURF_ANN_ASSIGN: bind_target(s, stmt->a, false); return;
  case TVMS_SURF_FOR: bind_target(s, stmt->a, true); break;
  default: break;
  }
  tvms_surface_bodies(s->surface, ref, bodies);
  visit_list(s, bodies[0]);
  visit_list(s, bodies[1]);
  s->open.len = open;
}

static void visit_list(search *s, tvms_ref list) {
  tvms_surface_each(s->surface, ref, list) {
    visit_statement(s, ref);
  }
}

void tvms_lint_names(tvms_lint *lint) {
  search s = {.lint = lint, .surface = lint->surface};
  visit_definition(&s, lint->definition);
  tvms_vec_fini(&lint->context->memory, &s.open);
}
