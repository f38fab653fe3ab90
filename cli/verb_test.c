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
#include "support/diag_ids.h"

typedef struct {
  tvms_run *run;
  uint32_t passed;
  uint32_t blessed;
  bool failed_io;  // standard output cannot be written
} judging;

static tvms_status judge_file(tvms_run *run, tvms_source *source) {
  tvms_golden_file file;
  tvms_golden_parse(&file, run->context, source);
  if (run->context->diags.errors) return TVMS_FOUND_ERRORS;
  bool good = tvms_golden_judge(run, &file, &run->result);
  return good ? TVMS_OK : TVMS_FOUND_ERRORS;
}

static void show_text(judging *j, const tvms_worker_result *result) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, j->run->memory);
  const char *word = !result->good ? "FAIL" : result->blessed ? "new " : "ok  ";
  if (j->run->options.verbose)
    tvms_strbuf_printf(&text, "%s %7.3f s  %s\n", word, result->seconds, result->path);
  else if (!result->good || result->blessed)
    tvms_strbuf_printf(&text, "%s %s\n", word, result->path);
  tvms_strbuf_add(&text, result->said, result->len);
  if (!j->failed_io && !tvms_findings_show_result(j->run, NULL, &text))
    j->failed_io = true;
  tvms_strbuf_fini(&text);
}

static void report(tvms_run *run, const tvms_worker_result *result) {
  tvms_strbuf text;
  tvms_json json;
  tvms_strbuf_init(&text, run->memory);
  tvms_json_init(&json, &text);
  tvms_json_open(&json, '{');
  tvms_json_put_text(&json, "file", result->path);
  tvms_json_put_bool(&json, "passed", result->good);
  if (run->options.bless) tvms_json_put_bool(&json, "blessed", result->blessed);
  tvms_json_put_int(&json, "microseconds", (int64_t)(1e6 * result->seconds));
  tvms_json_close(&json, '}');
  tvms_report_add_time(&run->report, result->path, result->seconds);
  tvms_report_add_object(&run->report, text.text, text.len);
  tvms_strbuf_fini(&text);
  if (result->good) return;
  tvms_report_add_placeless(&run->report, TVMS_D_golden_failed, result->path,
                            tvms_diag_row_of(TVMS_D_golden_failed)->format,
                            result->said);
  run->errors++;
}

static void show_file(void *self, const tvms_worker_result *result) {
  judging *j = self;
  j->passed += result->good && !result->blessed;
  j->blessed += result->blessed;
  if (tvms_findings_are_text(j->run))
    show_text(j, result);
  else
    report(j->run, result);
}

static void show_count(judging *j, uint32_t count) {
  if (!tvms_findings_are_text(j->run) || j->failed_io) return;
  tvms_strbuf line;
  tvms_strbuf_init(&line, j->run->memory);
  tvms_strbuf_printf(&line, "%u passed, %u failed", j->passed,
                     count - j->passed - j->blessed);
  if (j->run->options.bless) tvms_strbuf_printf(&line, ", %u blessed", j->blessed);
  tvms_strbuf_putc(&line, '\n');
  if (!tvms_findings_show_result(j->run, NULL, &line)) j->failed_io = true;
  tvms_strbuf_fini(&line);
}

static void filter(tvms_texts *files, const char *TVMS_NULLABLE part) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < files->len; i++) {
    if (!part || strstr(files->items[i], part)) files->items[kept++] = files->items[i];
  }
  files->len = kept;
}

// One after the other and in this process, which has the terminal.
static void bless_asking(judging *j, const tvms_texts *files) {
  tvms_run *run = j->run;
  for (uint32_t i = 0; i < files->len; i++) {
    run->blessed = false;
    bool good = tvms_files_read_one(run, files->items[i], judge_file) == TVMS_OK;
    j->passed += good && !run->blessed;
    j->blessed += run->blessed;
  }
}

static bool is_command(const char *text) {
  return text[strspn(text, " \t")] != '\0';
}

tvms_status tvms_verb_test(tvms_run *run) {
  const tvms_options *options = &run->options;
  if (!options->paths.len) return tvms_run_misused(run, "no golden file given");
  if (options->interactive && (!options->bless || !tvms_findings_are_text(run)))
    return tvms_run_misused(run, "option '--interactive' goes with --bless, in text");
  if (options->opt_with && !is_command(options->opt_with))
    return tvms_run_misused(run, "option '--opt-with' takes a command");
  tvms_texts files = tvms_files_collect(run);
  filter(&files, options->filter);
  judging j = {.run = run};
  if (options->interactive)
    bless_asking(&j, &files);
  else
    tvms_workers_each(run, &files, judge_file, show_file, &j);
  if (!files.len) tvms_run_complain(run, "no golden file found");
  show_count(&j, files.len);
  if (j.failed_io) return TVMS_FAILED_IO;
  bool good = j.passed + j.blessed == files.len && files.len;
  return good ? TVMS_OK : TVMS_FOUND_ERRORS;
}
