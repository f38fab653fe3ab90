// Migration of what makes buffers: allocations, declarations, and buffers over pointers.
//
// Up to 0.23 memory is a pointer (T.allocate) and a buffer is laid over it; from 0.24 on
// one statement makes both, and the pointer is the `data` of the buffer.
#include "migrate/storage.h"

#include "migrate/edit.h"
#include "migrate/internal.h"
#include "migrate/names.h"

#include <string.h>

static const tvms_surf *at(const tvms_migration *migration, tvms_ref ref) {
  return tvms_surface_at(migration->surface, ref);
}

static void rename_callee(tvms_migration *migration, tvms_ref call, const char *name) {
  const tvms_surf *callee = at(migration, at(migration, call)->a);
  uint32_t len = (uint32_t)strlen(tvms_symbol_text(migration->context, callee->b));
  tvms_edits_replace(&migration->edits, (tvms_span){callee->end - len, callee->end},
                     name);
}

// ---- An allocation and a buffer over all of it become one statement ----

// Writes `text` for every use of a name in a list of nodes and all they hold.
static void replace_uses(tvms_migration *migration, tvms_ref list, tvms_sym name,
                         const char *text) {
  tvms_memory *memory = &migration->context->memory;
  if (!list) return;
  if (tvms_memory_enter(memory)) {
    tvms_surface_each(migration->surface, ref, list) {
      const tvms_surf *node = at(migration, ref);
      uint8_t which = tvms_surface_refs((tvms_surf_kind)node->kind);
      if (node->kind == TVMS_SURF_NAME && node->a == name)
        tvms_edits_replace(&migration->edits,
                           tvms_surface_span(migration->surface, ref), text);
      if (which & TVMS_SURF_IN_A) replace_uses(migration, node->a, name, text);
      if (which & TVMS_SURF_IN_B) replace_uses(migration, node->b, name, text);
      if (which & TVMS_SURF_IN_C) replace_uses(migration, node->c, name, text);
    }
  }
  tvms_memory_leave(memory);
}

// What stood for the pointer `name` is now the data of a buffer.
static void use_data(tvms_migration *migration, tvms_ref list, tvms_sym name,
                     tvms_sym buffer) {
  const char *text = tvms_symbol_text(migration->context, buffer);
  replace_uses(migration, list, name, tvms_migrate_words(migration, text, ".data", ""));
}

static bool same_text(const tvms_migration *migration, tvms_ref a, tvms_ref b) {
  const char *text = migration->surface->source->text;
  uint32_t len = at(migration, a)->end - at(migration, a)->begin;
  return len == at(migration, b)->end - at(migration, b)->begin
         && memcmp(text + at(migration, a)->begin, text + at(migration, b)->begin, len)
                == 0;
}

// Do both say the same list of dimensions, element by element?
static bool same_shape(const tvms_migration *migration, tvms_ref a, tvms_ref b) {
  bool lists = at(migration, a)->kind == TVMS_SURF_LIST
               || at(migration, a)->kind == TVMS_SURF_TUPLE;
  lists = lists
          && (at(migration, b)->kind == TVMS_SURF_LIST
              || at(migration, b)->kind == TVMS_SURF_TUPLE);
  if (!lists) return same_text(migration, a, b);
  tvms_ref left = at(migration, a)->a, right = at(migration, b)->a;
  while (left && right && same_text(migration, left, right)) {
    left = at(migration, left)->next;
    right = at(migration, right)->next;
  }
  return !left && !right;
}

// Is the buffer that `declare` makes just what `allocate` allocates?
static bool is_whole(const tvms_migration *migration, tvms_ref allocate,
                     tvms_ref declare) {
  tvms_ref extents = tvms_migrate_call_argument(migration, allocate, "extents", 0);
  tvms_ref shape = tvms_migrate_call_argument(migration, declare, "shape", 0);
  tvms_ref dtype = tvms_migrate_call_argument(migration, allocate, "dtype", 1);
  tvms_ref element = tvms_migrate_call_argument(migration, declare, "dtype", 1);
  bool more = tvms_migrate_call_argument(migration, allocate, "condition", 3)
              || tvms_migrate_call_argument(migration, allocate, "annotations", 4);
  return extents && shape && !more && same_shape(migration, extents, shape)
         && (!element || (dtype && same_text(migration, dtype, element)))
         && !tvms_migrate_call_keyword(migration, declare, "elem_offset");
}

// Does a statement lay a buffer over all of what `allocate` gives the name `pointer`, by
// a call of T.<callee>?
static bool lays_over(tvms_migration *migration, tvms_ref stmt, const char *callee,
                      tvms_ref allocate, tvms_sym pointer) {
  const tvms_surf *node = at(migration, stmt);
  if (node->kind != TVMS_SURF_ASSIGN || at(migration, node->a)->kind != TVMS_SURF_NAME
      || !tvms_migrate_is_tir_call(migration, node->b, callee))
    return false;
  tvms_ref data = tvms_migrate_call_keyword(migration, node->b, "data");
  const tvms_surf *value = data ? at(migration, at(migration, data)->b) : NULL;
  return value && value->kind == TVMS_SURF_NAME && value->a == pointer
         && is_whole(migration, allocate, node->b);
}

// The statement among `stmts` that lays a buffer over all of the pointer: a declaration
// that follows at once, or the first T.Buffer, which is not a statement of the program. 0: none.
static tvms_ref find_buffer(tvms_migration *migration, tvms_ref stmts,
                            tvms_ref allocate, tvms_sym pointer) {
  if (stmts && lays_over(migration, stmts, "decl_buffer", allocate, pointer))
    return stmts;
  tvms_surface_each(migration->surface, ref, stmts) {
    if (lays_over(migration, ref, "Buffer", allocate, pointer)) return ref;
  }
  return 0;
}

// T.allocate([n], "float32", "shared")  →  T.alloc_buffer([n], "float32", scope="shared")
static bool rewrite_allocation(tvms_migration *migration, tvms_ref call) {
  tvms_ref condition = tvms_migrate_call_argument(migration, call, "condition", 3);
  if (condition) {
    tvms_migrate_refuse(migration, condition, "a condition of T.allocate");
    return false;
  }
  tvms_ref extents = tvms_migrate_call_keyword(migration, call, "extents");
  tvms_ref scope = tvms_migrate_call_argument(migration, call, "scope", 2);
  rename_callee(migration, call, "alloc_buffer");
  if (extents) {
    uint32_t begin = at(migration, extents)->begin;
    tvms_edits_replace(&migration->edits, (tvms_span){begin, begin + 7}, "shape");
  }
  if (scope && !tvms_migrate_call_keyword(migration, call, "scope"))
    tvms_migrate_insert(migration, at(migration, scope)->begin, "scope=");
  return true;
}

// An allocation that gives the name `pointer` to what it allocates for the statements
// `stmts`. Returns the name of the buffer that it makes now.
static tvms_sym migrate_allocation(tvms_migration *migration, tvms_ref call,
                                   tvms_sym pointer, tvms_ref stmts) {
  if (!rewrite_allocation(migration, call)) return pointer;
  tvms_ref declaration = find_buffer(migration, stmts, call, pointer);
  tvms_sym buffer =
      declaration ? at(migration, at(migration, declaration)->a)->a : pointer;
  if (declaration)
    tvms_edits_remove_line(&migration->edits,
                           tvms_surface_span(migration->surface, declaration));
  use_data(migration, stmts, pointer, buffer);
  return buffer;
}

void tvms_migrate_allocate(tvms_migration *migration, tvms_ref stmt) {
  const tvms_surf *node = at(migration, stmt);
  const tvms_surf *target = at(migration, node->a);
  if (target->kind != TVMS_SURF_NAME) return;
  tvms_sym buffer = migrate_allocation(migration, node->b, target->a, node->next);
  if (buffer != target->a)
    tvms_edits_replace(&migration->edits,
                       tvms_surface_span(migration->surface, node->a),
                       tvms_symbol_text(migration->context, buffer));
}

void tvms_migrate_allocate_scope(tvms_migration *migration, tvms_ref with,
                                 tvms_ref item) {
  const tvms_surf *node = at(migration, with);
  tvms_ref call = at(migration, item)->a, name = at(migration, item)->b;
  if (!name || at(migration, name)->kind != TVMS_SURF_NAME) return;
  tvms_sym buffer =
      migrate_allocation(migration, call, at(migration, name)->a, node->b);
  const char *text = tvms_symbol_text(migration->context, buffer);
  tvms_migrate_unwrap(migration, with, call,
                      tvms_migrate_words(migration, text, " = ", ""), "");
}

// ---- Statements that bind the name of a buffer ----

// A buffer over memory that is there is declared from 0.24 on.
static bool lies_over(const tvms_migration *migration, tvms_ref call) {
  return tvms_migrate_call_argument(migration, call, "data", 2) != 0;
}

void tvms_migrate_buffer(tvms_migration *migration, tvms_ref call) {
  bool from = tvms_migrates_from_classic(migration);
  if (from == tvms_migrates_to_classic(migration)) return;
  const char *path = tvms_migrate_tir_path(migration, at(migration, call)->a);
  if (from) {
    if (strcmp(path, "decl_buffer") == 0 && !lies_over(migration, call)) {
      rename_callee(migration, call, "alloc_buffer");
    } else if (strcmp(path, "Buffer") == 0 && lies_over(migration, call)) {
      rename_callee(migration, call, "decl_buffer");
    } else if (strcmp(path, "alloc_buffer") == 0) {
      rename_callee(migration, call, "sblock_alloc_buffer");
    }
    return;
  }
  const char *scope = strcmp(path, "alloc_local") == 0    ? ", scope=\"local\""
                      : strcmp(path, "alloc_shared") == 0 ? ", scope=\"shared\""
                                                          : NULL;
  if (scope) tvms_migrate_insert(migration, at(migration, call)->end - 1, scope);
  if (scope || strcmp(path, "alloc_buffer") == 0) {
    rename_callee(migration, call, "decl_buffer");
  } else if (strcmp(path, "sblock_alloc_buffer") == 0) {
    rename_callee(migration, call, "alloc_buffer");
  }
}
