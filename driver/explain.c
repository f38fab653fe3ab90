// Looking a word up among the diagnostics, the passes, the pipelines and the names of TVMScript.
#include "driver/explain.h"

#include "driver/pass_list.h"
#include "driver/render.h"
#include "ir/reference.h"
#include "lint/examples.h"
#include "lint/rules.h"
#include "passes/tables.h"
#include "support/diag.h"
#include "support/vec.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

// A code (E0201, 0201 or 201), with or without its letter, or the name of the row.
static bool is_meant(tvms_diag_id id, const char *word) {
  const char *code = tvms_diag_row_of(id)->label;
  return strcasecmp(code, word) == 0 || strcmp(code + 1, word) == 0
         || strcmp(tvms_diag_row_of(id)->name, word) == 0;
}

// ---- Names --------------------------------------------------------------------------------

typedef struct {
  const char *word;
  tvms_strbuf *out;
  tvms_arena *arena;
  TVMS_VEC(const char *) names;  // whole ones, for near ones
  bool found;
} lookup;

static void show_entry(void *self, const tvms_reference *entry) {
  enum { LONGEST = 1024, RELEASES = 32 };
  lookup *look = self;
  if (!tvms_reference_is(entry, look->word)) return;
  look->found = true;
  char form[LONGEST], releases[RELEASES];
  tvms_reference_form(entry, form, sizeof form);
  tvms_reference_releases(entry, releases, sizeof releases);
  tvms_strbuf_printf(look->out, "%s  [%s]\n", form, releases);
  if (entry->doc) tvms_strbuf_printf(look->out, "    %s\n", entry->doc);
}

static void collect_name(void *self, const tvms_reference *entry) {
  lookup *look = self;
  size_t size = strlen(entry->space) + strlen(entry->name) + 2;
  char *name = tvms_arena_alloc(look->arena, size);
  snprintf(name, size, "%s.%s", entry->space, entry->name);
  tvms_vec_push(look->arena->memory, &look->names, name);
}

static void collect_passes(lookup *look) {
  uint32_t count;
  const tvms_pass *passes = tvms_pass_rows(&count);
  for (uint32_t i = 0; i < count; i++)
    tvms_vec_push(look->arena->memory, &look->names, passes[i].name);
  const tvms_pipeline_row *pipelines = tvms_pipeline_rows(&count);
  for (uint32_t i = 0; i < count; i++)
    tvms_vec_push(look->arena->memory, &look->names, pipelines[i].name);
}

static bool explain_name(tvms_memory *memory, const char *word, tvms_strbuf *out,
                         tvms_strbuf *near) {
  tvms_arena arena;
  tvms_arena_init(&arena, memory);
  lookup look = {.word = word, .out = out, .arena = &arena};
  tvms_reference_each(show_entry, &look);
  if (!look.found) {
    tvms_reference_each(collect_name, &look);
    collect_passes(&look);
    const char *name = tvms_diag_nearest_name(word, look.names.items, look.names.len);
    if (name) tvms_strbuf_puts(near, name);
  }
  tvms_vec_fini(memory, &look.names);
  tvms_arena_fini(&arena);
  return look.found;
}

// ---- Passes -------------------------------------------------------------------------------

static bool explain_pass(const char *word, tvms_strbuf *out) {
  size_t len = strlen(word);
  const tvms_pass *pass = tvms_pass_find(word, len);
  const tvms_missing_pass *missing = tvms_pass_find_missing(word, len);
  const tvms_pipeline_row *pipeline = tvms_pass_find_pipeline(word, len);
  if (pass) tvms_optimize_list_page(out, pass);
  if (!pass && missing) tvms_optimize_list_lack(out, missing);
  if (pipeline) tvms_optimize_list_pipeline(out, pipeline);
  return pass || missing || pipeline;
}

// ---- Diagnostics --------------------------------------------------------------------------

// The text of a diagnostic with "…" for what a finding puts there.
static void add_pattern(tvms_strbuf *out, const char *format) {
  while (*format) {
    size_t plain = strcspn(format, "%");
    tvms_strbuf_add(out, format, plain);
    format += plain;
    if (!*format) return;
    if (format[1] == '%') {
      tvms_strbuf_putc(out, '%');
      format += 2;
      continue;
    }
    tvms_strbuf_puts(out, "…");
    format += 1 + strspn(format + 1, "0123456789.*$lhz");
    format += *format != '\0';  // the letter of the conversion
  }
}

static void add_example(tvms_strbuf *out, const char *title, const char *const *lines) {
  tvms_strbuf_printf(out, "\n%s:\n\n", title);
  for (; *lines; lines++) {
    bool empty = **lines == '\n';
    tvms_strbuf_printf(out, "%s%s", empty ? "" : "    ", *lines);
  }
}

// Of a lint rule: a program that it finds a fault in, and one that is right.
static void add_examples(tvms_strbuf *out, tvms_diag_id id) {
  const tvms_lint_rule *rule = tvms_lint_rule_of(id);
  if (!rule) return;
  uint32_t index = (uint32_t)(rule - tvms_lint_rule_at(0));
  if (!rule->on) tvms_strbuf_puts(out, "\nThe rule runs on request only: --select.\n");
  const tvms_lint_example *example = tvms_lint_example_at(index);
  add_example(out, "Found", example->wrong);
  add_example(out, "Right", example->right);
}

bool tvms_explain(tvms_memory *memory, const char *word, tvms_strbuf *out,
                  tvms_strbuf *near) {
  for (uint32_t i = 0; i < tvms_diag_row_count(); i++) {
    tvms_diag_id id = (tvms_diag_id)i;
    if (!is_meant(id, word)) continue;
    const tvms_diag_row *row = tvms_diag_row_of(id);
    tvms_strbuf_printf(out, "%s %s: ", tvms_render_severity_name(row->severity),
                       tvms_diag_row_of(id)->label);
    add_pattern(out, row->format);
    tvms_strbuf_puts(out, "\n\n");
    tvms_strbuf_wrap(out, row->explanation);
    add_examples(out, id);
    return true;
  }
  return explain_pass(word, out) || explain_name(memory, word, out, near);
}
