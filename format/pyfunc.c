// Functions of Python in a module.
//
// A member under `@I.pyfunc` is code that Python runs, and may be written in all of Python.
// The grammar knows a part of that and skips the rest, with a finding and an UNSUPPORTED node.
// It is not TVMScript, so its lines are kept:
//
//   @I.pyfunc
//   def load(self, path):
//       try: return read( path )       # stays as it is
//       except OSError: raise
#include "format/pyfunc.h"

#include "support/diag_ids.h"

#include <string.h>

enum { STEP = 4 };

static tvms_sym last_name(const tvms_surface *surface, tvms_ref expression) {
  const tvms_surf *node = tvms_surface_at(surface, expression);
  if (node->kind == TVMS_SURF_CALL) node = tvms_surface_at(surface, node->a);
  if (node->kind == TVMS_SURF_NAME) return node->a;
  return node->kind == TVMS_SURF_ATTRIBUTE ? node->b : 0;
}

bool tvms_format_is_pyfunc(const tvms_surface *surface, tvms_ref def) {
  if (tvms_surface_at(surface, def)->kind != TVMS_SURF_DEF) return false;
  tvms_surface_each(surface, ref, tvms_surface_define(surface, def).decorators) {
    const char *name = tvms_symbol_text(surface->context, last_name(surface, ref));
    if (strcmp(name, "pyfunc") == 0) return true;
  }
  return false;
}

static bool has_skipped(const tvms_surface *surface, tvms_ref list) {
  tvms_memory *memory = &surface->context->memory;
  bool found = !tvms_memory_enter(memory);  // too deep to be laid out, too
  for (tvms_ref ref = list; ref && !found; ref = tvms_surface_at(surface, ref)->next) {
    tvms_ref bodies[2];
    tvms_surface_bodies(surface, ref, bodies);
    found = tvms_surface_at(surface, ref)->kind == TVMS_SURF_UNSUPPORTED
            || has_skipped(surface, bodies[0]) || has_skipped(surface, bodies[1]);
  }
  tvms_memory_leave(memory);
  return found;
}

bool tvms_format_is_skipped_pyfunc(const tvms_surface *surface, tvms_ref stmt) {
  return tvms_format_is_pyfunc(surface, stmt)
         && has_skipped(surface, tvms_surface_define(surface, stmt).body);
}

bool tvms_format_has_long_string(const tvms_surface *surface, uint32_t begin,
                                 uint32_t end) {
  const char *text = surface->source->text;
  for (uint32_t i = begin; i + 2 < end; i++) {
    char c = text[i];
    if ((c == '"' || c == '\'') && text[i + 1] == c && text[i + 2] == c) return true;
    if (c == '\\' && (text[i + 1] == '\n' || text[i + 1] == '\r')) return true;
  }
  return false;
}

static void allow(const tvms_surface *surface, tvms_ref def, uint32_t indent) {
  tvms_span span = tvms_surface_span(surface, def);
  bool moves = tvms_source_indent(surface->source, span.begin) != indent;
  if (moves && tvms_format_has_long_string(surface, span.begin, span.end)) return;
  tvms_diags_forget(&surface->context->diags, TVMS_D_unsupported, span);
}

static void allow_in(const tvms_surface *surface, tvms_ref list, uint32_t indent) {
  tvms_memory *memory = &surface->context->memory;
  if (tvms_memory_enter(memory)) {
    tvms_surface_each(surface, ref, list) {
      if (tvms_format_is_skipped_pyfunc(surface, ref)) {
        allow(surface, ref, indent);
        continue;
      }
      tvms_ref bodies[2];
      tvms_surface_bodies(surface, ref, bodies);
      allow_in(surface, bodies[0], indent + STEP);
      allow_in(surface, bodies[1], indent + STEP);
    }
  }
  tvms_memory_leave(memory);
}

void tvms_format_allow_pyfuncs(const tvms_surface *surface) {
  if (surface->context->diags.errors) allow_in(surface, surface->body, 0);
}
