// --select, --ignore, --per-file-ignores and --severity, and the table `lint` of the
// configuration.
//
// Several uses of an option add up: all rules that any --select names run. What the command line
// says takes the place of what the configuration says in the same key, but for severities, which
// are put on top.
#define _POSIX_C_SOURCE 200809L
#include "cli/levels.h"

#include "config/glob.h"
#include "lint/levels.h"
#include "support/diag_ids.h"

#include <limits.h>
#include <unistd.h>

typedef bool apply_words(tvms_lint_levels *levels, const char *words,
                         tvms_strbuf *wrong);

typedef struct {
  tvms_run *run;
  tvms_memory *memory;
  tvms_lint_levels levels;
} setting;

static const char no_lint[] = "a lint, a warning or a note";

/* The command line */

static bool apply(setting *s, const char *option, const char *words, apply_words *how) {
  tvms_strbuf wrong;
  tvms_strbuf_init(&wrong, s->memory);
  bool right = how(&s->levels, words, &wrong);
  if (!right) {
    (void)tvms_run_misused(s->run, "option '--%s': '%s' is not %s", option,
                           tvms_strbuf_text(&wrong), no_lint);
  }
  tvms_strbuf_fini(&wrong);
  return right;
}

static bool apply_all(setting *s, const char *option, const tvms_texts *list,
                      apply_words *how) {
  for (uint32_t i = 0; i < list->len; i++) {
    if (!apply(s, option, list->items[i], how)) return false;
  }
  return true;
}

// The path of the file at hand as patterns of the command line see it.
static const char *path_here(const tvms_run *run) {
  char here[PATH_MAX];
  const char *path = run->config_path;
  const char *below = getcwd(here, sizeof here) ? tvms_glob_below(here, path) : NULL;
  return below ? below : path + (*path == '/');
}

// PATTERN:CODES. Without a file at hand only the codes are looked at.
static bool apply_to_file(setting *s, const char *text) {
  static const char option[] = "per-file-ignores";
  const char *colon = strrchr(text, ':');
  if (!colon) {
    (void)tvms_run_misused(s->run, "option '--%s': '%s' is not PATTERN:CODES", option,
                           text);
    return false;
  }
  char pattern[PATH_MAX];
  size_t len = (size_t)(colon - text);
  if (len >= sizeof pattern) return true;
  memcpy(pattern, text, len);
  pattern[len] = '\0';
  bool covers = !s->run->config_path || tvms_glob_covers(pattern, path_here(s->run));
  return !covers || apply(s, option, colon + 1, tvms_lint_levels_ignore);
}

static bool apply_per_file(setting *s) {
  const tvms_texts *list = &s->run->options.per_file_ignores;
  for (uint32_t i = 0; i < list->len; i++) {
    if (!apply_to_file(s, list->items[i])) return false;
  }
  return true;
}

bool tvms_run_read_levels(tvms_run *run) {
  const tvms_options *options = &run->options;
  setting s = {run, run->memory, tvms_lint_levels_new(run->memory)};
  run->lints = apply_all(&s, "select", &options->select, tvms_lint_levels_select)
               && apply_all(&s, "ignore", &options->ignore, tvms_lint_levels_ignore)
               && apply_per_file(&s)
               && apply_all(&s, "severity", &options->severity, tvms_lint_levels_set);
  return run->lints;
}

/* The configuration */

// A word that is none, where it stands; once in a run.
static void blame(setting *s, const tvms_config_item *item, const char *word) {
  tvms_run *run = s->run;
  tvms_diags *diags = &run->context->diags;
  tvms_run_worsen(run, TVMS_FAILED_IO);
  if (run->blamed == item->text) return;
  run->blamed = item->text;
  tvms_source *source = diags->source;
  diags->source = item->source;
  tvms_diag_report(diags, TVMS_D_config_value, item->span, word, no_lint);
  diags->source = source;
}

static bool apply_items(setting *s, const tvms_config_items *items, apply_words *how) {
  bool right = true;
  for (uint32_t i = 0; i < items->len && right; i++) {
    tvms_strbuf wrong;
    tvms_strbuf_init(&wrong, s->memory);
    right = how(&s->levels, items->items[i].text, &wrong);
    if (!right) blame(s, &items->items[i], tvms_strbuf_text(&wrong));
    tvms_strbuf_fini(&wrong);
  }
  return right;
}

// Codes of patterns that do not mean this file are looked at all the same.
static bool apply_files(setting *s, const tvms_config_table *table) {
  const char *path = tvms_glob_below(table->folder, s->run->config_path);
  tvms_lint_levels levels = s->levels;
  bool right = true;
  for (uint32_t i = 0; i < table->per_file_ignores.len && right; i++) {
    const tvms_config_per_file *one = &table->per_file_ignores.items[i];
    bool covers = path && tvms_glob_covers(one->pattern.text, path);
    s->levels = covers ? levels : tvms_lint_levels_new(s->memory);
    right = apply_items(s, &one->codes, tvms_lint_levels_ignore);
    if (!covers) tvms_memory_free(s->memory, s->levels.of);
  }
  s->levels = levels;
  return right;
}

static bool apply_select(setting *s, const tvms_config_table *table) {
  const tvms_texts *given = &s->run->options.select;
  if (given->len || table->selects) tvms_lint_levels_clear(&s->levels);
  if (given->len) return apply_all(s, "select", given, tvms_lint_levels_select);
  return apply_items(s, &table->select, tvms_lint_levels_select);
}

static bool apply_ignore(setting *s, const tvms_config_table *table) {
  const tvms_options *options = &s->run->options;
  bool right = options->ignore.len
                   ? apply_all(s, "ignore", &options->ignore, tvms_lint_levels_ignore)
                   : apply_items(s, &table->ignore, tvms_lint_levels_ignore);
  if (!right) return false;
  if (options->per_file_ignores.len) return apply_per_file(s);
  return !table->per_file_ignores.len || apply_files(s, table);
}

bool tvms_run_set_levels(tvms_run *run) {
  static const tvms_config_table none;
  if (!run->lints) return true;
  const tvms_config_table *table = run->config ? run->config->own : &none;
  tvms_memory *memory = &run->context->memory;
  setting s = {run, memory, tvms_lint_levels_new(memory)};
  bool right =
      apply_select(&s, table) && apply_ignore(&s, table)
      && apply_items(&s, &table->severity, tvms_lint_levels_set)
      && apply_all(&s, "severity", &run->options.severity, tvms_lint_levels_set);
  run->context->diags.levels = right ? s.levels.of : NULL;
  return right;
}
