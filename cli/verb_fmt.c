// `tvms fmt FILE...`: one layout for source text.
#include "cli/deliver.h"
#include "cli/files.h"
#include "cli/findings.h"
#include "cli/settings.h"

#include <stdio.h>

static tvms_status format_source(tvms_run *run, tvms_source *source) {
  return tvms_deliver_formatted(run, source);
}

static void put_count(tvms_strbuf *out, uint32_t count, const char *what) {
  if (!count) return;
  tvms_strbuf_printf(out, "%s%u file%s %s", out->len ? ", " : "", count,
                     count == 1 ? "" : "s", what);
}

// "3 files reformatted, 120 files left unchanged": where files are changed or looked at, not
// where their text is the result.
static void tell_counts(tvms_run *run) {
  const tvms_options *options = &run->options;
  bool input = options->paths.len == 1 && strcmp(options->paths.items[0], "-") == 0;
  bool asked = (options->check || options->in_place) && !input && !options->quiet;
  if (!asked || !tvms_findings_are_text(run)) return;
  tvms_strbuf text;
  tvms_strbuf_init(&text, run->memory);
  put_count(&text, run->changed,
            options->check ? "would be reformatted" : "reformatted");
  put_count(&text, run->files - run->changed - run->failed,
            options->check ? "already formatted" : "left unchanged");
  put_count(&text, run->failed, "not formatted because of errors");
  if (text.len) tvms_run_tell(run, "%s", tvms_strbuf_text(&text));
  tvms_strbuf_fini(&text);
}

tvms_status tvms_verb_fmt(tvms_run *run) {
  run->reads_python = true;
  if (!tvms_deliver_read_lines(run)) return TVMS_FAILED_IO;
  if (!tvms_settings_open(run)) return TVMS_FAILED_IO;
  tvms_status status = tvms_deliver_check(run, "formatted");
  if (status != TVMS_OK) return status;
  status = tvms_files_each(run, format_source);
  tell_counts(run);
  return status;
}
