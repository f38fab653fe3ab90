// Which names Python binds around the definitions of a file.
//
// A name belongs to the scope in which a statement binds it, wherever that stands: a function
// that is defined below a definition is a name that the definition may use. So a scope knows
// all its names before its statements are read, as unknown; a name that it does not know
// then is one that nothing binds, which is a mistake. Of statements that the grammar skips
// (try, match, async) every word counts as bound: too many names hide a mistake, too few
// would invent one.
//
// Source of the rules: section 4.2 of Python's reference, "Naming and binding".
#define _GNU_SOURCE  // memmem
#include "parser/python_names.h"

#include "parser/eval/scope.h"
#include "parser/file_state.h"
#include "parser/python_module.h"

#include <ctype.h>
#include <string.h>

// `again`: what they were bound to before is forgotten. Without a reader nothing is bound, and only
// the name that is asked for is looked for.
typedef struct {
  const tvms_surface *surface;
  tvms_reader *TVMS_NULLABLE reader;
  bool again;
  tvms_eval_value unknown;
  tvms_sym asked;
  bool *TVMS_NULLABLE found;
} binder;

static void bind(const binder *b, tvms_sym name, tvms_span span) {
  if (!b->reader)
    *b->found = *b->found || name == b->asked;
  else if (b->again || !tvms_scope_binds_here(b->reader, name))
    tvms_scope_bind(b->reader, name, b->unknown, span);
}

// Attributes and items are nobody's names.
static void bind_target(const binder *b, tvms_ref target) {
  const tvms_surf node = *tvms_surface_at(b->surface, target);
  switch ((int)node.kind) {
  case TVMS_SURF_NAME: bind(b, node.a, tvms_surface_span(b->surface, target)); return;
  case TVMS_SURF_STAR: bind_target(b, node.a); return;
  case TVMS_SURF_TUPLE:
  case TVMS_SURF_LIST: {
    tvms_surface_each(b->surface, part, node.a) bind_target(b, part);
    return;
  }
  default: return;
  }
}

static void bind_import(const binder *b, const tvms_surf *import) {
  tvms_context *context = b->surface->context;
  bool from = import->kind == TVMS_SURF_IMPORT_FROM;
  if (b->reader && from && !import->b) b->reader->open = true;
  tvms_surface_each(b->surface, ref, from ? import->b : import->a) {
    const tvms_surf *alias = tvms_surface_at(b->surface, ref);
    tvms_sym name = alias->b ? alias->b : alias->a;
    tvms_sym meant = from ? tvms_python_module_item(context, import->a, name) : name;
    if (!alias->b && meant != name) bind(b, meant, tvms_surface_span(b->surface, ref));
    if (!from && !alias->b) {
      name = tvms_python_module_mended(context, name);
      const char *path = tvms_symbol_text(context, name);
      name = tvms_symbol_intern(context, path, strcspn(path, "."));
    }
    bind(b, name, tvms_surface_span(b->surface, ref));
  }
}

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

// Whether one of the words of a place is the name that is looked for. What a dot or an `@` stands
// at is mentioned, not bound.
static bool has_word(const binder *b, tvms_span span) {
  const char *text = b->surface->source->text;
  const char *name = tvms_symbol_text(b->surface->context, b->asked);
  size_t len = strlen(name);
  const char *at = text + span.begin, *end = text + span.end;
  while ((at = memmem(at, (size_t)(end - at), name, len))) {
    char before = at > text ? at[-1] : ' ', behind = at[len];
    if (!is_word(before) && !strchr(".@", before) && !is_word(behind) && behind != '.')
      return true;
    at += len;
  }
  return false;
}

// The words of a statement that the grammar skips, up to the statements below it.
static void bind_skipped(const binder *b, tvms_ref ref, const tvms_surf *stmt) {
  tvms_span span = tvms_surface_span(b->surface, ref);
  if (stmt->a) span.end = tvms_surface_at(b->surface, stmt->a)->begin;
  if (b->reader)
    tvms_scope_bind_words(b->reader, span);
  else
    *b->found = *b->found || has_word(b, span);
}

// What the statement itself binds, without those below it.
static void bind_own(const binder *b, tvms_ref ref) {
  const tvms_surf stmt = *tvms_surface_at(b->surface, ref);
  switch ((int)stmt.kind) {
  case TVMS_SURF_DEF:
  case TVMS_SURF_CLASS: {
    tvms_surf_definition def = tvms_surface_define(b->surface, ref);
    bind(b, def.name, def.name_span);
    return;
  }
  case TVMS_SURF_IMPORT:
  case TVMS_SURF_IMPORT_FROM: bind_import(b, &stmt); return;
  case TVMS_SURF_ASSIGN:
  case TVMS_SURF_DELETE: {
    tvms_surface_each(b->surface, target, stmt.a) bind_target(b, target);
    return;
  }
  case TVMS_SURF_ANN_ASSIGN:
  case TVMS_SURF_AUG_ASSIGN:
  case TVMS_SURF_FOR: bind_target(b, stmt.a); return;
  case TVMS_SURF_WITH: {
    tvms_surface_each(b->surface, item, stmt.a) {
      tvms_ref target = tvms_surface_at(b->surface, item)->b;
      if (target) bind_target(b, target);
    }
    return;
  }
  case TVMS_SURF_ERROR:
  case TVMS_SURF_UNSUPPORTED: bind_skipped(b, ref, &stmt); return;
  default: return;
  }
}

static void bind_body(const binder *b, tvms_ref body);

static void bind_stmt(const binder *b, tvms_ref ref) {
  bind_own(b, ref);
  tvms_surf_kind kind = (tvms_surf_kind)tvms_surface_at(b->surface, ref)->kind;
  if (kind == TVMS_SURF_DEF || kind == TVMS_SURF_CLASS) return;
  tvms_ref bodies[2];
  tvms_surface_bodies(b->surface, ref, bodies);
  bind_body(b, bodies[0]);
  bind_body(b, bodies[1]);
}

static void bind_body(const binder *b, tvms_ref body) {
  tvms_memory *memory = &b->surface->context->memory;
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  tvms_surface_each(b->surface, ref, body) bind_stmt(b, ref);
  tvms_memory_leave(memory);
}

tvms_eval_value tvms_python_names_unknown(const tvms_reader *reader) {
  return tvms_file_of(reader)->nested ? TVMS_UNKNOWN : TVMS_UNKNOWN_OF_PYTHON;
}

static binder binder_of(tvms_reader *reader, bool again) {
  return (binder){.surface = reader->surface,
                  .reader = reader,
                  .again = again,
                  .unknown = tvms_python_names_unknown(reader)};
}

void tvms_python_names_bind_target(tvms_reader *reader, tvms_ref target) {
  binder b = binder_of(reader, false);
  bind_target(&b, target);
}

void tvms_python_names_bind(tvms_reader *reader, tvms_ref body) {
  binder b = binder_of(reader, false);
  bind_body(&b, body);
}

void tvms_python_names_forget(tvms_reader *reader, tvms_ref body) {
  binder b = binder_of(reader, true);
  bind_body(&b, body);
}

static bool binds_anything(tvms_sym name) {
  return name == TVMS_SYM_exec || name == TVMS_SYM_globals;
}

// `from __future__ import annotations`.
static bool postpones(const tvms_reader *reader, const tvms_surf *import) {
  if (strcmp(tvms_symbol_text(reader->context, import->a), "__future__") != 0)
    return false;
  tvms_surface_each(reader->surface, ref, import->b) {
    const tvms_surf *alias = tvms_reader_at(reader, ref);
    if (strcmp(tvms_symbol_text(reader->context, alias->a), "annotations") == 0)
      return true;
  }
  return false;
}

void tvms_python_names_bind_file(tvms_reader *reader) {
  binder b = binder_of(reader, false);
  bind_body(&b, reader->surface->body);
  for (tvms_ref ref = 1; ref < reader->surface->count; ref++) {
    const tvms_surf *node = tvms_reader_at(reader, ref);
    if (node->kind == TVMS_SURF_WALRUS) {
      bind_target(&b, node->a);
    } else if (node->kind == TVMS_SURF_GLOBAL) {
      tvms_surface_each(reader->surface, name, node->a) bind_target(&b, name);
    } else if (node->kind == TVMS_SURF_NAME && binds_anything(node->a)) {
      reader->open = true;
    } else if (node->kind == TVMS_SURF_IMPORT_FROM && !node->b) {
      reader->open = true;
    } else if (node->kind == TVMS_SURF_IMPORT_FROM) {
      reader->postponed = reader->postponed || postpones(reader, node);
    }
  }
}

bool tvms_python_names_has(const tvms_surface *surface, tvms_sym name) {
  bool found = false;
  binder b = {.surface = surface, .asked = name, .found = &found};
  for (tvms_ref ref = 1; ref < surface->count && !found; ref++) {
    const tvms_surf *node = tvms_surface_at(surface, ref);
    switch ((int)node->kind) {
    case TVMS_SURF_PARAM: found = node->a == name; break;
    case TVMS_SURF_WALRUS:
    case TVMS_SURF_COMP_FOR: bind_target(&b, node->a); break;
    default: bind_own(&b, ref);
    }
  }
  return found;
}
