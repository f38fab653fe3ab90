// Options of targets: which kind has which, and what their values must be.
#include "parser/target_option.h"

#include "grammar/literal.h"
#include "ir/build.h"
#include "ir/object.h"
#include "parser/eval/convert.h"
#include "parser/eval/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { STR, INT, BOOL, LIST, ANY } option_type;

static const struct {
  const char *name;
  option_type type;
  tvms_dialect since;
  const char *kinds;
} rows[] = {
#define TARGET_OPTION(name, type, since, kinds)                                        \
  {name, type, TVMS_DIALECT_##since, kinds},
#include "ir/target_options.def"
};

enum { ROWS = sizeof rows / sizeof rows[0], UNKNOWN = -1 };

static bool has_word(const char *words, const char *word) {
  size_t len = strlen(word);
  while (*words) {
    size_t next = strcspn(words, " ");
    if (next == len && memcmp(words, word, len) == 0) return true;
    words += next + (words[next] == ' ');
  }
  return false;
}

static bool is_of(const tvms_reader *reader, size_t row, const char *kind) {
  bool now = reader->dialect >= rows[row].since || rows[row].since == TVMS_DIALECT_22;
  return now && (rows[row].kinds[0] == '*' || has_word(rows[row].kinds, kind));
}

bool tvms_target_option_is_list(const char *key) {
  for (size_t i = 0; i < ROWS; i++) {
    if (strcmp(rows[i].name, key) == 0) return rows[i].type == LIST;
  }
  return false;
}

// The type of an option, or UNKNOWN after a report.
static int type_of(tvms_reader *reader, const char *kind, const char *key,
                   tvms_ref ref) {
  const char *names[ROWS];
  uint32_t count = 0;
  for (size_t i = 0; i < ROWS; i++) {
    if (!is_of(reader, i, kind)) continue;
    if (strcmp(rows[i].name, key) == 0) return (int)rows[i].type;
    names[count++] = rows[i].name;
  }
  if (reader->dialect >= TVMS_DIALECT_25 && strncmp(key, "feature.", 8) == 0)
    return ANY;
  tvms_diag *diag = tvms_reader_report(reader, target_option, ref, kind, key);
  const char *near = tvms_diag_nearest_name(key, names, count);
  if (near) tvms_diag_remark(&reader->context->diags, diag, "did you mean '%s'?", near);
  reader->failed = true;
  return UNKNOWN;
}

static void wrong_value(tvms_reader *reader, tvms_ref ref, const char *key,
                        const char *wanted, tvms_eval_value value) {
  char what[80];
  snprintf(what, sizeof what, "option '%s'", key);
  tvms_eval_report_wrong_type(reader, ref, what, wanted, value);
}

static bool is_list_of_texts(tvms_eval_value value) {
  if (!tvms_eval_value_is_sequence(value)) return false;
  for (uint32_t i = 0; i < value.len; i++) {
    if (value.as.items[i].kind != TVMS_EVAL_STR) return false;
  }
  return true;
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

tvms_node *tvms_target_option(tvms_reader *reader, const char *kind, const char *key,
                              tvms_eval_value value, tvms_node *object, tvms_ref dict) {
  static const char *const wanted[] = {"a str", "an int", "a bool", "a list of str"};
  if (strcmp(key, "kind") == 0) return object;
  tvms_ref ref = value_ref(reader, dict, key);
  int type = type_of(reader, kind, key, ref);
  if (type == UNKNOWN) return NULL;
  bool number = value.kind == TVMS_EVAL_INT || value.kind == TVMS_EVAL_BOOL;
  bool sound = type == ANY || (type == STR && value.kind == TVMS_EVAL_STR)
               || ((type == INT || type == BOOL) && number)
               || (type == LIST && is_list_of_texts(value));
  if (!sound) {
    wrong_value(reader, ref, key, wanted[type], value);
    return NULL;
  }
  if (type == INT && value.kind == TVMS_EVAL_BOOL)
    return tvms_object_int_new(reader->unit, value.as.i, object->span);
  if (type == BOOL && value.kind == TVMS_EVAL_INT)
    return tvms_object_bool_new(reader->unit, value.as.i != 0, object->span);
  return object;
}

// ---- Options in a text ----

static tvms_node *texts(tvms_reader *reader, const char *text) {
  tvms_node *items[16];
  uint32_t count = 0;
  while (*text && count < 16) {
    size_t len = strcspn(text, ",");
    items[count++] =
        tvms_object_str_new(reader->unit, text, (uint32_t)len, TVMS_NO_SPAN);
    text += len + (text[len] == ',');
  }
  return tvms_object_array_new(reader->unit, items, count, TVMS_NO_SPAN);
}

tvms_node *tvms_target_option_text(tvms_reader *reader, const char *kind,
                                   const char *key, const char *text, tvms_ref ref) {
  int type = type_of(reader, kind, key, ref);
  if (type == UNKNOWN) return NULL;
  size_t len = strlen(text);
  bool number = len && strspn(text, "0123456789") == len;
  bool truth = strcmp(text, "true") == 0 || strcmp(text, "1") == 0 || !len;
  if (type == LIST) return texts(reader, text);
  if (type == BOOL) return tvms_object_bool_new(reader->unit, truth, TVMS_NO_SPAN);
  if (type == INT && number)
    return tvms_object_int_new(reader->unit, strtoll(text, NULL, 10), TVMS_NO_SPAN);
  if (type != INT)
    return tvms_object_str_new(reader->unit, text, (uint32_t)len, TVMS_NO_SPAN);
  wrong_value(reader, ref, key, "an int", tvms_eval_value_text(text, (uint32_t)len));
  return NULL;
}
