// Migration of what has another shape in another release: decorators, bindings,
// allocations, scopes, asserts.
//
// `from` is classic up to 0.23 when definitions hold a body, flat from 0.24 on, and has
// T.let from 0.25 on. Where a release has no way to say something, that is reported.
#include "parser/migrate_internal.h"

#include <stdio.h>
#include <string.h>

static bool was_classic(const tvms_migration *migration) {
  return migration->from < TVMS_DIALECT_24;
}
static bool becomes_classic(const tvms_migration *migration) {
  return migration->to < TVMS_DIALECT_24;
}

static const tvms_surf *at(const tvms_migration *migration, tvms_ref ref) {
  return tvms_surf_at(migration->surface, ref);
}

static const char *words(tvms_migration *migration, const char *a, const char *b,
                         const char *c) {
  size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
  char *text = tvms_arena_take(&migration->context->arena, size);
  snprintf(text, size, "%s%s%s", a, b, c);
  return text;
}

// ---- The decorator: s_tir=True stands for classic semantics from 0.25 on ----

static void add_keyword(tvms_migration *migration, tvms_ref decorator,
                        const char *text) {
  const tvms_surf *node = at(migration, decorator);
  if (node->kind != TVMS_SURF_CALL) {
    tvms_edit_insert(migration, node->end, words(migration, "(", text, ")"));
    return;
  }
  const char *comma = !node->b ? "" : node->flags & TVMS_SURF_COMMA ? " " : ", ";
  tvms_edit_insert(migration, node->end - 1, words(migration, comma, text, ""));
}

// Removes a keyword argument together with the comma that belongs to it, and the brackets
// when nothing is left between them.
static void remove_keyword(tvms_migration *migration, tvms_ref call, tvms_ref keyword) {
  const tvms_surf *node = at(migration, call);
  tvms_ref before = 0;
  tvms_each_surf(migration->surface, arg, node->b) {
    if (arg == keyword) break;
    before = arg;
  }
  tvms_ref after = at(migration, keyword)->next;
  tvms_span span = tvms_surf_span(migration->surface, keyword);
  if (!before && !after)
    span = (tvms_span){at(migration, node->a)->end, node->end};
  else if (before)
    span.begin = at(migration, before)->end;
  else
    span.end = at(migration, after)->begin;
  tvms_edit_replace(migration, span, "");
}

void tvms_migrate_prim_func(tvms_migration *migration, tvms_ref def) {
  tvms_surf_definition parts = tvms_surf_define(migration->surface, def);
  bool had = migration->from >= TVMS_DIALECT_25, has = migration->to >= TVMS_DIALECT_25;
  tvms_each_surf(migration->surface, decorator, parts.decorators) {
    const tvms_surf *node = at(migration, decorator);
    tvms_ref callee = node->kind == TVMS_SURF_CALL ? node->a : decorator;
    if (strcmp(tvms_tir_path(migration, callee), "prim_func") != 0) continue;
    tvms_ref keyword = node->kind == TVMS_SURF_CALL
                           ? tvms_call_keyword(migration, decorator, "s_tir")
                           : 0;
    if (!had && has && !keyword) add_keyword(migration, decorator, "s_tir=True");
    if (had && !has && keyword) remove_keyword(migration, decorator, keyword);
  }
}

// ---- Bindings: x: T.int32 = e, x = e, x: T.let[T.int32] = e ----

static void migrate_binding(tvms_migration *migration, tvms_ref stmt) {
  const tvms_surf *node = at(migration, stmt);
  bool had_let = migration->from >= TVMS_DIALECT_25;
  bool has_let = migration->to >= TVMS_DIALECT_25;
  tvms_span span = tvms_surf_span(migration->surface, stmt);
  if (had_let == has_let || !tvms_begins_in(&migration->binds, span)) return;
  const tvms_surf *target = at(migration, node->a);
  if (target->kind != TVMS_SURF_NAME) return;
  const char *prefix = tvms_text(migration->context, migration->tir_prefixes.items[0]);
  if (has_let && node->kind == TVMS_SURF_ASSIGN) {
    tvms_edit_insert(migration, target->end, words(migration, ": ", prefix, ".let"));
  } else if (has_let && node->kind == TVMS_SURF_ANN_ASSIGN) {
    const tvms_surf *annotation = at(migration, node->b);
    tvms_edit_insert(migration, annotation->begin,
                     words(migration, prefix, ".let[", ""));
    tvms_edit_insert(migration, annotation->end, "]");
  } else if (node->kind == TVMS_SURF_ANN_ASSIGN) {
    const tvms_surf *annotation = at(migration, node->b);
    if (annotation->kind == TVMS_SURF_SUBSCRIPT) {
      const tvms_surf *inside = at(migration, annotation->b);
      tvms_edit_replace(migration, (tvms_span){annotation->begin, inside->begin}, "");
      tvms_edit_replace(migration, (tvms_span){inside->end, annotation->end}, "");
    } else {
      tvms_edit_replace(migration, (tvms_span){target->end, annotation->end}, "");
    }
  }
}

// A mutable scalar has no classic form that keeps its name.
static bool refuse_scalar(tvms_migration *migration, tvms_ref stmt) {
  const tvms_surf *node = at(migration, stmt);
  tvms_span span = tvms_surf_span(migration->surface, stmt);
  if (was_classic(migration) || !becomes_classic(migration)) return false;
  if (!tvms_begins_in(&migration->allocs, span)) return false;
  tvms_ref value = node->kind == TVMS_SURF_ASSIGN ? node->b : node->c;
  bool call = value && at(migration, value)->kind == TVMS_SURF_CALL
              && strstr(tvms_tir_path(migration, at(migration, value)->a), "alloc_");
  if (!call) tvms_edit_refuse(migration, stmt, "a scalar that is assigned again");
  return !call;
}

// ---- Scopes: with T.LetStmt(e) as x: …  →  x: T.let = e; … ----

static uint32_t column_of(const tvms_migration *migration, uint32_t offset) {
  const char *text = migration->surface->source->text;
  uint32_t column = 0;
  while (column < offset && text[offset - column - 1] != '\n') {
    column++;
  }
  return column;
}

// Replaces the header of a `with` by `line` and moves its body to the level of the header.
static void unwrap(tvms_migration *migration, tvms_ref with, const char *line) {
  const tvms_surf *node = at(migration, with);
  const tvms_surf *first = at(migration, node->b);
  const char *text = migration->surface->source->text;
  uint32_t header_end = node->begin;
  tvms_each_surf(migration->surface, item, node->a) {
    header_end = at(migration, item)->end;
  }
  while (text[header_end] != ':') {
    header_end++;
  }
  tvms_span header = {node->begin, header_end + 1};
  if (!*line && text[header.end] == '\n') {
    header.begin -= column_of(migration, header.begin);
    header.end++;
  }
  tvms_edit_replace(migration, header, line);
  uint32_t columns =
      column_of(migration, first->begin) - column_of(migration, node->begin);
  tvms_edit_dedent(migration, (tvms_span){header_end + 1, node->end}, columns);
}

static const char *source_of(tvms_migration *migration, tvms_ref ref) {
  return tvms_edit_copy(migration, tvms_surf_span(migration->surface, ref));
}

static bool migrate_let_scope(tvms_migration *migration, tvms_ref with, tvms_ref item) {
  const tvms_surf *node = at(migration, item);
  const char *prefix = tvms_text(migration->context, migration->tir_prefixes.items[0]);
  tvms_ref value = tvms_call_argument(migration, node->a, "value", 0);
  tvms_ref type = tvms_call_argument(migration, node->a, "type_annotation", 1);
  tvms_ref var = tvms_call_keyword(migration, node->a, "var");
  if (!value) return true;
  const char *text = source_of(migration, value);
  const char *bind = migration->to >= TVMS_DIALECT_25 ? ".Bind(" : ".bind(";
  if (var) {
    const char *call = words(migration, prefix, bind, text);
    const char *name = source_of(migration, at(migration, var)->b);
    unwrap(migration, with,
           words(migration, call, words(migration, ", var=", name, ")"), ""));
  } else if (node->b) {
    const char *name = source_of(migration, node->b);
    const char *let = words(migration, ": ", prefix, ".let");
    if (type)
      let = words(migration, let,
                  words(migration, "[", source_of(migration, type), "]"), "");
    if (migration->to < TVMS_DIALECT_25) let = "";
    if (migration->to < TVMS_DIALECT_25)
      text = words(migration, words(migration, prefix, bind, text), ")", "");
    unwrap(migration, with,
           words(migration, name, let, words(migration, " = ", text, "")));
  }
  return true;
}

// ---- Storage ----

// The declaration among the statements that gives the pointer `name` its buffer, or 0.
static tvms_ref find_declaration(tvms_migration *migration, tvms_ref stmts,
                                 tvms_sym name) {
  tvms_each_surf(migration->surface, ref, stmts) {
    const tvms_surf *node = at(migration, ref);
    if (node->kind != TVMS_SURF_ASSIGN
        || !tvms_is_tir_call(migration, node->b, "decl_buffer"))
      continue;
    tvms_ref data = tvms_call_keyword(migration, node->b, "data");
    if (!data) continue;
    const tvms_surf *value = at(migration, at(migration, data)->b);
    if (value->kind == TVMS_SURF_NAME && value->a == name) return ref;
  }
  return 0;
}

static void rename_callee(tvms_migration *migration, tvms_ref call, const char *name) {
  const tvms_surf *callee = at(migration, at(migration, call)->a);
  uint32_t len = (uint32_t)strlen(tvms_text(migration->context, callee->b));
  tvms_edit_replace(migration, (tvms_span){callee->end - len, callee->end}, name);
}

// Removes a statement with its line.
static void remove_line(tvms_migration *migration, tvms_ref stmt) {
  tvms_span span = tvms_surf_span(migration->surface, stmt);
  const char *text = migration->surface->source->text;
  span.begin -= column_of(migration, span.begin);
  while (text[span.end] && text[span.end] != '\n') {
    span.end++;
  }
  if (text[span.end]) span.end++;
  tvms_edit_replace(migration, span, "");
}

// The declaration takes over what the allocation says, and becomes one.
static bool join_allocation(tvms_migration *migration, tvms_ref allocate,
                            tvms_ref declaration) {
  if (!declaration) {
    tvms_edit_refuse(migration, allocate,
                     "an allocation without a buffer over all of it");
    return false;
  }
  tvms_ref call = at(migration, declaration)->b;
  tvms_ref data = tvms_call_keyword(migration, call, "data");
  tvms_ref scope = tvms_call_argument(migration, allocate, "scope", 2);
  rename_callee(migration, call, "alloc_buffer");
  if (scope && !tvms_call_keyword(migration, call, "scope")) {
    tvms_edit_replace(migration, tvms_surf_span(migration->surface, data),
                      words(migration, "scope=", source_of(migration, scope), ""));
  } else {
    remove_keyword(migration, call, data);
  }
  return true;
}

// p = T.allocate(…); P = T.decl_buffer(…, data=p)  →  P = T.alloc_buffer(…)
static bool migrate_allocate(tvms_migration *migration, tvms_ref stmt) {
  const tvms_surf *node = at(migration, stmt);
  const tvms_surf *target = at(migration, node->a);
  bool named = target->kind == TVMS_SURF_NAME;
  tvms_ref declaration = named ? find_declaration(migration, node->next, target->a) : 0;
  if (join_allocation(migration, node->b, declaration)) remove_line(migration, stmt);
  return false;
}

// The same for `with T.allocate(…) as p:`.
static void migrate_allocate_scope(tvms_migration *migration, tvms_ref with,
                                   tvms_ref item) {
  const tvms_surf *node = at(migration, with);
  tvms_ref name = at(migration, item)->b;
  bool named = name && at(migration, name)->kind == TVMS_SURF_NAME;
  tvms_ref declaration =
      named ? find_declaration(migration, node->b, at(migration, name)->a) : 0;
  if (!join_allocation(migration, at(migration, item)->a, declaration)) return;
  unwrap(migration, with, "");
}

// The same in a statement that binds the name of a buffer.
static bool migrate_buffer(tvms_migration *migration, tvms_ref call) {
  bool declared = tvms_is_tir_call(migration, call, "decl_buffer");
  if (was_classic(migration) && !becomes_classic(migration)) {
    if (declared && !tvms_call_keyword(migration, call, "data")) {
      rename_callee(migration, call, "alloc_buffer");
    } else if (tvms_is_tir_call(migration, call, "alloc_buffer")) {
      rename_callee(migration, call, "sblock_alloc_buffer");
    }
  } else if (!was_classic(migration) && becomes_classic(migration)) {
    const char *path = tvms_tir_path(migration, at(migration, call)->a);
    const char *scope = strcmp(path, "alloc_local") == 0    ? ", scope=\"local\""
                        : strcmp(path, "alloc_shared") == 0 ? ", scope=\"shared\""
                                                            : NULL;
    if (scope) tvms_edit_insert(migration, at(migration, call)->end - 1, scope);
    if (scope || strcmp(path, "alloc_buffer") == 0) {
      rename_callee(migration, call, "decl_buffer");
    } else if (strcmp(path, "sblock_alloc_buffer") == 0) {
      rename_callee(migration, call, "alloc_buffer");
    }
  }
  return true;
}

static bool migrate_with(tvms_migration *migration, tvms_ref with) {
  const tvms_surf *node = at(migration, with);
  tvms_ref item = node->a;
  bool single = item && !at(migration, item)->next;
  if (!was_classic(migration) || becomes_classic(migration) || !single) return true;
  tvms_ref call = at(migration, item)->a;
  tvms_ref name = at(migration, item)->b;
  if (tvms_is_tir_call(migration, call, "LetStmt")) {
    return migrate_let_scope(migration, with, item);
  }
  if (tvms_is_tir_call(migration, call, "decl_buffer") && name) {
    const char *target = source_of(migration, name);
    unwrap(migration, with,
           words(migration, target, " = ", source_of(migration, call)));
  } else if (tvms_is_tir_call(migration, call, "allocate")) {
    migrate_allocate_scope(migration, with, item);
  } else if (tvms_is_tir_call(migration, call, "realize")) {
    tvms_edit_refuse(migration, call, "a realised region");
  }
  return true;
}

// ---- Asserts: the parts of a message are one text in the classic form ----

static bool migrate_assert(tvms_migration *migration, tvms_ref stmt) {
  tvms_ref message = at(migration, stmt)->b;
  if (!message || was_classic(migration) || !becomes_classic(migration)) return true;
  if (at(migration, message)->kind != TVMS_SURF_TUPLE) return true;
  tvms_ref kind = at(migration, message)->a;
  tvms_ref parts = kind ? at(migration, kind)->next : 0;
  if (!parts || at(migration, parts)->kind != TVMS_SURF_LIST) return true;
  const char *text = "";
  tvms_each_surf(migration->surface, part, at(migration, parts)->a) {
    tvms_span inside;
    if (!tvms_surf_string_inside(migration->surface, part, &inside)) return true;
    text = words(migration, text, tvms_edit_copy(migration, inside), "");
  }
  tvms_edit_replace(migration, tvms_surf_span(migration->surface, message),
                    words(migration, "\"", text, "\""));
  return false;
}

// ---- T.ret(e), up to 0.25 ----

static bool migrate_return(tvms_migration *migration, tvms_ref stmt) {
  tvms_ref call = at(migration, stmt)->a;
  if (migration->to < TVMS_DIALECT_26 || !tvms_is_tir_call(migration, call, "ret"))
    return true;
  tvms_ref value = tvms_call_argument(migration, call, "val", 0);
  if (!value) return true;
  tvms_span span = tvms_surf_span(migration->surface, call);
  uint32_t begin = at(migration, value)->begin, end = at(migration, value)->end;
  tvms_edit_replace(migration, (tvms_span){span.begin, begin}, "return ");
  tvms_edit_replace(migration, (tvms_span){end, span.end}, "");
  return true;
}

bool tvms_migrate_statement(tvms_migration *migration, tvms_ref stmt) {
  const tvms_surf *node = at(migration, stmt);
  switch (node->kind) {
  case TVMS_SURF_ASSIGN:
    if (refuse_scalar(migration, stmt)) return false;
    migrate_binding(migration, stmt);
    if (at(migration, node->b)->kind != TVMS_SURF_CALL) return true;
    if (was_classic(migration) && !becomes_classic(migration)
        && tvms_is_tir_call(migration, node->b, "allocate")) {
      return migrate_allocate(migration, stmt);
    }
    return migrate_buffer(migration, node->b);
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
