// Migration of calls whose arguments differ between releases: operators that got more of
// them, values of attributes, targets.
#include "migrate/call.h"

#include "grammar/literal_values.h"
#include "ir/target_config.h"
#include "ir/tir_op.h"
#include "migrate/edit.h"
#include "migrate/internal.h"
#include "migrate/names.h"

#include <string.h>

static const tvms_surf *at(const tvms_migration *migration, tvms_ref ref) {
  return tvms_surface_at(migration->surface, ref);
}

// Looking for a name among the spellings of a release goes through all of them, so what was
// found is kept by name.
tvms_tir_opcode tvms_migrate_same_operator(tvms_migration *migration, const char *path,
                                           size_t len) {
  tvms_sym name = tvms_symbol_intern(migration->context, path, len);
  tvms_vec_reach(&migration->context->memory, &migration->operators, name);
  uint16_t *known = &migration->operators.items[name];
  if (*known) return (tvms_tir_opcode)(*known - 1);
  tvms_tir_opcode opcode =
      tvms_tir_op_spelled(path, len, migration->from, TVMS_TIR_NONE);
  if (opcode) opcode = tvms_tir_op_same(opcode, migration->from, migration->to);
  *known = (uint16_t)(opcode + 1);
  return opcode;
}

// Arguments that the release that is written has behind those of the older one.
static void add_arguments(tvms_migration *migration, tvms_ref call) {
  const tvms_surf *node = at(migration, call);
  const char *path = tvms_migrate_tir_path(migration, node->a);
  tvms_tir_opcode opcode = tvms_migrate_same_operator(migration, path, strlen(path));
  uint32_t count = tvms_surface_count(migration->surface, node->b);
  if (!opcode || tvms_tir_op_more(opcode, count, migration->from)) return;
  const char *more = tvms_tir_op_more(opcode, count, migration->to);
  if (!more) return;
  tvms_migrate_insert(migration, node->end - 1,
                      tvms_migrate_words(migration, count ? ", " : "", more, ""));
}

// TVM 0.26 has no pointer as the value of an attribute: the null pointer is 0 there.
static void migrate_attr(tvms_migration *migration, tvms_ref call) {
  if (!tvms_release_has(migration->to, TVMS_FACT_attrs_refuse_pointers)) return;
  tvms_ref value = tvms_migrate_call_argument(migration, call, "value", 2);
  if (value && tvms_migrate_is_tir_call(migration, value, "reinterpret"))
    tvms_edits_replace(&migration->edits, tvms_surface_span(migration->surface, value),
                       "0");
}

// ---- Targets: what a release fills in is said, options in a text become a dict ----

// `, "mtriple": "…"` where the releases fill in different ones, or "".
static const char *triple(tvms_migration *migration) {
  const char *was = tvms_target_config_triple(migration->from);
  const char *is = tvms_target_config_triple(migration->to);
  if (strcmp(was, is) == 0) return "";
  return tvms_migrate_words(migration, ", \"mtriple\": \"", was, "\"");
}

static bool is_text(const tvms_migration *migration, tvms_ref ref, const char *text) {
  tvms_span inside;
  if (!tvms_surface_string_inside(migration->surface, ref, &inside)) return false;
  size_t len = strlen(text);
  return inside.end - inside.begin == len
         && memcmp(migration->surface->source->text + inside.begin, text, len) == 0;
}

// The entry of a dict with this text as its key, or 0.
static tvms_ref entry(const tvms_migration *migration, tvms_ref dict, const char *key) {
  tvms_surface_each(migration->surface, pair, at(migration, dict)->a) {
    if (at(migration, pair)->kind == TVMS_SURF_PAIR
        && is_text(migration, at(migration, pair)->a, key))
      return pair;
  }
  return 0;
}

// ["a", "b"] for `a,b`.
static const char *list_of(tvms_migration *migration, const char *text) {
  const char *list = "[";
  while (*text) {
    size_t len = strcspn(text, ",");
    const char *item = tvms_arena_text(&migration->arena, text, len);
    text += len + (text[len] == ',');
    item = tvms_migrate_words(migration, "\"", item, *text ? "\", " : "\"");
    list = tvms_migrate_words(migration, list, item, "");
  }
  return tvms_migrate_words(migration, list, "]", "");
}

// `, "key": value` for an option `key=value` or `key`.
static const char *option(tvms_migration *migration, const char *text, size_t len) {
  tvms_arena *arena = &migration->arena;
  const char *equals = memchr(text, '=', len);
  size_t key_len = equals ? (size_t)(equals - text) : len;
  const char *key = tvms_arena_text(arena, text, key_len);
  size_t size = equals ? len - key_len - 1 : 0;
  const char *value = tvms_arena_text(arena, text + len - size, size);
  if (!equals)
    value = "True";
  else if (tvms_target_option_is_list(key))
    value = list_of(migration, value);
  else if (!size || strspn(value, "0123456789") != size)
    value = tvms_migrate_words(migration, "\"", value, "\"");
  key = tvms_migrate_words(migration, ", \"", key, "\": ");
  return tvms_migrate_words(migration, key, value, "");
}

// "llvm -num-cores=4"  →  {"kind": "llvm", "num-cores": 4}
static void migrate_target_text(tvms_migration *migration, tvms_ref ref) {
  tvms_span inside;
  if (!tvms_surface_string_inside(migration->surface, ref, &inside)) return;
  const char *text = tvms_migrate_copy(migration, inside);
  size_t kind = strcspn(text, " ");
  bool llvm = kind == 4 && memcmp(text, "llvm", 4) == 0;
  bool given = strstr(text, "-mcpu=") || strstr(text, "-mtriple=");
  const char *more = llvm && !given ? triple(migration) : "";
  bool options = text[kind] != '\0'
                 && tvms_release_has(migration->from, TVMS_FACT_targets_are_texts)
                 && !tvms_release_has(migration->to, TVMS_FACT_targets_are_texts);
  if (*text == '{' || (!*more && !options)) return;
  const char *dict = tvms_migrate_words(
      migration, "{\"kind\": \"", tvms_arena_text(&migration->arena, text, kind), "\"");
  for (const char *next = text + kind; *next;) {
    next += strspn(next, " -");
    size_t len = strcspn(next, " ");
    dict = tvms_migrate_words(migration, dict, option(migration, next, len), "");
    next += len;
  }
  tvms_edits_replace(&migration->edits, tvms_surface_span(migration->surface, ref),
                     tvms_migrate_words(migration, dict, more, "}"));
}

static void migrate_target(tvms_migration *migration, tvms_ref value) {
  const tvms_surf *node = value ? at(migration, value) : NULL;
  if (!node) return;
  if (node->kind == TVMS_SURF_STRING) migrate_target_text(migration, value);
  if (node->kind != TVMS_SURF_DICT) return;
  tvms_ref kind = entry(migration, value, "kind");
  tvms_ref host = entry(migration, value, "host");
  if (host) migrate_target(migration, at(migration, host)->b);
  if (kind && is_text(migration, at(migration, kind)->b, "llvm")
      && !entry(migration, value, "mtriple") && !entry(migration, value, "mcpu"))
    tvms_migrate_insert(migration, at(migration, kind)->end, triple(migration));
}

void tvms_migrate_call(tvms_migration *migration, tvms_ref call) {
  if (migration->in_prim_func) add_arguments(migration, call);
  if (tvms_migrate_is_tir_call(migration, call, "attr")) migrate_attr(migration, call);
  if (tvms_migrate_is_tir_call(migration, call, "target")) {
    migrate_target(migration,
                   tvms_migrate_call_argument(migration, call, "target_config", 0));
    migrate_target(migration, tvms_migrate_call_argument(migration, call, "host", 1));
  }
}
