// `tvms opt --passes 'a,b{k=v}' FILE`: run a pipeline, print the module.
//
// What happens between passes goes to standard error: what each pass changed, as a diff
// (--print-changed), the module around a pass (--print-before, --print-after), the time that
// each took (--timing). --reproducer keeps the module in front of the pass that failed, as a
// file that opt runs again.
#include "cli/files.h"
#include "cli/findings.h"
#include "cli/pass_notes.h"
#include "cli/program.h"
#include "cli/timing.h"
#include "driver/optimize.h"
#include "passes/pipeline.h"
#include "printer/print.h"

static void write_reproducer(tvms_run *run, const tvms_strbuf *text) {
  const char *path = run->options.reproducer;
  if (!text->len || tvms_files_create(run, path, text->text, text->len) != TVMS_OK)
    return;
  tvms_run_tell(run, "%s: written", path);
}

static bool run_pipeline(tvms_pass_notes *o, const tvms_pipeline *pipeline) {
  const tvms_options *given = &o->run->options;
  uint64_t stop = given->stop_after;
  tvms_strbuf reproducer;
  tvms_strbuf_init(&reproducer, &o->run->context->memory);
  tvms_strbuf_init(&o->before, &o->run->context->memory);
  tvms_optimize_options options = {
      .dialect = o->dialect,
      .stop_after = stop < UINT32_MAX ? (uint32_t)stop : UINT32_MAX,
      .verify_each = given->verify_each,
      .before = tvms_pass_notes_before,
      .after = tvms_pass_notes_after,
      .self = o,
      .reproducer = given->reproducer ? &reproducer : NULL,
  };
  bool good = tvms_optimize(o->program, pipeline, &options);
  write_reproducer(o->run, &reproducer);
  tvms_strbuf_fini(&reproducer);
  tvms_strbuf_fini(&o->before);
  return good;
}

static tvms_status optimize_source(tvms_run *run, tvms_source *source) {
  tvms_pass_notes o = {.run = run};
  tvms_pipeline pipeline;
  bool parsed =
      tvms_pipeline_parse(run->context, "--passes", run->options.passes, &pipeline);
  o.program = tvms_run_load_program(run, source);
  if (!parsed || run->context->diags.errors) return TVMS_OK;
  o.dialect = tvms_run_written_dialect(run, o.program->dialect);
  bool good = run_pipeline(&o, &pipeline);
  if (run->options.timing) tvms_timing_show(run, &o.timings);
  if (!good) return TVMS_OK;
  tvms_print_options options = {.dialect = o.dialect,
                                .no_metadata = run->options.no_metadata};
  tvms_print_program(o.program, &options, &run->result);
  if (run->context->diags.errors) tvms_strbuf_fini(&run->result);
  return TVMS_OK;
}

static tvms_status list_passes(tvms_run *run) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, run->memory);
  tvms_optimize_list(&text);
  return tvms_findings_show_result(run, NULL, &text) ? TVMS_OK : TVMS_FAILED_IO;
}

tvms_status tvms_verb_opt(tvms_run *run) {
  if (run->options.list) return list_passes(run);
  if (!run->options.passes) return tvms_run_misused(run, "no --passes given");
  if (!tvms_run_check_dialects(run, true)) return TVMS_FAILED_IO;
  return tvms_files_each(run, optimize_source);
}
