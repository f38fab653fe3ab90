// `tvms explain CODE`: what a diagnostic means and what to do. `tvms explain T.grid`: what a
// name of TVMScript takes, and which releases have it.
#include "cli/run.h"
#include "driver/explain.h"

#include <unistd.h>

static bool explain(tvms_run *run, const char *word, tvms_strbuf *out) {
  tvms_strbuf near;
  tvms_strbuf_init(&near, run->memory);
  bool known = tvms_explain(run->memory, word, out, &near);
  if (!known) {
    tvms_run_complain(
        run,
        near.len ? "there is no diagnostic and no name '%s'; did you mean '%s'?"
                 : "there is no diagnostic and no name '%s'",
        word, tvms_strbuf_text(&near));
  }
  tvms_strbuf_fini(&near);
  return known;
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
