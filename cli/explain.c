// Codes and names that are explained, in both programs.
#include "cli/explain.h"

#include "cli/findings.h"
#include "driver/explain.h"

static bool explain(tvms_run *run, const char *word, tvms_strbuf *out) {
  tvms_strbuf near;
  tvms_strbuf_init(&near, run->memory);
  bool known = tvms_explain(run->memory, word, out, &near);
  if (!known) {
    tvms_run_complain(run,
                      near.len
                          ? "there is no diagnostic or name '%s'; did you mean '%s'?"
                          : "there is no diagnostic or name '%s'",
                      word, tvms_strbuf_text(&near));
  }
  tvms_strbuf_fini(&near);
  return known;
}

tvms_status tvms_run_explain(tvms_run *run, tvms_strbuf *text) {
  bool known = true;
  for (uint32_t i = 0; i < run->options.paths.len; i++) {
    if (text->len) tvms_strbuf_putc(text, '\n');
    known = explain(run, run->options.paths.items[i], text) && known;
  }
  bool written = tvms_findings_show_result(run, NULL, text);
  return written && known ? TVMS_OK : TVMS_FAILED_IO;
}
