// `tvms explain CODE`: what a diagnostic means and what to do. `tvms explain T.grid`: what a
// name of TVMScript takes, and which releases have it.
#include "cli/run.h"
#include "driver/render.h"
#include "ir/reference.h"
#include "support/diag.h"
#include "support/vec.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

// A code (E0201, 0201 or 201), with or without its letter, or the name of the row.
static bool is_meant(tvms_diag_id id, const char *word) {
  const char *code = tvms_render_code_of(id).text;
  return strcasecmp(code, word) == 0 || strcmp(code + 1, word) == 0
         || strcmp(tvms_diag_row_of(id)->name, word) == 0;
}

static void add_wrapped(tvms_strbuf *out, const char *text) {
  enum { WIDTH = 80 };
  size_t column = 0;
  while (*text) {
    size_t word = strcspn(text, " ");
    bool wraps = column && column + 1 + word > WIDTH;
    if (column) tvms_strbuf_putc(out, wraps ? '\n' : ' ');
    tvms_strbuf_add(out, text, word);
    column = (wraps || !column ? 0 : column + 1) + word;
    text += word + (text[word] == ' ');
  }
  tvms_strbuf_putc(out, '\n');
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

// What a name of TVMScript takes, and which releases have it.
static bool explain_name(tvms_run *run, const char *word, tvms_strbuf *out) {
  tvms_arena arena;
  tvms_arena_init(&arena, run->memory);
  lookup look = {.word = word, .out = out, .arena = &arena};
  tvms_reference_each(show_entry, &look);
  if (!look.found) {
    tvms_reference_each(collect_name, &look);
    const char *near = tvms_diag_nearest_name(word, look.names.items, look.names.len);
    tvms_run_complain(
        run,
        near ? "there is no diagnostic and no name '%s'; did you mean '%s'?"
             : "there is no diagnostic and no name '%s'",
        word, near);
  }
  tvms_vec_fini(run->memory, &look.names);
  tvms_arena_fini(&arena);
  return look.found;
}

// ---- The verb -----------------------------------------------------------------------------

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

static bool explain(tvms_run *run, const char *word, tvms_strbuf *out) {
  for (uint32_t i = 0; i < tvms_diag_row_count(); i++) {
    tvms_diag_id id = (tvms_diag_id)i;
    if (!is_meant(id, word)) continue;
    const tvms_diag_row *row = tvms_diag_row_of(id);
    tvms_strbuf_printf(out, "%s %s: ", tvms_render_severity_name(row->severity),
                       tvms_render_code_of(id).text);
    add_pattern(out, row->format);
    tvms_strbuf_puts(out, "\n\n");
    add_wrapped(out, row->explanation);
    return true;
  }
  return explain_name(run, word, out);
}

tvms_status tvms_verb_explain(tvms_run *run) {
  if (!run->options.paths.len) return tvms_run_misused(run, "no code given");
  tvms_strbuf text;
  tvms_strbuf_init(&text, run->memory);
  bool known = true;
  for (uint32_t i = 0; i < run->options.paths.len; i++) {
    if (text.len) tvms_strbuf_putc(&text, '\n');
    known = explain(run, run->options.paths.items[i], &text) && known;
  }
  bool written =
      !text.len
      || tvms_run_write(run, STDOUT_FILENO, "standard output", text.text, text.len);
  return written && known ? TVMS_OK : TVMS_FAILED_IO;
}
