// --format: findings and results as text, file by file, or as one document for the whole
// run.
#include "cli/findings.h"

#include "driver/render.h"

#include <unistd.h>

static bool is_format(const tvms_run *run, const char *name) {
  return run->options.format && strcmp(run->options.format, name) == 0;
}

bool tvms_findings_are_text(const tvms_run *run) {
  return !run->options.format || is_format(run, "text");
}

void tvms_findings_add(tvms_run *run, tvms_strbuf *out) {
  tvms_render_options options = {.color = run->color_findings,
                                 .errors_only = run->options.quiet};
  if (tvms_findings_are_text(run))
    tvms_render_findings(run->context, &options, out);
  else
    tvms_report_add(&run->report, run->context, run->options.quiet);
}

// Workflow commands may stand among other lines; a document stands alone.
bool tvms_findings_show_result(tvms_run *run, const char *file,
                               const tvms_strbuf *result) {
  if (!result->len) return true;
  if (tvms_findings_are_text(run) || run->report.format == TVMS_REPORT_GITHUB) {
    return tvms_run_write(run, STDOUT_FILENO, "standard output", result->text,
                          result->len);
  }
  if (run->result_is_json)
    tvms_report_add_object(&run->report, result->text, result->len);
  else
    tvms_report_add_text(&run->report, file, result->text, result->len);
  return true;
}

void tvms_findings_begin(tvms_run *run) {
  if (tvms_findings_are_text(run)) return;
  tvms_report_format format = is_format(run, "json")    ? TVMS_REPORT_JSON
                              : is_format(run, "sarif") ? TVMS_REPORT_SARIF
                                                        : TVMS_REPORT_GITHUB;
  tvms_report_begin(&run->report, run->memory, format);
  run->reports = true;
  if (format != TVMS_REPORT_GITHUB) run->color_result = false;
}

tvms_status tvms_findings_end(tvms_run *run) {
  if (!run->reports) return TVMS_OK;
  run->reports = false;
  tvms_report_end(&run->report, run->errors, run->warnings, (int)run->status);
  const tvms_strbuf *text = &run->report.text;
  bool written =
      tvms_run_write(run, STDOUT_FILENO, "standard output", text->text, text->len);
  return written ? TVMS_OK : TVMS_FAILED_IO;
}
