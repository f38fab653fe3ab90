// Configs of targets: what TVM fills in, and options and their types.
//
// T.target({"kind": "cuda", "arch": "sm_80"}) is the row of ir/targets.def for the kind and the
// release, with what is given in its place. Three things are not just filled in: an llvm target
// with a CPU and no triple has no triple at all; keys that nobody gives are the device and those of
// the kind; and a webgpu target with subgroups has warps of 32.
#include "ir/target_config.h"

#include "ir/build.h"
#include "ir/object.h"
#include "support/diag.h"

#include <stdlib.h>
#include <string.h>

// ---- What a release fills in ----

static const struct {
  const char *name;
  uint8_t since, until;
  const char *values;
} rows[] = {
#define TARGET(name, since, until, values)                                             \
  {name, TVMS_DIALECT_##since, TVMS_DIALECT_##until, values},
#include "ir/targets.def"
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static bool is_in(size_t row, tvms_dialect dialect) {
  dialect = tvms_release_written(dialect);
  return dialect >= rows[row].since && dialect <= rows[row].until;
}

static const char *TVMS_NULLABLE values_of(tvms_dialect dialect, const char *name,
                                           size_t len) {
  for (size_t i = 0; i < ROWS; i++) {
    if (strlen(rows[i].name) != len || memcmp(rows[i].name, name, len) != 0) continue;
    if (is_in(i, dialect)) return rows[i].values;
  }
  return NULL;
}

const char *tvms_target_config_near(tvms_dialect dialect, const char *name) {
  const char *names[ROWS];
  uint32_t count = 0;
  for (size_t i = 0; i < ROWS; i++) {
    if (is_in(i, dialect)) names[count++] = rows[i].name;
  }
  return tvms_diag_nearest_name(name, names, count);
}

const char *tvms_target_config_triple(tvms_dialect dialect) {
  return strstr(values_of(dialect, "llvm", 4), "mtriple=") + strlen("mtriple=");
}

static tvms_node *list_in(tvms_unit *unit, const char *text, size_t len) {
  enum { MOST = 16 };
  tvms_node *items[MOST];
  uint32_t count = 0;
  const char *end = text + len;
  while (text < end && count < MOST) {
    const char *comma = memchr(text, ',', (size_t)(end - text));
    size_t part = (size_t)((comma ? comma : end) - text);
    if (part) items[count++] = tvms_object_str_new(unit, text, part, TVMS_NO_SPAN);
    text += part + 1;
  }
  return tvms_object_array_new(unit, items, count, TVMS_NO_SPAN);
}

static bool is_number(const char *text, size_t len) {
  return len && strspn(text, "0123456789") >= len;
}

static bool is_word(const char *text, size_t len, const char *word) {
  return strlen(word) == len && memcmp(text, word, len) == 0;
}

static tvms_node *value_in(tvms_unit *unit, const char *text, size_t len) {
  if (len && text[0] == '[') return list_in(unit, text + 1, len - 2);
  if (is_number(text, len)) {
    return tvms_object_int_new(unit, strtoll(text, NULL, 10), TVMS_NO_SPAN);
  }
  if (is_word(text, len, "true")) {
    return tvms_object_bool_new(unit, true, TVMS_NO_SPAN);
  }
  if (is_word(text, len, "false")) {
    return tvms_object_bool_new(unit, false, TVMS_NO_SPAN);
  }
  return tvms_object_str_new(unit, text, len, TVMS_NO_SPAN);
}

// Sets `key=value` in a map; `text` ends where the value does.
static tvms_node *put(tvms_unit *unit, tvms_node *map, const char *text, size_t len) {
  enum { LONGEST_KEY = 64 };
  const char *equals = memchr(text, '=', len);
  size_t key_len = equals ? (size_t)(equals - text) : 0;
  char key[LONGEST_KEY];
  if (!equals || key_len >= sizeof key) return map;
  memcpy(key, text, key_len);
  key[key_len] = '\0';
  return tvms_object_map_with(unit, map, key,
                              value_in(unit, equals + 1, len - key_len - 1));
}

tvms_node *tvms_target_config_defaults(tvms_unit *unit, const char *name, size_t len) {
  const char *values = values_of(unit->dialect, name, len);
  if (!values) return NULL;
  tvms_node *tag = tvms_object_str_new(unit, "", 0, TVMS_NO_SPAN);
  tvms_node *map = tvms_object_map_with(unit, NULL, "tag", tag);
  while (*values) {
    size_t part = strcspn(values, ";");
    map = put(unit, map, values, part);
    values += part + (values[part] == ';');
  }
  return map;
}

// ---- Completing a config ----

// The triple of the machine is filled in only where no CPU is given.
static tvms_node *drop_triple(tvms_unit *unit, tvms_node *map, const tvms_node *given) {
  const char *kind = tvms_object_as_text(tvms_object_map_get(map, "kind"));
  bool asked = kind && strcmp(kind, "llvm") == 0 && tvms_object_map_get(given, "mcpu")
               && !tvms_object_map_get(given, "mtriple");
  return asked ? tvms_object_map_with(unit, map, "mtriple", NULL) : map;
}

static uint32_t add_key(tvms_node **keys, uint32_t count,
                        tvms_node *TVMS_NULLABLE key) {
  enum { MOST = 16 };
  const char *text = key ? tvms_object_as_text(key) : NULL;
  if (!text || count == MOST) return count;
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(tvms_object_as_text(keys[i]), text) == 0) return count;
  }
  keys[count] = key;
  return count + 1;
}

static uint32_t add_keys(tvms_node **keys, uint32_t count,
                         tvms_node *TVMS_NULLABLE list) {
  if (!list || list->kind != TVMS_NODE_OBJECT_ARRAY) return count;
  tvms_list items = tvms_as_object_array(list)->items;
  for (uint32_t i = 0; i < items.len; i++) {
    count = add_key(keys, count, items.items[i]);
  }
  return count;
}

// The keys of a target: those given, or those of its kind behind its device.
static tvms_node *with_keys(tvms_unit *unit, tvms_node *map,
                            tvms_node *TVMS_NULLABLE own) {
  tvms_node *keys[17], *given = tvms_object_map_get(map, "keys");
  bool said = given != own;
  uint32_t count = said ? add_keys(keys, 0, given) : 0;
  count = add_key(keys, count, tvms_object_map_get(map, "device"));
  if (!said) count = add_keys(keys, count, own);
  return tvms_object_map_with(unit, map, "keys",
                              tvms_object_array_new(unit, keys, count, TVMS_NO_SPAN));
}

bool tvms_target_config_has_subgroups(const tvms_node *map) {
  int64_t subgroups;
  const tvms_node *given = tvms_object_map_get(map, "supports_subgroups");
  return tvms_object_as_int(given, &subgroups) && subgroups;
}

tvms_node *tvms_target_config_complete(tvms_unit *unit, tvms_node *defaults,
                                       const tvms_node *given) {
  tvms_node *own = tvms_object_map_get(defaults, "keys"), *map = defaults;
  if (given) {
    map = tvms_object_map_join(unit, defaults, given);
    map = drop_triple(unit, map, given);
  }
  // WebGPU says nothing of the size of a subgroup: TVM makes it 32, whatever is given.
  if (tvms_target_config_has_subgroups(map)) {
    tvms_node *size = tvms_object_int_new(unit, 32, TVMS_NO_SPAN);
    map = tvms_object_map_with(unit, map, "thread_warp_size", size);
  }
  return own ? with_keys(unit, map, own) : map;
}

// ---- Options ----

static const struct {
  const char *name;
  tvms_target_option_type type;
  tvms_dialect since;
  const char *kinds;
} options[] = {
#define TARGET_OPTION(name, type, since, kinds)                                        \
  {name, TVMS_TARGET_OPTION_##type, TVMS_DIALECT_##since, kinds},
#include "ir/target_options.def"
};

enum { OPTIONS = sizeof options / sizeof options[0] };

static bool has_word(const char *words, const char *word) {
  size_t len = strlen(word);
  while (*words) {
    size_t next = strcspn(words, " ");
    if (next == len && memcmp(words, word, len) == 0) return true;
    words += next + (words[next] == ' ');
  }
  return false;
}

static bool is_of(size_t row, tvms_dialect dialect, const char *kind) {
  bool now = tvms_release_rows(dialect) >= options[row].since;
  return now && (options[row].kinds[0] == '*' || has_word(options[row].kinds, kind));
}

tvms_target_option_type tvms_target_option_of(tvms_dialect dialect, const char *kind,
                                              const char *key) {
  if (strcmp(key, "kind") == 0) return TVMS_TARGET_OPTION_ANY;
  for (size_t i = 0; i < OPTIONS; i++) {
    if (is_of(i, dialect, kind) && strcmp(options[i].name, key) == 0) {
      return options[i].type;
    }
  }
  bool feature = tvms_release_has(dialect, TVMS_FACT_targets_have_features)
                 && strncmp(key, "feature.", 8) == 0;
  return feature ? TVMS_TARGET_OPTION_ANY : TVMS_TARGET_OPTION_NONE;
}

const char *tvms_target_option_near(tvms_dialect dialect, const char *kind,
                                    const char *key) {
  const char *names[OPTIONS];
  uint32_t count = 0;
  for (size_t i = 0; i < OPTIONS; i++) {
    if (is_of(i, dialect, kind)) names[count++] = options[i].name;
  }
  return tvms_diag_nearest_name(key, names, count);
}

bool tvms_target_option_is_list(const char *key) {
  for (size_t i = 0; i < OPTIONS; i++) {
    if (strcmp(options[i].name, key) == 0) {
      return options[i].type == TVMS_TARGET_OPTION_LIST;
    }
  }
  return false;
}

const char *tvms_target_option_wanted(tvms_target_option_type type) {
  switch (type) {
  case TVMS_TARGET_OPTION_STR: return "a string";
  case TVMS_TARGET_OPTION_INT: return "an int";
  case TVMS_TARGET_OPTION_BOOL: return "a bool";
  case TVMS_TARGET_OPTION_LIST: return "a list of strings";
  case TVMS_TARGET_OPTION_ANY:
  case TVMS_TARGET_OPTION_NONE: break;
  }
  return "a value";
}

static bool is_list_of_texts(const tvms_node *value) {
  if (value->kind != TVMS_NODE_OBJECT_ARRAY) return false;
  tvms_list items = tvms_as_object_array(value)->items;
  for (uint32_t i = 0; i < items.len; i++) {
    if (items.items[i]->kind != TVMS_NODE_OBJECT_STR) return false;
  }
  return true;
}

tvms_node *tvms_target_option_value(tvms_unit *unit, tvms_target_option_type type,
                                    tvms_node *value) {
  bool is_int = value->kind == TVMS_NODE_OBJECT_INT;
  bool is_bool = value->kind == TVMS_NODE_OBJECT_BOOL;
  int64_t number = 0;
  bool counts = (is_int || is_bool) && tvms_object_as_int(value, &number);
  switch (type) {
  case TVMS_TARGET_OPTION_STR:
    return value->kind == TVMS_NODE_OBJECT_STR ? value : NULL;
  case TVMS_TARGET_OPTION_INT:
    if (is_bool) return tvms_object_int_new(unit, number, value->span);
    return counts ? value : NULL;
  case TVMS_TARGET_OPTION_BOOL:
    if (is_int) return tvms_object_bool_new(unit, number != 0, value->span);
    return counts ? value : NULL;
  case TVMS_TARGET_OPTION_LIST: return is_list_of_texts(value) ? value : NULL;
  case TVMS_TARGET_OPTION_ANY:
  case TVMS_TARGET_OPTION_NONE: break;
  }
  return value;
}

tvms_node *tvms_target_option_parse(tvms_unit *unit, tvms_target_option_type type,
                                    const char *text) {
  size_t len = strlen(text);
  bool truth = strcmp(text, "true") == 0 || strcmp(text, "1") == 0 || !len;
  switch (type) {
  case TVMS_TARGET_OPTION_LIST: return list_in(unit, text, len);
  case TVMS_TARGET_OPTION_BOOL: return tvms_object_bool_new(unit, truth, TVMS_NO_SPAN);
  case TVMS_TARGET_OPTION_INT:
    if (!is_number(text, len)) return NULL;
    return tvms_object_int_new(unit, strtoll(text, NULL, 10), TVMS_NO_SPAN);
  case TVMS_TARGET_OPTION_STR:
  case TVMS_TARGET_OPTION_ANY:
  case TVMS_TARGET_OPTION_NONE: break;
  }
  return tvms_object_str_new(unit, text, len, TVMS_NO_SPAN);
}
