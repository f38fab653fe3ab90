// Targets: what T.target("cuda") or a config dict stands for, with TVM's own values for
// what is not given (ir/targets.def).
#include "parser/target.h"

#include "ir/build.h"
#include "ir/object.h"
#include "parser/calls.h"
#include "parser/eval/convert.h"
#include "parser/eval/internal.h"
#include "parser/target_option.h"

#include <stdlib.h>
#include <string.h>

#define TVMS_DIALECT_ever TVMS_DIALECT_NONE

static const struct {
  const char *name;
  uint8_t since, until;
  const char *values;
} rows[] = {
#define TARGET(name, since, until, values)                                             \
  {name, TVMS_DIALECT_##since, TVMS_DIALECT_##until, values},
#include "ir/targets.def"
};

static const char *values_of(tvms_dialect dialect, const char *name, size_t len) {
  if (dialect == TVMS_DIALECT_RFC) dialect = TVMS_DIALECT_22;
  if (dialect == TVMS_DIALECT_24) dialect = TVMS_DIALECT_25;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (strlen(rows[i].name) != len || memcmp(rows[i].name, name, len) != 0) continue;
    if (dialect >= rows[i].since && dialect <= rows[i].until) return rows[i].values;
  }
  return NULL;
}

const char *tvms_target_triple(tvms_dialect dialect) {
  return strstr(values_of(dialect, "llvm", 4), "mtriple=") + strlen("mtriple=");
}

// ---- Values in text -------------------------------------------------------------------------

static tvms_node *list_in(tvms_unit *unit, const char *text, size_t len) {
  tvms_node *items[16];
  uint32_t count = 0;
  const char *end = text + len;
  while (text < end && count < 16) {
    size_t part = strcspn(text, ",]");
    if (text + part > end) part = (size_t)(end - text);
    if (part) items[count++] = tvms_object_str_new(unit, text, part, TVMS_NO_SPAN);
    text += part + 1;
  }
  return tvms_object_array_new(unit, items, count, TVMS_NO_SPAN);
}

static bool is_number(const char *text, size_t len) {
  for (size_t i = 0; i < len; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
  }
  return len > 0;
}

static tvms_node *value_in(tvms_unit *unit, const char *text, size_t len) {
  if (len && text[0] == '[') return list_in(unit, text + 1, len - 2);
  if (is_number(text, len)) {
    return tvms_object_int_new(unit, strtoll(text, NULL, 10), TVMS_NO_SPAN);
  }
  if (len == 4 && memcmp(text, "true", 4) == 0) {
    return tvms_object_bool_new(unit, true, TVMS_NO_SPAN);
  }
  if (len == 5 && memcmp(text, "false", 5) == 0) {
    return tvms_object_bool_new(unit, false, TVMS_NO_SPAN);
  }
  return tvms_object_str_new(unit, text, len, TVMS_NO_SPAN);
}

// Sets `key=value` in a map; `text` ends where the value does.
static tvms_node *put(tvms_unit *unit, tvms_node *map, const char *text, size_t len) {
  const char *equals = memchr(text, '=', len);
  if (!equals) return map;
  char key[64];
  size_t key_len = (size_t)(equals - text);
  if (key_len >= sizeof key) return map;
  memcpy(key, text, key_len);
  key[key_len] = '\0';
  return tvms_object_map_with(unit, map, key,
                              value_in(unit, equals + 1, len - key_len - 1));
}

// The values of a kind or tag as a map, or NULL if it is not known.
static tvms_node *map_of(tvms_reader *reader, const char *name, size_t len) {
  const char *values = values_of(reader->dialect, name, len);
  if (!values) return NULL;
  tvms_unit *unit = reader->unit;
  tvms_node *tag = tvms_object_str_new(unit, "", 0, TVMS_NO_SPAN);
  tvms_node *map = tvms_object_map_with(unit, NULL, "tag", tag);
  while (*values) {
    size_t part = strcspn(values, ";");
    map = put(unit, map, values, part);
    values += part + (values[part] == ';');
  }
  return map;
}

// The triple of the machine is filled in only where no CPU is given.
static tvms_node *drop_triple(tvms_unit *unit, tvms_node *map, const tvms_node *given) {
  const char *kind = tvms_object_as_text(tvms_object_map_get(map, "kind"));
  bool asked = kind && strcmp(kind, "llvm") == 0 && tvms_object_map_get(given, "mcpu")
               && !tvms_object_map_get(given, "mtriple");
  return asked ? tvms_object_map_with(unit, map, "mtriple", NULL) : map;
}

// Kinds are all known, tags are not; a text may also hold JSON.
static bool is_unknown_kind(const char *text, size_t len) {
  return len && !memchr(text, '/', len) && *text != '{';
}

static tvms_node *unknown_target(tvms_reader *reader, const char *text, size_t len,
                                 tvms_ref ref) {
  tvms_reader_report(reader, unknown_target, ref, (int)len, text);
  reader->failed = true;
  return NULL;
}

// ---- Configs --------------------------------------------------------------------------------

static uint32_t add_key(tvms_node **keys, uint32_t count, tvms_node *key) {
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

// One option of a text, `-key=value` or `-key`. NULL after a report.
static tvms_node *with_option(tvms_reader *reader, tvms_node *map, const char *kind,
                              const char *text, size_t len, tvms_ref ref) {
  const char *equals = memchr(text, '=', len);
  size_t key_len = equals ? (size_t)(equals - text) : len;
  const char *key = tvms_arena_text(&reader->values, text, key_len);
  size_t from = key_len + (equals != NULL);
  const char *value = tvms_arena_text(&reader->values, text + from, len - from);
  tvms_node *object = tvms_target_option_text(reader, kind, key, value, ref);
  return object ? tvms_object_map_with(reader->unit, map, key, object) : NULL;
}

// `cuda -arch=sm_80`: a kind and options.
static tvms_node *config_of_text(tvms_reader *reader, tvms_eval_value text,
                                 tvms_ref ref) {
  tvms_unit *unit = reader->unit;
  const char *at = text.as.text, *end = at + text.len;
  size_t name_len = strcspn(at, " ");
  if (name_len > text.len) name_len = text.len;
  tvms_node *map = map_of(reader, at, name_len);
  bool options =
      name_len < text.len && *at != '{' && reader->dialect >= TVMS_DIALECT_25;
  if (options || (!map && is_unknown_kind(at, name_len))) {
    return unknown_target(reader, at, options ? text.len : name_len, ref);
  }
  if (!map)
    return tvms_object_str_new(unit, at, text.len, tvms_reader_span_of(reader, ref));
  tvms_node *own = tvms_object_map_get(map, "keys");
  const char *kind = tvms_object_as_text(tvms_object_map_get(map, "kind"));
  at += name_len;
  tvms_node *given = NULL;
  while (at < end) {
    at += strspn(at, " -");
    size_t part = strcspn(at, " ");
    if (at + part > end) part = (size_t)(end - at);
    if (part) given = with_option(reader, given, kind, at, part, ref);
    if (part && !given) return NULL;
    at += part;
  }
  const tvms_object_map *fields = given ? tvms_as_object_map(given) : NULL;
  for (uint32_t i = 0; fields && i < fields->keys.len; i++) {
    map = tvms_object_map_with(unit, map, tvms_object_as_text(fields->keys.items[i]),
                               fields->values.items[i]);
  }
  if (given) map = drop_triple(unit, map, given);
  return own ? with_keys(unit, map, own) : map;
}

// What a dict says for a key that it has.
static tvms_eval_value value_of(tvms_eval_value dict, const char *key) {
  uint32_t i = 0;
  while (i + 2 < dict.len && !tvms_eval_value_is_exactly(dict.as.items[i], key)) {
    i += 2;
  }
  return dict.as.items[i + 1];
}

static tvms_node *config_of_dict(tvms_reader *reader, tvms_eval_value dict,
                                 tvms_ref ref) {
  tvms_node *given = tvms_eval_to_object(reader, dict, ref);
  if (!given) return NULL;
  tvms_node *kind = tvms_object_map_get(given, "kind");
  const char *name = tvms_object_as_text(kind);
  const char *tag = tvms_object_as_text(tvms_object_map_get(given, "tag"));
  if (!name && (!tag || !*tag)) {
    return unknown_target(reader, "{}", 2, ref);
  }
  tvms_node *map = name ? map_of(reader, name, strlen(name)) : NULL;
  if (name && !map) return unknown_target(reader, name, strlen(name), ref);
  if (!map) return given;
  tvms_node *own = tvms_object_map_get(map, "keys");
  const tvms_object_map *fields = tvms_as_object_map(given);
  for (uint32_t i = 0; i < fields->keys.len; i++) {
    const char *key = tvms_object_as_text(fields->keys.items[i]);
    tvms_node *value = fields->values.items[i];
    if (!key) continue;
    tvms_eval_value said = value_of(dict, key);
    bool host = strcmp(key, "host") == 0;
    if (host && said.kind == TVMS_EVAL_NONE) continue;
    if (host) value = tvms_target_config(reader, said, ref);
    if (value) value = tvms_target_option(reader, name, key, said, value, ref);
    if (!value) return NULL;
    map = tvms_object_map_with(reader->unit, map, key, value);
  }
  map = drop_triple(reader->unit, map, given);
  return own ? with_keys(reader->unit, map, own) : map;
}

tvms_node *tvms_target_config(tvms_reader *reader, tvms_eval_value value,
                              tvms_ref ref) {
  if (value.kind == TVMS_EVAL_STR) return config_of_text(reader, value, ref);
  if (value.kind == TVMS_EVAL_DICT) return config_of_dict(reader, value, ref);
  tvms_node *target = tvms_eval_value_node_of(value, TVMS_NODE_OBJECT_TARGET);
  if (target) return tvms_as_object_target(target)->config;
  tvms_eval_report_wrong_type(reader, ref, "a target", "a dict or a str", value);
  return NULL;
}

// T.target(config, host=None).
tvms_eval_value tvms_call_target(tvms_reader *reader, const tvms_call_args *call) {
  tvms_object_target *node = tvms_node_make(reader->unit, OBJECT_TARGET,
                                            tvms_reader_span_of(reader, call->ref));
  // Only the host may be given as a target.
  if (tvms_eval_value_node_of(call->args[0], TVMS_NODE_OBJECT_TARGET)) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "a target", "a dict or a str",
                                call->args[0]);
    return tvms_reader_failed(reader);
  }
  node->config = tvms_target_config(reader, call->args[0], call->refs[0]);
  if (!node->config) return tvms_reader_failed(reader);
  tvms_eval_value host = call->args[1];
  if (host.kind == TVMS_EVAL_NONE) return tvms_eval_value_node(&node->head);
  if (node->config->kind != TVMS_NODE_OBJECT_MAP
      || tvms_object_map_get(node->config, "host")) {
    tvms_reader_report(reader, two_hosts, call->refs[1]);
    return tvms_reader_failed(reader);
  }
  tvms_node *other = tvms_target_config(reader, host, call->refs[1]);
  if (!other) return tvms_reader_failed(reader);
  node->config = tvms_object_map_with(reader->unit, node->config, "host", other);
  return tvms_eval_value_node(&node->head);
}
