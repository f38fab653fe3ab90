// Migration of what has another shape in another release: decorators, bindings,
// allocations, scopes, asserts.
//
// `from` is classic up to 0.23 when definitions hold a body, flat from 0.24 on, and has
// T.let from 0.25 on. Where a release has no way to say something, that is reported.
#include "migrate/stmt.h"

#include "grammar/literal_values.h"
#include "migrate/edit.h"
#include "migrate/internal.h"
#include "migrate/names.h"
#include "migrate/storage.h"

#include <stdio.h>
#include <string.h>

static const tvms_surf *at(const tvms_migration *migration, tvms_ref ref) {
  return tvms_surface_at(migration->surface, ref);
}

// ---- The decorator: s_tir=True stands for classic semantics from 0.25 on ----

static void add_keyword(tvms_migration *migration, tvms_ref decorator,
                        const char *text) {
  const tvms_surf *node = at(migration, decorator);
  if (node->kind != TVMS_SURF_CALL) {
    tvms_migrate_insert(migration, node->end,
                        tvms_migrate_words(migration, "(", text, ")"));
    return;
  }
  const char *comma = !node->b ? "" : node->flags & TVMS_SURF_COMMA ? " " : ", ";
  tvms_migrate_insert(migration, node->end - 1,
                      tvms_migrate_words(migration, comma, text, ""));
}

void tvms_migrate_prim_func(tvms_migration *migration, tvms_ref def) {
  tvms_surf_definition parts = tvms_surface_define(migration->surface, def);
  bool had = !tvms_release_has(migration->from, TVMS_FACT_prim_funcs_are_s_tir),
       has = !tvms_release_has(migration->to, TVMS_FACT_prim_funcs_are_s_tir);
  tvms_surface_each(migration->surface, decorator, parts.decorators) {
    const tvms_surf *node = at(migration, decorator);
    tvms_ref callee = node->kind == TVMS_SURF_CALL ? node->a : decorator;
    if (strcmp(tvms_migrate_tir_path(migration, callee), "prim_func") != 0) continue;
    tvms_ref keyword = node->kind == TVMS_SURF_CALL
                           ? tvms_migrate_call_keyword(migration, decorator, "s_tir")
                           : 0;
    if (!had && has && !keyword) add_keyword(migration, decorator, "s_tir=True");
    if (had && !has && keyword)
      tvms_migrate_remove_keyword(migration, decorator, keyword);
  }
}

// ---- Bindings: x: T.int32 = e, x = e, x: T.let[T.int32] = e ----

static void migrate_binding(tvms_migration *migration, tvms_ref stmt) {
  const tvms_surf *node = at(migration, stmt);
  bool had_let = tvms_release_has(migration->from, TVMS_FACT_bindings_say_let);
  bool has_let = tvms_release_has(migration->to, TVMS_FACT_bindings_say_let);
  tvms_span span = tvms_surface_span(migration->surface, stmt);
  if (had_let == has_let || !tvms_migrate_begins_in(&migration->binds, span)) return;
  const tvms_surf *target = at(migration, node->a);
  if (target->kind != TVMS_SURF_NAME) return;
  const char *prefix = migration->prefix;
  if (has_let && node->kind == TVMS_SURF_ASSIGN) {
    tvms_migrate_insert(migration, target->end,
                        tvms_migrate_words(migration, ": ", prefix, ".let"));
  } else if (has_let && node->kind == TVMS_SURF_ANN_ASSIGN) {
    const tvms_surf *annotation = at(migration, node->b);
    tvms_migrate_insert(migration, annotation->begin,
                        tvms_migrate_words(migration, prefix, ".let[", ""));
    tvms_migrate_insert(migration, annotation->end, "]");
  } else if (node->kind == TVMS_SURF_ANN_ASSIGN) {
    const tvms_surf *annotation = at(migration, node->b);
    if (annotation->kind == TVMS_SURF_SUBSCRIPT) {
      const tvms_surf *inside = at(migration, annotation->b);
      tvms_edits_replace(&migration->edits,
                         (tvms_span){annotation->begin, inside->begin}, "");
      tvms_edits_replace(&migration->edits, (tvms_span){inside->end, annotation->end},
                         "");
    } else {
      tvms_edits_replace(&migration->edits, (tvms_span){target->end, annotation->end},
                         "");
    }
  }
}

// A mutable scalar has no classic form that keeps its name.
static bool refuse_scalar(tvms_migration *migration, tvms_ref stmt) {
  const tvms_surf *node = at(migration, stmt);
  tvms_span span = tvms_surface_span(migration->surface, stmt);
  if (tvms_migrates_from_classic(migration) || !tvms_migrates_to_classic(migration))
    return false;
  if (!tvms_migrate_begins_in(&migration->allocs, span)) return false;
  tvms_ref value = node->kind == TVMS_SURF_ASSIGN ? node->b : node->c;
  const char *callee = value && at(migration, value)->kind == TVMS_SURF_CALL
                           ? tvms_migrate_tir_path(migration, at(migration, value)->a)
                           : "";
  bool call = strstr(callee, "alloc_") || strcmp(callee, "decl_buffer") == 0;
  if (!call) tvms_migrate_refuse(migration, stmt, "a scalar that is assigned again");
  return !call;
}

// ---- Scopes: with T.LetStmt(e) as x: …  →  x: T.let = e; … ----

// Brackets around a value that goes over several lines and loses those of its call.
static bool needs_brackets(const tvms_migration *migration, tvms_ref value) {
  const tvms_surf *node = at(migration, value);
  const char *text = migration->surface->source->text;
  return memchr(text + node->begin, '\n', node->end - node->begin) != NULL;
}

static void migrate_let_scope(tvms_migration *migration, tvms_ref with, tvms_ref item) {
  const tvms_surf *node = at(migration, item);
  const char *prefix = migration->prefix;
  tvms_ref value = tvms_migrate_call_argument(migration, node->a, "value", 0);
  tvms_ref type = tvms_migrate_call_argument(migration, node->a, "type_annotation", 1);
  tvms_ref var = tvms_migrate_call_keyword(migration, node->a, "var");
  if (!value || (!var && !node->b)) return;
  const char *before, *after;
  if (var) {
    const char *name = tvms_migrate_text_of(migration, at(migration, var)->b);
    before = tvms_migrate_words(migration, prefix, ".Bind(", "");
    after = tvms_migrate_words(migration, ", var=", name, ")");
  } else {
    bool brackets = needs_brackets(migration, value);
    const char *kind = tvms_migrate_words(migration, ": ", prefix, ".let");
    if (type) {
      const char *name = tvms_migrate_text_of(migration, type);
      kind = tvms_migrate_words(migration, kind,
                                tvms_migrate_words(migration, "[", name, "]"), "");
    }
    before = tvms_migrate_words(migration, tvms_migrate_text_of(migration, node->b),
                                kind, brackets ? " = (" : " = ");
    after = brackets ? ")" : "";
  }
  tvms_migrate_unwrap(migration, with, value, before, after);
}

static bool migrate_with(tvms_migration *migration, tvms_ref with) {
  const tvms_surf *node = at(migration, with);
  tvms_ref item = node->a;
  bool single = item && !at(migration, item)->next;
  if (!tvms_migrates_from_classic(migration) || tvms_migrates_to_classic(migration)
      || !single)
    return true;
  tvms_ref call = at(migration, item)->a;
  tvms_ref name = at(migration, item)->b;
  if (tvms_migrate_is_tir_call(migration, call, "LetStmt")) {
    migrate_let_scope(migration, with, item);
  }
  if (tvms_migrate_is_tir_call(migration, call, "decl_buffer") && name) {
    const char *target = tvms_migrate_text_of(migration, name);
    tvms_migrate_unwrap(migration, with, call,
                        tvms_migrate_words(migration, target, " = ", ""), "");
    tvms_migrate_buffer(migration, call);
  } else if (tvms_migrate_is_tir_call(migration, call, "allocate")) {
    tvms_migrate_allocate_scope(migration, with, item);
  } else if (tvms_migrate_is_tir_call(migration, call, "realize")) {
    tvms_migrate_refuse(migration, call, "a realised region");
  }
  return true;
}

// ---- Asserts: the parts of a message are one text in the classic form ----

static bool migrate_assert(tvms_migration *migration, tvms_ref stmt) {
  tvms_ref message = at(migration, stmt)->b;
  if (!message || tvms_migrates_from_classic(migration)
      || !tvms_migrates_to_classic(migration))
    return true;
  if (at(migration, message)->kind != TVMS_SURF_TUPLE) return true;
  tvms_ref kind = at(migration, message)->a;
  tvms_ref parts = kind ? at(migration, kind)->next : 0;
  if (!parts || at(migration, parts)->kind != TVMS_SURF_LIST) return true;
  const char *text = "";
  tvms_surface_each(migration->surface, part, at(migration, parts)->a) {
    tvms_span inside;
    if (!tvms_surface_string_inside(migration->surface, part, &inside)) return true;
    text =
        tvms_migrate_words(migration, text, tvms_migrate_copy(migration, inside), "");
  }
  tvms_edits_replace(&migration->edits, tvms_surface_span(migration->surface, message),
                     tvms_migrate_words(migration, "\"", text, "\""));
  return false;
}

// ---- T.ret(e), up to 0.25 ----

static bool migrate_return(tvms_migration *migration, tvms_ref stmt) {
  tvms_ref call = at(migration, stmt)->a;
  tvms_span span = tvms_surface_span(migration->surface, call);
  if (tvms_migrate_is_tir_call(migration, call, "evaluate"))
    call = tvms_migrate_call_argument(migration, call, "value", 0);
  if (!tvms_release_has(migration->to, TVMS_FACT_returns_are_statements) || !call
      || !tvms_migrate_is_tir_call(migration, call, "ret"))
    return true;
  tvms_ref value = tvms_migrate_call_argument(migration, call, "val", 0);
  if (!value) return true;
  uint32_t begin = at(migration, value)->begin, end = at(migration, value)->end;
  tvms_edits_replace(&migration->edits, (tvms_span){span.begin, begin}, "return ");
  tvms_edits_replace(&migration->edits, (tvms_span){end, span.end}, "");
  return true;
}

bool tvms_migrate_statement(tvms_migration *migration, tvms_ref stmt) {
  const tvms_surf *node = at(migration, stmt);
  switch (node->kind) {
  case TVMS_SURF_ASSIGN:
    if (refuse_scalar(migration, stmt)) return false;
    migrate_binding(migration, stmt);
    if (at(migration, node->b)->kind != TVMS_SURF_CALL) return true;
    if (tvms_migrates_from_classic(migration) && !tvms_migrates_to_classic(migration)
        && tvms_migrate_is_tir_call(migration, node->b, "allocate")) {
      tvms_migrate_allocate(migration, stmt);
    }
    tvms_migrate_buffer(migration, node->b);
    return true;
  case TVMS_SURF_ANN_ASSIGN:
    if (refuse_scalar(migration, stmt)) return false;
    migrate_binding(migration, stmt);
    return true;
  case TVMS_SURF_WITH: return migrate_with(migration, stmt);
  case TVMS_SURF_ASSERT: return migrate_assert(migration, stmt);
  case TVMS_SURF_EXPRESSION: return migrate_return(migration, stmt);
  default: return true;
  }
}
