// The tables of other formatters. They are checked by whom they belong to: what is wrong in
// them counts as absent.
#include "config/foreign.h"

#include "support/diag_ids.h"

#include <string.h>

enum { WIDEST = 320, DEFAULT_WIDTH = 88, INDENT = 4 };

static uint32_t width_of(const tvms_toml *value) {
  bool right = value && value->kind == TVMS_TOML_INTEGER && value->integer >= 1
               && value->integer <= WIDEST;
  return right ? (uint32_t)value->integer : 0;
}

static bool is_true(const tvms_toml *value) {
  return value && value->kind == TVMS_TOML_BOOL && value->integer;
}

static bool is_text(const tvms_toml *value, const char *text) {
  return value && value->kind == TVMS_TOML_STRING && strcmp(value->text, text) == 0;
}

static tvms_config_quotes quotes_of(const tvms_toml *value) {
  if (is_text(value, "single")) return TVMS_QUOTES_SINGLE;
  if (is_text(value, "preserve")) return TVMS_QUOTES_PRESERVE;
  return is_text(value, "double") ? TVMS_QUOTES_DOUBLE : TVMS_QUOTES_UNSET;
}

static void not_followed(tvms_context *context, const tvms_toml *value,
                         const char *why) {
  tvms_diag_report(&context->diags, TVMS_D_config_foreign, value->span, value->key,
                   why);
}

static void report(tvms_context *context, const tvms_toml *table,
                   const tvms_toml *format) {
  const tvms_toml *indent = tvms_toml_get(table, "indent-width");
  bool other = indent && indent->kind == TVMS_TOML_INTEGER && indent->integer != INDENT;
  if (other) not_followed(context, indent, "a level is 4 columns");
  const tvms_toml *style = tvms_toml_get(format, "indent-style");
  if (is_text(style, "tab")) not_followed(context, style, "a level is 4 columns");
  const tvms_toml *preview = tvms_toml_get(format, "preview");
  if (!preview) preview = tvms_toml_get(table, "preview");
  if (is_true(preview)) not_followed(context, preview, "the layout is the stable one");
}

static void exclude(tvms_context *context, const tvms_toml *table, const char *key,
                    tvms_source *source, tvms_config_table *out) {
  const tvms_toml *value = tvms_toml_get(table, key);
  if (value) (void)!tvms_config_list(context, value, source, &out->exclude);
}

tvms_config_table *tvms_config_read_ruff(tvms_context *context, const tvms_toml *table,
                                         tvms_source *source, const char *folder,
                                         bool formats) {
  tvms_config_table *out = tvms_arena_new(&context->arena, tvms_config_table);
  const tvms_toml *format = tvms_toml_get(table, "format");
  const tvms_toml *extend = tvms_toml_get(table, "extend");
  context->diags.source = source;
  out->folder = folder;
  out->width = width_of(tvms_toml_get(table, "line-length"));
  out->quotes = quotes_of(tvms_toml_get(format, "quote-style"));
  out->joins = is_true(tvms_toml_get(format, "skip-magic-trailing-comma"));
  if (extend && extend->kind == TVMS_TOML_STRING) out->extend = extend->text;
  exclude(context, table, "exclude", source, out);
  exclude(context, table, "extend-exclude", source, out);
  exclude(context, format, "exclude", source, out);
  if (formats) report(context, table, format);
  return out;
}

tvms_config_table *tvms_config_read_black(tvms_context *context, const tvms_toml *table,
                                          tvms_source *source, const char *folder) {
  tvms_config_table *out = tvms_arena_new(&context->arena, tvms_config_table);
  context->diags.source = source;
  out->folder = folder;
  out->width = width_of(tvms_toml_get(table, "line-length"));
  if (!out->width) out->width = DEFAULT_WIDTH;
  if (is_true(tvms_toml_get(table, "skip-string-normalization")))
    out->quotes = TVMS_QUOTES_PRESERVE;
  out->joins = is_true(tvms_toml_get(table, "skip-magic-trailing-comma"));
  return out;
}
