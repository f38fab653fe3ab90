// --format: findings as text, file by file, or as one document for the whole run.
#include "cli/findings.h"

#include "driver/render.h"

#include <unistd.h>

static bool is_format(const tvms_run *run, const char *name) {
  return run->options.format && strcmp(run->options.format, name) == 0;
}

static bool is_text(const tvms_run *run) {
  return !run->options.format || is_format(run, "text");
}

void tvms_findings_add(tvms_run *run, tvms_strbuf *out) {
  tvms_render_options options = {.color = run->color_findings,
                                 .errors_only = run->options.quiet};
  if (is_text(run))
    tvms_render_findings(run->context, &options, out);
  else
    tvms_report_add(&run->report, run->context, run->options.quiet);
}

void tvms_findings_begin(tvms_run *run) {
  if (is_text(run)) return;
  tvms_report_format format = is_format(run, "json")    ? TVMS_REPORT_JSON
                              : is_format(run, "sarif") ? TVMS_REPORT_SARIF
                                                        : TVMS_REPORT_GITHUB;
  tvms_report_begin(&run->report, run->memory, format);
}

tvms_status tvms_findings_end(tvms_run *run) {
  if (is_text(run)) return TVMS_OK;
  tvms_report_end(&run->report, run->errors, run->warnings);
  const tvms_strbuf *text = &run->report.text;
  bool written =
      tvms_run_write(run, STDOUT_FILENO, "standard output", text->text, text->len);
  return written ? TVMS_OK : TVMS_FAILED_IO;
}
