// Reading and writing targets as JSON: texts, whole numbers, truths, lists and objects. What a kind has is known to ir/target_config.h.
#include "ir/target_json.h"

#include "ir/build.h"
#include "ir/object.h"
#include "ir/target_config.h"
#include "support/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 8, MOST_ITEMS = 256 };

typedef struct {
  tvms_unit *unit;
  const char *text, *at;
  tvms_strbuf *why;
  int depth;
} json;

static tvms_node *TVMS_NULLABLE read_value(json *j);

// ---- Reading ----

static tvms_node *TVMS_NULLABLE expected(json *j, const char *what) {
  size_t place = (size_t)(j->at - j->text) + 1;
  tvms_strbuf_printf(j->why,
                     "the target is no JSON: expected %s at character %zu of '%s'",
                     what, place, j->text);
  return NULL;
}

static bool take(json *j, char c) {
  j->at += strspn(j->at, " \t\r\n");
  if (*j->at != c) return false;
  j->at++;
  return true;
}

// The text behind the opening quote. Names have no escapes but those of quotes and bars.
static char *TVMS_NULLABLE read_text(json *j) {
  char *text = tvms_arena_alloc(&j->unit->arena, strlen(j->at) + 1);
  size_t len = 0;
  while (*j->at && *j->at != '"') {
    if (*j->at == '\\' && !strchr("\"\\/", *++j->at)) break;
    if (*j->at) text[len++] = *j->at++;
  }
  text[len] = '\0';
  if (take(j, '"')) return text;
  (void)expected(j, "the end of a string");
  return NULL;
}

static tvms_node *TVMS_NULLABLE read_list(json *j) {
  tvms_node *items[MOST_ITEMS];
  uint32_t count = 0;
  bool more = !take(j, ']');
  while (more) {
    if (count == MOST_ITEMS) return expected(j, "fewer items");
    items[count] = read_value(j);
    if (!items[count++]) return NULL;
    more = take(j, ',');
    if (!more && !take(j, ']')) return expected(j, "',' or ']'");
  }
  return tvms_object_array_new(j->unit, items, count, TVMS_NO_SPAN);
}

static tvms_node *TVMS_NULLABLE read_object(json *j) {
  tvms_node *map = tvms_object_map_new(j->unit, NULL, NULL, 0, TVMS_NO_SPAN);
  bool more = !take(j, '}');
  while (more) {
    if (!take(j, '"')) return expected(j, "a key, such as \"kind\"");
    const char *key = read_text(j);
    if (!key) return NULL;
    if (!take(j, ':')) return expected(j, "':'");
    tvms_node *value = read_value(j);
    if (!value) return NULL;
    map = tvms_object_map_with(j->unit, map, key, value);
    more = take(j, ',');
    if (!more && !take(j, '}')) return expected(j, "',' or '}'");
  }
  return map;
}

static tvms_node *TVMS_NULLABLE read_number(json *j) {
  char *end;
  errno = 0;
  long long number = strtoll(j->at, &end, 10);
  if (end == j->at) return expected(j, "a value");
  if (errno || *end == '.' || *end == 'e' || *end == 'E')
    return expected(j, "a whole number of 64 bits");
  j->at = end;
  return tvms_object_int_new(j->unit, number, TVMS_NO_SPAN);
}

static bool take_word(json *j, const char *word) {
  size_t len = strlen(word);
  if (strncmp(j->at, word, len) != 0) return false;
  j->at += len;
  return true;
}

static tvms_node *TVMS_NULLABLE read_nested(json *j, bool object) {
  if (j->depth == DEEPEST) return expected(j, "a value that is not nested as deeply");
  j->depth++;
  tvms_node *made = object ? read_object(j) : read_list(j);
  j->depth--;
  return made;
}

static tvms_node *TVMS_NULLABLE read_value(json *j) {
  if (take(j, '{')) return read_nested(j, true);
  if (take(j, '[')) return read_nested(j, false);
  if (take(j, '"')) {
    const char *text = read_text(j);
    return text ? tvms_object_str_new(j->unit, text, strlen(text), TVMS_NO_SPAN) : NULL;
  }
  bool truth = take_word(j, "true");
  if (truth || take_word(j, "false"))
    return tvms_object_bool_new(j->unit, truth, TVMS_NO_SPAN);
  return read_number(j);
}

// ---- Checking ----

static void add_near(tvms_strbuf *why, const char *TVMS_NULLABLE near) {
  if (near) tvms_strbuf_printf(why, "; did you mean '%s'?", near);
}

static tvms_node *TVMS_NULLABLE complete(tvms_unit *unit, const tvms_node *given,
                                         tvms_strbuf *why);

// A value as the release keeps it; NULL, and why not.
static tvms_node *TVMS_NULLABLE checked(tvms_unit *unit, const char *kind,
                                        const char *key, tvms_node *value,
                                        tvms_strbuf *why) {
  tvms_target_option_type type = tvms_target_option_of(unit->dialect, kind, key);
  if (type == TVMS_TARGET_OPTION_NONE) {
    tvms_strbuf_printf(why, "a target of kind '%s' has no key '%s'", kind, key);
    add_near(why, tvms_target_option_near(unit->dialect, kind, key));
    return NULL;
  }
  if (strcmp(key, "host") == 0 && value->kind == TVMS_NODE_OBJECT_MAP)
    return complete(unit, value, why);
  tvms_node *kept = tvms_target_option_value(unit, type, value);
  if (!kept)
    tvms_strbuf_printf(why, "'%s' of a target must be %s", key,
                       tvms_target_option_wanted(type));
  return kept;
}

static tvms_node *TVMS_NULLABLE complete(tvms_unit *unit, const tvms_node *given,
                                         tvms_strbuf *why) {
  const char *kind = tvms_object_as_text(tvms_object_map_get(given, "kind"));
  if (!kind) {
    tvms_strbuf_printf(why, "the target says no \"kind\", such as \"llvm\"");
    return NULL;
  }
  tvms_node *defaults = tvms_target_config_defaults(unit, kind, strlen(kind));
  if (!defaults) {
    tvms_strbuf_printf(why, "unknown kind '%s' of a target", kind);
    add_near(why, tvms_target_config_near(unit->dialect, kind));
    return NULL;
  }
  tvms_node *map = NULL;
  const tvms_object_map *fields = tvms_as_object_map(given);
  for (uint32_t i = 0; i < fields->keys.len; i++) {
    const char *key = tvms_object_as_text(fields->keys.items[i]);
    tvms_node *value = checked(unit, kind, key, fields->values.items[i], why);
    if (!value) return NULL;
    map = tvms_object_map_with(unit, map, key, value);
  }
  return tvms_target_config_complete(unit, defaults, map);
}

tvms_node *TVMS_NULLABLE tvms_target_json_read(tvms_unit *unit, const char *text,
                                               tvms_strbuf *why) {
  json j = {.unit = unit, .text = text, .at = text, .why = why};
  if (!take(&j, '{')) return expected(&j, "'{'");
  tvms_node *given = read_nested(&j, true);
  if (!given) return NULL;
  (void)take(&j, ' ');
  if (*j.at) return expected(&j, "nothing behind the object");
  return complete(unit, given, why);
}

// ---- Writing ----

static void write_features(tvms_json *out, const char *features) {
  tvms_json_key(out, "mattr");
  tvms_json_open(out, '[');
  while (*features) {
    size_t len = strcspn(features, ",");
    tvms_json_string(out, features, len);
    features += len + (features[len] == ',');
  }
  tvms_json_close(out, ']');
}

void tvms_target_json_write(const tvms_target *target, tvms_strbuf *out) {
  tvms_json writer;
  tvms_json_init(&writer, out);
  writer.compact = true;
  tvms_json_open(&writer, '{');
  tvms_json_put_text(&writer, "kind", "llvm");
  if (target->triple) tvms_json_put_text(&writer, "mtriple", target->triple);
  if (target->cpu) tvms_json_put_text(&writer, "mcpu", target->cpu);
  if (target->features) write_features(&writer, target->features);
  if (target->cores) tvms_json_put_int(&writer, "num-cores", target->cores);
  int64_t width = tvms_target_number(target, "vector-width", 0);
  if (width > 0) tvms_json_put_int(&writer, "vector-width", width);
  tvms_json_close(&writer, '}');
}
