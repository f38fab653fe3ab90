// The table of tvms, and what several tables say together.
#include "config/config.h"

#include "config/editor.h"
#include "config/glob.h"
#include "ir/dialect.h"
#include "support/diag_ids.h"
#include "support/strbuf.h"

#include <string.h>

enum { WIDEST = 320 };

typedef enum { TOP, LINT } key_table;

typedef enum { WIDTH, QUOTES, RELEASE, LIST, LEVELS, FILES } key_kind;

typedef struct {
  key_table table;
  const char *name;
  key_kind kind;
  const char *wanted;
  size_t offset;  // of its field in tvms_config_table
} key_row;

static const key_row keys[] = {
#define KEY(table, name, kind, field, wanted)                                          \
  {table, name, kind, wanted, offsetof(tvms_config_table, field)},
#include "config/keys.def"
};
enum { KEY_COUNT = sizeof keys / sizeof keys[0] };

typedef struct {
  tvms_context *context;
  tvms_source *source;
  tvms_config_table *table;
} reading;

/* Values */

static tvms_config_item item_of(const reading *r, const char *text, tvms_span span) {
  return (tvms_config_item){text, r->source, span};
}

static bool read_list(const reading *r, const tvms_toml *value,
                      tvms_config_items *out) {
  if (value->kind != TVMS_TOML_ARRAY) return false;
  for (const tvms_toml *item = value->first; item; item = item->next) {
    if (item->kind != TVMS_TOML_STRING) return false;
    tvms_config_item one = item_of(r, item->text, item->span);
    tvms_vec_push(&r->context->memory, out, one);
  }
  return true;
}

bool tvms_config_list(tvms_context *context, const tvms_toml *value,
                      tvms_source *source, tvms_config_items *out) {
  reading r = {context, source, NULL};
  return read_list(&r, value, out);
}

static bool read_width(const tvms_toml *value, uint32_t *out) {
  bool right = value->kind == TVMS_TOML_INTEGER && value->integer >= 1
               && value->integer <= WIDEST;
  if (right) *out = (uint32_t)value->integer;
  return right;
}

static bool read_quotes(const tvms_toml *value, tvms_config_quotes *out) {
  static const char *const words[] = {
      [TVMS_QUOTES_DOUBLE] = "double",
      [TVMS_QUOTES_SINGLE] = "single",
      [TVMS_QUOTES_PRESERVE] = "preserve",
  };
  if (value->kind != TVMS_TOML_STRING) return false;
  for (int quotes = TVMS_QUOTES_DOUBLE; quotes <= TVMS_QUOTES_PRESERVE; quotes++) {
    if (strcmp(words[quotes], value->text) != 0) continue;
    *out = (tvms_config_quotes)quotes;
    return true;
  }
  return false;
}

static bool read_release(const tvms_toml *value, const char **out) {
  if (value->kind != TVMS_TOML_STRING) return false;
  *out = value->text;
  return tvms_dialect_parse(value->text) != TVMS_DIALECT_NONE;
}

static bool is_level(const char *text) {
  return strcmp(text, "error") == 0 || strcmp(text, "warning") == 0
         || strcmp(text, "note") == 0;
}

static bool read_levels(const reading *r, const tvms_toml *value,
                        tvms_config_items *out) {
  if (value->kind != TVMS_TOML_TABLE) return false;
  for (const tvms_toml *item = value->first; item; item = item->next) {
    if (item->kind != TVMS_TOML_STRING || !is_level(item->text)) return false;
    tvms_strbuf text;
    tvms_strbuf_init(&text, &r->context->memory);
    tvms_strbuf_printf(&text, "%s=%s", item->key, item->text);
    const char *copy =
        tvms_arena_text(&r->context->arena, tvms_strbuf_text(&text), text.len);
    tvms_strbuf_fini(&text);
    tvms_config_item one = item_of(r, copy, item->key_span);
    tvms_vec_push(&r->context->memory, out, one);
  }
  return true;
}

static bool read_files(const reading *r, const tvms_toml *value,
                       tvms_config_per_files *out) {
  if (value->kind != TVMS_TOML_TABLE) return false;
  for (const tvms_toml *item = value->first; item; item = item->next) {
    tvms_config_per_file one = {.pattern = item_of(r, item->key, item->key_span)};
    if (!read_list(r, item, &one.codes)) return false;
    tvms_vec_push(&r->context->memory, out, one);
  }
  return true;
}

static bool read_value(const reading *r, const key_row *row, const tvms_toml *value) {
  void *field = (char *)r->table + row->offset;
  switch (row->kind) {
  case WIDTH: return read_width(value, field);
  case QUOTES: return read_quotes(value, field);
  case RELEASE: return read_release(value, field);
  case LIST: return read_list(r, value, field);
  case LEVELS: return read_levels(r, value, field);
  case FILES: return read_files(r, value, field);
  }
  return false;
}

/* Keys */

static void unknown_key(const reading *r, key_table table, const tvms_toml *item) {
  const char *names[KEY_COUNT + 1];
  uint32_t count = 0;
  for (size_t i = 0; i < KEY_COUNT; i++) {
    if (keys[i].table == table) names[count++] = keys[i].name;
  }
  if (table == TOP) names[count++] = "lint";
  tvms_diags *diags = &r->context->diags;
  tvms_diag *diag =
      tvms_diag_report(diags, TVMS_D_config_key, item->key_span, item->key);
  const char *near = tvms_diag_nearest_name(item->key, names, count);
  if (near) tvms_diag_fix(diags, diag, item->key_span, false, "%s", near);
}

static void read_key(const reading *r, key_table table, const tvms_toml *item) {
  for (size_t i = 0; i < KEY_COUNT; i++) {
    const key_row *row = &keys[i];
    if (row->table != table || strcmp(row->name, item->key) != 0) continue;
    if (!read_value(r, row, item)) {
      tvms_diag_report(&r->context->diags, TVMS_D_config_value, item->span, item->key,
                       row->wanted);
      r->table->wrong = true;
    }
    return;
  }
  unknown_key(r, table, item);
}

static void read_lint(const reading *r, const tvms_toml *lint) {
  if (lint->kind != TVMS_TOML_TABLE) {
    tvms_diag_report(&r->context->diags, TVMS_D_config_value, lint->span, lint->key,
                     "a table");
    r->table->wrong = true;
    return;
  }
  for (const tvms_toml *item = lint->first; item; item = item->next) {
    read_key(r, LINT, item);
  }
  r->table->selects = tvms_toml_get(lint, "select") != NULL;
}

tvms_config_table *tvms_config_read_own(tvms_context *context, const tvms_toml *table,
                                        tvms_source *source, const char *folder) {
  reading r = {context, source, tvms_arena_new(&context->arena, tvms_config_table)};
  context->diags.source = source;
  r.table->folder = folder;
  for (const tvms_toml *item = table->first; item; item = item->next) {
    if (strcmp(item->key, "lint") == 0)
      read_lint(&r, item);
    else
      read_key(&r, TOP, item);
  }
  return r.table;
}

/* Several tables */

static tvms_config_items items_over(tvms_config_items under, tvms_config_items over) {
  return over.len ? over : under;
}

tvms_config_table *tvms_config_overlay(tvms_context *context,
                                       const tvms_config_table *under,
                                       const tvms_config_table *over) {
  tvms_config_table *both = tvms_arena_new(&context->arena, tvms_config_table);
  *both = *under;
  if (over->folder) both->folder = over->folder;
  both->wrong |= over->wrong;
  if (over->width) both->width = over->width;
  if (over->quotes) both->quotes = over->quotes;
  if (over->release) both->release = over->release;
  both->joins |= over->joins;
  both->selects |= over->selects;
  if (over->selects) both->select = over->select;
  both->ignore = items_over(under->ignore, over->ignore);
  both->severity = items_over(under->severity, over->severity);
  both->exclude = items_over(under->exclude, over->exclude);
  if (over->per_file_ignores.len) both->per_file_ignores = over->per_file_ignores;
  return both;
}

tvms_config tvms_config_join(const tvms_config_table *own,
                             const tvms_config_table *formatter,
                             const tvms_config_editor *editor) {
  static const tvms_config_table none;
  const tvms_config_table *other = formatter ? formatter : &none;
  return (tvms_config){
      .wrong = own->wrong || other->wrong,
      .width = own->width ? own->width : other->width,
      .quotes = own->quotes ? own->quotes : other->quotes,
      .joins = own->joins || other->joins,
      .own = own,
      .formatter = formatter,
      // A project that has a formatter has its width, be it that which it has by itself.
      .editor = formatter ? NULL : editor,
  };
}

uint32_t tvms_config_width(const tvms_config *config, const char *path) {
  if (config->width) return config->width;
  uint32_t width = config->editor ? tvms_config_editor_width(config->editor, path) : 0;
  return width <= WIDEST ? width : WIDEST;
}

static bool any_matches(const tvms_config_table *table, const char *path) {
  const char *inside = table->folder ? tvms_glob_below(table->folder, path) : NULL;
  for (uint32_t i = 0; inside && i < table->exclude.len; i++) {
    if (tvms_glob_covers(table->exclude.items[i].text, inside)) return true;
  }
  return false;
}

bool tvms_config_excludes(const tvms_config *config, const char *path, bool formats) {
  return any_matches(config->own, path)
         || (formats && config->formatter && any_matches(config->formatter, path));
}
