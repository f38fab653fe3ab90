// --format: findings and results as text, file by file, or as one document for the whole
// run.
#include "cli/findings.h"

#include "driver/render.h"
#include "support/check.h"

#include <unistd.h>

bool tvms_findings_are_text(const tvms_run *run) {
  return !run->options.format || strcmp(run->options.format, "text") == 0;
}

void tvms_findings_add(tvms_run *run, tvms_strbuf *out) {
  tvms_render_options options = {.color = run->color_findings,
                                 .errors_only = run->options.quiet};
  if (tvms_findings_are_text(run))
    tvms_render_findings(run->context, &options, out);
  else
    tvms_report_add(&run->report, run->context, run->options.quiet);
}

// Lines may stand among other lines; a document stands alone.
bool tvms_findings_show_result(tvms_run *run, const char *file,
                               const tvms_strbuf *result) {
  if (!result->len) return true;
  if (tvms_findings_are_text(run) || !tvms_report_is_document(&run->report)) {
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
  tvms_report_format format;
  if (tvms_findings_are_text(run)) return;
  bool found = tvms_report_find(run->options.format, &format);
  TVMS_CHECK(found);  // options.def lists the formats
  tvms_report_begin(&run->report, run->memory, format);
  run->reports = true;
  if (tvms_report_is_document(&run->report)) run->color_result = false;
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
