// Names and arguments as the surface tree has them. A namespace goes by the names that the
// file imports it by, so `T.grid` may be written as another word; tir_prefixes and
// relax_prefixes have them all.
#include "migrate/names.h"

#include <string.h>

bool tvms_migrate_has(const tvms_sym *syms, uint32_t count, tvms_sym sym) {
  for (uint32_t i = 0; i < count; i++) {
    if (syms[i] == sym) return true;
  }
  return false;
}

tvms_sym tvms_migrate_chain(const tvms_migration *migration, tvms_ref ref,
                            char path[TVMS_MIGRATE_LONGEST_PATH]) {
  const tvms_surf *node = tvms_surface_at(migration->surface, ref);
  path[0] = '\0';
  while (node->kind == TVMS_SURF_ATTRIBUTE) {
    const char *name = tvms_symbol_text(migration->context, node->b);
    size_t len = strlen(name), old = strlen(path);
    if (len + old + 2 > TVMS_MIGRATE_LONGEST_PATH) return 0;
    memmove(path + len + (old > 0), path, old + 1);
    memcpy(path, name, len);
    if (old > 0) path[len] = '.';
    node = tvms_surface_at(migration->surface, node->a);
  }
  return node->kind == TVMS_SURF_NAME ? node->a : 0;
}

const char *tvms_migrate_tir_path(tvms_migration *migration, tvms_ref ref) {
  char path[TVMS_MIGRATE_LONGEST_PATH];
  tvms_sym first = tvms_migrate_chain(migration, ref, path);
  bool known = first
               && tvms_migrate_has(migration->tir_prefixes.items,
                                   migration->tir_prefixes.len, first);
  if (!known) return "";
  return tvms_arena_text(&migration->arena, path, strlen(path));
}

bool tvms_migrate_is_tir_call(tvms_migration *migration, tvms_ref ref,
                              const char *name) {
  const tvms_surf *node = tvms_surface_at(migration->surface, ref);
  return node->kind == TVMS_SURF_CALL
         && strcmp(tvms_migrate_tir_path(migration, node->a), name) == 0;
}

tvms_ref tvms_migrate_call_keyword(const tvms_migration *migration, tvms_ref call,
                                   const char *keyword) {
  const tvms_surface *surface = migration->surface;
  tvms_surface_each(surface, arg, tvms_surface_at(surface, call)->b) {
    const tvms_surf *node = tvms_surface_at(surface, arg);
    if (node->kind == TVMS_SURF_KEYWORD
        && strcmp(tvms_symbol_text(migration->context, node->a), keyword) == 0) {
      return arg;
    }
  }
  return 0;
}

tvms_ref tvms_migrate_call_argument(const tvms_migration *migration, tvms_ref call,
                                    const char *keyword, uint32_t index) {
  const tvms_surface *surface = migration->surface;
  uint32_t at = 0;
  tvms_surface_each(surface, arg, tvms_surface_at(surface, call)->b) {
    if (tvms_surface_at(surface, arg)->kind != TVMS_SURF_KEYWORD && at++ == index)
      return arg;
  }
  tvms_ref found = tvms_migrate_call_keyword(migration, call, keyword);
  return found ? tvms_surface_at(surface, found)->b : 0;
}

bool tvms_migrate_begins_in(const tvms_offsets *offsets, tvms_span span) {
  uint32_t low = 0, high = offsets->len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (offsets->items[middle] < span.begin) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < offsets->len && offsets->items[low] < span.end;
}
