// Targets as values: what T.target("cuda") and T.target({"kind": …}) are evaluated to.
//
// What a release fills in and which options a kind has is known to ir/target_config.h; here
// texts and dicts become what it takes, and what is wrong with them is reported where it
// stands.
#include "parser/target.h"

#include "grammar/literal_values.h"
#include "ir/build.h"
#include "ir/object.h"
#include "ir/target_config.h"
#include "parser/eval/convert.h"
#include "parser/handlers.h"

#include <stdio.h>
#include <string.h>

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

// ---- Options --------------------------------------------------------------------------------

// The type of an option, or NONE after a report.
static tvms_target_option_type type_of(tvms_reader *reader, const char *kind,
                                       const char *key, tvms_ref ref) {
  tvms_target_option_type type = tvms_target_option_of(reader->dialect, kind, key);
  if (type != TVMS_TARGET_OPTION_NONE) return type;
  tvms_diag *diag = tvms_reader_report(reader, target_option, ref, kind, key);
  const char *near = tvms_target_option_near(reader->dialect, kind, key);
  if (near) tvms_diag_remark(&reader->context->diags, diag, "did you mean '%s'?", near);
  reader->failed = true;
  return type;
}

static void wrong_value(tvms_reader *reader, tvms_ref ref, const char *key,
                        tvms_target_option_type type, tvms_eval_value value) {
  char what[80];
  snprintf(what, sizeof what, "option '%s'", key);
  tvms_eval_report_wrong_type(reader, ref, what, tvms_target_option_wanted(type),
                              value);
}

// Where a dict that is written out says the value of a key, or the whole of it.
static tvms_ref value_ref(const tvms_reader *reader, tvms_ref dict, const char *key) {
  const tvms_surf *node = tvms_reader_at(reader, dict);
  if (node->kind != TVMS_SURF_DICT) return dict;
  tvms_surface_each(reader->surface, pair, node->a) {
    const tvms_surf *entry = tvms_reader_at(reader, pair);
    tvms_span inside;
    if (entry->kind != TVMS_SURF_PAIR
        || !tvms_surface_string_inside(reader->surface, entry->a, &inside))
      continue;
    size_t len = inside.end - inside.begin;
    const char *text = reader->surface->source->text + inside.begin;
    if (len == strlen(key) && memcmp(text, key, len) == 0) return entry->b;
  }
  return dict;
}

// The value of a key of a dict as the release keeps it: `object` is what `value` is as an
// attribute. NULL after a report.
static tvms_node *checked_option(tvms_reader *reader, const char *kind, const char *key,
                                 tvms_eval_value value, tvms_node *object,
                                 tvms_ref dict) {
  tvms_ref ref = value_ref(reader, dict, key);
  tvms_target_option_type type = type_of(reader, kind, key, ref);
  if (type == TVMS_TARGET_OPTION_NONE) return NULL;
  tvms_node *kept = tvms_target_option_value(reader->unit, type, object);
  if (!kept) wrong_value(reader, ref, key, type, value);
  return kept;
}

// ---- Texts ----------------------------------------------------------------------------------

// One option of a text, `-key=value` or `-key`. NULL after a report.
static tvms_node *with_option(tvms_reader *reader, tvms_node *map, const char *kind,
                              const char *text, size_t len, tvms_ref ref) {
  const char *equals = memchr(text, '=', len);
  size_t key_len = equals ? (size_t)(equals - text) : len;
  const char *key = tvms_arena_text(&reader->values, text, key_len);
  size_t from = key_len + (equals != NULL);
  const char *value = tvms_arena_text(&reader->values, text + from, len - from);
  tvms_target_option_type type = type_of(reader, kind, key, ref);
  if (type == TVMS_TARGET_OPTION_NONE) return NULL;
  tvms_node *object = tvms_target_option_parse(reader->unit, type, value);
  if (object) return tvms_object_map_with(reader->unit, map, key, object);
  wrong_value(reader, ref, key, type,
              tvms_eval_value_text(value, (uint32_t)(len - from)));
  return NULL;
}

// `cuda -arch=sm_80`: a kind and options.
static tvms_node *config_of_text(tvms_reader *reader, tvms_eval_value text,
                                 tvms_ref ref) {
  tvms_unit *unit = reader->unit;
  const char *at = text.as.text, *end = at + text.len;
  size_t name_len = strcspn(at, " ");
  if (name_len > text.len) name_len = text.len;
  tvms_node *defaults = tvms_target_config_defaults(unit, at, name_len);
  bool options = name_len < text.len && *at != '{'
                 && !tvms_release_has(reader->dialect, TVMS_FACT_targets_are_texts);
  if (options || (!defaults && is_unknown_kind(at, name_len))) {
    return unknown_target(reader, at, options ? text.len : name_len, ref);
  }
  if (!defaults)
    return tvms_object_str_new(unit, at, text.len, tvms_reader_span_of(reader, ref));
  const char *kind = tvms_object_as_text(tvms_object_map_get(defaults, "kind"));
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
  return tvms_target_config_complete(unit, defaults, given);
}

// ---- Dicts ----------------------------------------------------------------------------------

// What a dict says for a key that it has.
static tvms_eval_value value_of(tvms_eval_value dict, const char *key) {
  uint32_t i = 0;
  while (i + 2 < dict.len && !tvms_eval_value_is_exactly(dict.as.items[i], key)) {
    i += 2;
  }
  return dict.as.items[i + 1];
}

// The entries of a dict with values as the release keeps them. NULL after a report.
static tvms_node *checked_options(tvms_reader *reader, const char *kind,
                                  tvms_eval_value dict, const tvms_node *given,
                                  tvms_ref ref) {
  tvms_node *map = NULL;
  const tvms_object_map *fields = tvms_as_object_map(given);
  for (uint32_t i = 0; i < fields->keys.len; i++) {
    const char *key = tvms_object_as_text(fields->keys.items[i]);
    tvms_node *value = fields->values.items[i];
    if (!key) continue;
    tvms_eval_value said = value_of(dict, key);
    bool host = strcmp(key, "host") == 0;
    if (host && said.kind == TVMS_EVAL_NONE) continue;
    if (host) value = tvms_target_config(reader, said, ref);
    if (value) value = checked_option(reader, kind, key, said, value, ref);
    if (!value) return NULL;
    map = tvms_object_map_with(reader->unit, map, key, value);
  }
  return map;
}

// In WebGPU only a subgroup is a warp of more than one thread.
static bool subgroups_agree(tvms_reader *reader, const char *kind,
                            const tvms_node *given, tvms_ref dict) {
  int64_t size;
  const char *key = "thread_warp_size";
  bool wide = strcmp(kind, "webgpu") == 0
              && tvms_object_as_int(tvms_object_map_get(given, key), &size) && size > 1;
  if (!wide || tvms_target_config_has_subgroups(given)) return true;
  tvms_reader_report(reader, warp_without_subgroups, value_ref(reader, dict, key));
  return false;
}

static tvms_node *config_of_dict(tvms_reader *reader, tvms_eval_value dict,
                                 tvms_ref ref) {
  tvms_node *given = tvms_eval_to_object(reader, dict, ref);
  if (!given) return NULL;
  const char *name = tvms_object_as_text(tvms_object_map_get(given, "kind"));
  const char *tag = tvms_object_as_text(tvms_object_map_get(given, "tag"));
  if (!name && (!tag || !*tag)) {
    return unknown_target(reader, "{}", 2, ref);
  }
  if (!name) return given;
  tvms_node *defaults = tvms_target_config_defaults(reader->unit, name, strlen(name));
  if (!defaults) return unknown_target(reader, name, strlen(name), ref);
  given = checked_options(reader, name, dict, given, ref);
  if (!given || !subgroups_agree(reader, name, given, ref)) return NULL;
  return tvms_target_config_complete(reader->unit, defaults, given);
}

// ---- Values ---------------------------------------------------------------------------------

tvms_node *tvms_target_config(tvms_reader *reader, tvms_eval_value value,
                              tvms_ref ref) {
  if (value.kind == TVMS_EVAL_STR) return config_of_text(reader, value, ref);
  if (value.kind == TVMS_EVAL_DICT) return config_of_dict(reader, value, ref);
  tvms_node *target = tvms_eval_value_node_of(value, TVMS_NODE_OBJECT_TARGET);
  if (target) return tvms_as_object_target(target)->config;
  tvms_eval_report_wrong_type(reader, ref, "a target", "a dict or a string", value);
  return NULL;
}

// T.target(config, host=None).
tvms_eval_value tvms_call_target(tvms_reader *reader, const tvms_call_args *call) {
  tvms_object_target *node = tvms_node_make(reader->unit, OBJECT_TARGET,
                                            tvms_reader_span_of(reader, call->ref));
  // Only the host may be given as a target.
  if (tvms_eval_value_node_of(call->args[0], TVMS_NODE_OBJECT_TARGET)) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "a target", "a dict or a string",
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
