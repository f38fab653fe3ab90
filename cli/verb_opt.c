// `tvms opt --passes 'a,b{k=v}' FILE`: run a pipeline, print the module. --passes @PIPELINE reads
// it from a file.
//
// What happens between passes goes to standard error: what each pass changed, as a diff
// (--print-changed), the module around a pass (--print-before, --print-after), the time that
// each took (--timing). --reproducer keeps the module in front of the pass that failed, as a
// file that opt runs again by itself.
#include "cli/files.h"
#include "cli/findings.h"
#include "cli/pass_names.h"
#include "cli/pass_notes.h"
#include "cli/program.h"
#include "cli/replay.h"
#include "cli/restart.h"
#include "driver/optimize.h"
#include "driver/pass_list.h"
#include "passes/pipeline.h"
#include "passes/tables.h"
#include "printer/print.h"

#include <string.h>
#include <unistd.h>

// --reproducer: written in front of each pass, so that it is there if the pass crashes or never
// ends, and removed behind the last one.
static void keep_reproducer(void *self, const tvms_strbuf *text) {
  const tvms_pass_notes *o = self;
  const char *path = o->run->options.reproducer;
  tvms_run_worsen(o->run, tvms_files_create(o->run, path, text->text, text->len));
}

static void settle_reproducer(tvms_run *run, bool good) {
  const char *path = run->options.reproducer;
  if (!path) return;
  if (good)
    (void)unlink(path);
  else
    tvms_run_tell(run, "%s: written; 'tvms opt %s' runs it", path, path);
}

static bool run_pipeline(tvms_pass_notes *o, const tvms_pipeline *pipeline) {
  const tvms_options *given = &o->run->options;
  uint64_t stop = given->stop_after;
  tvms_strbuf_init(&o->before, &o->run->context->memory);
  tvms_optimize_options options = {
      .dialect = o->dialect,
      .stop_after = stop < UINT32_MAX ? (uint32_t)stop : UINT32_MAX,
      .log = given->remarks || given->statistics ? &o->log : NULL,
      .check_semantics = given->check_semantics,
      .foreign = o->run->foreign,
      .verify_each = given->verify_each,
      .before = tvms_pass_notes_before,
      .after = tvms_pass_notes_after,
      .begin = given->timing ? tvms_pass_notes_begin : NULL,
      .end = tvms_pass_notes_end,
      .self = o,
      .reproducer = given->reproducer ? keep_reproducer : NULL,
  };
  bool good = tvms_optimize(o->program, pipeline, &options);
  settle_reproducer(o->run, good);
  tvms_strbuf_fini(&o->before);
  return good;
}

// What --passes says, or the file that it names. False if that could not be read.
static bool read_pipeline(tvms_run *run, tvms_pipeline *pipeline, bool *parsed) {
  const char *text = run->options.passes;
  tvms_context *context = run->context;
  if (*text != '@') {
    *parsed = tvms_pipeline_parse(context, "--passes", text, pipeline);
    return true;
  }
  tvms_source *source = tvms_source_read(&context->memory, text + 1);
  if (!source) {
    tvms_run_complain_io(run, text + 1);
    return false;
  }
  *parsed = tvms_pipeline_parse_file(context, source, pipeline);
  return true;
}

// --bisect: runs the pipeline until the command fails.
static tvms_status bisect(tvms_pass_notes *o, const tvms_pipeline *pipeline) {
  tvms_bisect search = {.run = o->run,
                        .program = o->program,
                        .dialect = o->dialect,
                        .pipeline = pipeline};
  o->bisect = &search;
  if (tvms_bisect_open(&search)) (void)run_pipeline(o, pipeline);
  bool failed = search.failed;
  tvms_bisect_close(&search);
  return failed ? TVMS_FAILED_IO : TVMS_OK;
}

static void print_result(tvms_pass_notes *o) {
  tvms_run *run = o->run;
  tvms_print_options options = {.dialect = o->dialect,
                                .no_metadata = run->options.no_metadata};
  tvms_timing_start(&o->timing, &o->timing.printing);
  tvms_print_program(o->program, &options, &run->result);
  tvms_timing_stop(&o->timing, &o->timing.printing);
  if (run->context->diags.errors) tvms_strbuf_fini(&run->result);
}

// -o: the module goes into a file instead.
static tvms_status write_output(tvms_run *run) {
  const char *path = run->options.output;
  if (!path || !run->result.len) return TVMS_OK;
  tvms_status status = tvms_files_create(run, path, run->result.text, run->result.len);
  tvms_strbuf_fini(&run->result);
  return status;
}

static tvms_status optimize_source(tvms_run *run, tvms_source *source) {
  tvms_pass_notes o = {.run = run};
  tvms_pipeline pipeline;
  bool parsed;
  if (!read_pipeline(run, &pipeline, &parsed)) return TVMS_FAILED_IO;
  tvms_timing *timing = &o.timing;
  if (!tvms_pass_notes_init(&o, parsed ? &pipeline : NULL)) return TVMS_FAILED_IO;
  tvms_timing_start(timing, &timing->reading);
  o.program = tvms_run_load_written(run, source, true);
  tvms_timing_stop(timing, &timing->reading);
  if (!parsed || run->context->diags.errors) return TVMS_OK;
  o.dialect = tvms_run_written_dialect(run, o.program->dialect);
  if (run->options.bisect) return bisect(&o, &pipeline);
  tvms_timing_start(timing, &timing->passes);
  bool good = run_pipeline(&o, &pipeline);
  tvms_timing_stop(timing, &timing->passes);
  if (good) print_result(&o);
  if (run->options.timing) tvms_pass_notes_timing(&o);
  if (run->options.statistics) tvms_pass_notes_statistics(&o);
  return write_output(run);
}

// The page of a pass, or what there is to say of a pipeline or a pass of TVM.
static bool list_page(tvms_run *run, const char *name, tvms_strbuf *out) {
  size_t len = strlen(name);
  const tvms_pass *pass = tvms_pass_find(name, len);
  const tvms_pipeline_row *pipeline = tvms_pass_find_pipeline(name, len);
  const tvms_missing_pass *lack = tvms_pass_find_missing(name, len);
  if (!pass && !pipeline && !lack) {
    tvms_pass_names_complain(run, "", name);
    return false;
  }
  if (out->len) tvms_strbuf_putc(out, '\n');
  if (pass)
    tvms_optimize_list_page(out, pass);
  else if (pipeline)
    tvms_optimize_list_pipeline(out, pipeline);
  else
    tvms_optimize_list_lack(out, lack);
  return true;
}

static tvms_status list_passes(tvms_run *run) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, run->memory);
  const tvms_texts *names = &run->options.paths;
  bool known = true;
  for (uint32_t i = 0; i < names->len; i++)
    known = list_page(run, names->items[i], &text) && known;
  if (run->options.missing)
    tvms_optimize_list_missing(&text);
  else if (!names->len)
    tvms_optimize_list(&text);
  bool written = tvms_findings_show_result(run, NULL, &text);
  return written && known ? TVMS_OK : TVMS_FAILED_IO;
}

// What writes one file takes one.
static bool is_one_file(tvms_run *run) {
  const tvms_options *given = &run->options;
  const char *option = given->output       ? "--output"
                       : given->reproducer ? "--reproducer"
                                           : NULL;
  if (!option || given->paths.len == 1) return true;
  (void)tvms_run_misused(run, "option '%s' takes exactly one file", option);
  return false;
}

tvms_status tvms_verb_opt(tvms_run *run) {
  if (run->options.list) return list_passes(run);
  if (run->options.plugins.len && !run->foreign)
    return tvms_run_with_plugins(run, tvms_verb_opt);
  if (run->options.missing)
    return tvms_run_misused(run, "option '--missing' goes with --list");
  if (!run->options.passes && !tvms_options_replay(run)) return TVMS_FAILED_IO;
  if (!run->options.passes) return tvms_run_misused(run, "no --passes given");
  if (!is_one_file(run) || !tvms_run_check_dialects(run, true)) return TVMS_FAILED_IO;
  return tvms_files_each(run, optimize_source);
}
