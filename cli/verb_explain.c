// `tvms explain CODE`: what a diagnostic means and what to do.
#include "cli/render.h"

#include <strings.h>
#include <unistd.h>

// A code (E0201, 0201 or 201), with or without its letter, or the name of the row.
static bool is_meant(tvms_diag_id id, const char *word) {
  const char *code = tvms_code_of(id).text;
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

static bool explain(tvms_run *run, const char *word, tvms_strbuf *out) {
  for (uint32_t i = 0; i < tvms_diag_row_count(); i++) {
    tvms_diag_id id = (tvms_diag_id)i;
    if (!is_meant(id, word)) continue;
    const tvms_diag_row *row = tvms_diag_row_of(id);
    tvms_strbuf_printf(out, "%s %s: %s\n\n", tvms_severity_name(row->severity),
                       tvms_code_of(id).text, row->format);
    add_wrapped(out, row->explanation);
    return true;
  }
  tvms_complain(run, "there is no diagnostic '%s'", word);
  return false;
}

tvms_status tvms_verb_explain(tvms_run *run) {
  if (!run->options.paths.len) return tvms_misused(run, "no code given");
  tvms_strbuf text;
  tvms_strbuf_init(&text, run->memory);
  for (uint32_t i = 0; i < run->options.paths.len; i++) {
    if (i) tvms_strbuf_putc(&text, '\n');
    if (!explain(run, run->options.paths.items[i], &text)) return TVMS_FAILED_IO;
  }
  bool written = tvms_write(run, STDOUT_FILENO, "standard output", text.text, text.len);
  return written ? TVMS_OK : TVMS_FAILED_IO;
}
