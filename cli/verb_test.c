// `tvms test PATH...`: golden files, each judged in a process of its own, several at once.
//
// What a process says is kept and shown in the order of the files, so that its findings are
// text in every format. In formats for machines a file that does not hold is a finding with
// this text, and JSON lists every file.
#include "cli/files.h"
#include "cli/findings.h"
#include "cli/golden.h"
#include "cli/golden_run.h"
#include "cli/workers.h"

typedef struct {
  tvms_run *run;
  uint32_t passed;
  bool failed_io;  // standard output cannot be written
} judging;

static tvms_status judge_file(tvms_run *run, tvms_source *source) {
  tvms_golden golden;
  tvms_golden_parse(&golden, run->context, source);
  if (run->context->diags.errors) return TVMS_FOUND_ERRORS;
  bool good = tvms_golden_judge(run, &golden, &run->result);
  return good ? TVMS_OK : TVMS_FOUND_ERRORS;
}

static void show_text(judging *j, const char *path, bool good, const char *said,
                      size_t len) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, j->run->memory);
  if (!good || j->run->options.verbose)
    tvms_strbuf_printf(&text, "%s %s\n", good ? "ok  " : "FAIL", path);
  tvms_strbuf_add(&text, said, len);
  if (!tvms_findings_show_result(j->run, NULL, &text)) j->failed_io = true;
  tvms_strbuf_fini(&text);
}

static void report(tvms_run *run, const char *path, bool good, const char *said) {
  tvms_strbuf text;
  tvms_json json;
  tvms_strbuf_init(&text, run->memory);
  tvms_json_init(&json, &text);
  tvms_json_open(&json, '{');
  tvms_json_put_text(&json, "file", path);
  tvms_json_put_bool(&json, "passed", good);
  tvms_json_close(&json, '}');
  tvms_report_add_object(&run->report, text.text, text.len);
  tvms_strbuf_fini(&text);
  if (good) return;
  tvms_report_add_placeless(&run->report, TVMS_D_golden_failed, path,
                            tvms_diag_row_of(TVMS_D_golden_failed)->format, said);
  run->errors++;
}

static void show_file(void *self, const char *path, bool good, const char *said,
                      size_t len) {
  judging *j = self;
  j->passed += good;
  if (tvms_findings_are_text(j->run))
    show_text(j, path, good, said, len);
  else
    report(j->run, path, good, said);
}

static void show_count(judging *j, uint32_t count) {
  if (!tvms_findings_are_text(j->run)) return;
  tvms_strbuf line;
  tvms_strbuf_init(&line, j->run->memory);
  tvms_strbuf_printf(&line, "%u passed, %u failed\n", j->passed, count - j->passed);
  if (!tvms_findings_show_result(j->run, NULL, &line)) j->failed_io = true;
  tvms_strbuf_fini(&line);
}

tvms_status tvms_verb_test(tvms_run *run) {
  if (!run->options.paths.len) return tvms_run_misused(run, "no golden file given");
  tvms_texts files = tvms_files_collect(run);
  judging j = {.run = run};
  tvms_workers_each(run, &files, judge_file, show_file, &j);
  if (!files.len) tvms_run_complain(run, "no golden file found");
  show_count(&j, files.len);
  if (j.failed_io) return TVMS_FAILED_IO;
  return j.passed == files.len && files.len ? TVMS_OK : TVMS_FOUND_ERRORS;
}
