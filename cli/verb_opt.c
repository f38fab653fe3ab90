// `tvms opt --passes 'a,b{k=v}' FILE`: run a pipeline, print the module.
//
// What happens between passes goes to standard error: the module after each pass that
// changed it (--print-changed), the time that each took (--timing). --reproducer keeps the
// module in front of the pass that failed, as a file that opt runs again.
#include "cli/files.h"
#include "cli/program.h"
#include "passes/manager.h"
#include "passes/pipeline.h"
#include "passes/tables.h"
#include "printer/print.h"
#include "support/vec.h"

#include <unistd.h>

typedef struct {
  const char *pass;
  double seconds;
} timing;

typedef struct {
  tvms_run *run;
  tvms_program *program;
  tvms_dialect dialect;
  tvms_strbuf before;  // --reproducer: the module in front of the pass at hand
  TVMS_VEC(timing) timings;
} optimizing;

static void write_note(tvms_run *run, const tvms_strbuf *text) {
  tvms_run_write(run, STDERR_FILENO, "standard error", text->text, text->len);
}

static void print_module(optimizing *o, tvms_module *module, tvms_strbuf *out) {
  tvms_module *modules[] = {module};
  tvms_program alone = *o->program;
  alone.modules = modules;
  alone.count = 1;
  tvms_print_options options = {.dialect = o->dialect};
  tvms_print_program(&alone, &options, out);
}

static void before_pass(void *data, const tvms_pass_step *step, tvms_module *module) {
  optimizing *o = data;
  (void)step;
  o->before.len = 0;
  print_module(o, module, &o->before);
}

static void after_pass(void *data, const tvms_pass_step *step, tvms_module *module,
                       bool changed, double seconds) {
  optimizing *o = data;
  if (o->run->options.timing) {
    timing row = {step->pass->name, seconds};
    tvms_vec_push(&o->run->context->memory, &o->timings, row);
  }
  if (!o->run->options.print_changed) return;
  tvms_strbuf text;
  tvms_strbuf_init(&text, &o->run->context->memory);
  tvms_strbuf_printf(&text, "# after %s%s\n", step->pass->name,
                     changed ? "" : ": nothing changed");
  if (changed) print_module(o, module, &text);
  write_note(o->run, &text);
  tvms_strbuf_fini(&text);
}

static void verify_after_pass(void *data, tvms_module *module) {
  (void)data;
  tvms_module_verify(module);
}

// The steps from the one that failed on: as they were written, but that of a named
// pipeline the passes are written that were still to come.
static void write_rest(const tvms_pipeline *pipeline, uint32_t done, tvms_strbuf *out) {
  tvms_span span = pipeline->steps[done].span;
  for (uint32_t i = done; i < pipeline->count; i++) {
    const tvms_pass_step *step = &pipeline->steps[i];
    if (step->span.begin != span.begin) break;
    tvms_strbuf_printf(out, "%s%s", i > done ? "," : "", step->pass->name);
  }
  tvms_strbuf_puts(out, pipeline->source->text + span.end);
}

static void write_reproducer(optimizing *o, const tvms_pipeline *pipeline,
                             uint32_t done) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &o->run->context->memory);
  tvms_strbuf_puts(&text, "# RUN: opt --passes '");
  write_rest(pipeline, done, &text);
  tvms_strbuf_printf(&text, "'\n# WHY: %s fails here\n",
                     pipeline->steps[done].pass->name);
  tvms_strbuf_add(&text, o->before.text, o->before.len);
  if (tvms_files_create(o->run, o->run->options.reproducer, text.text, text.len)
      == TVMS_OK) {
    tvms_run_complain(o->run, "%s: written", o->run->options.reproducer);
  }
  tvms_strbuf_fini(&text);
}

static void show_timings(optimizing *o) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &o->run->context->memory);
  double whole = 0;
  for (uint32_t i = 0; i < o->timings.len; i++) {
    whole += o->timings.items[i].seconds;
  }
  for (uint32_t i = 0; i < o->timings.len; i++) {
    const timing *row = &o->timings.items[i];
    tvms_strbuf_printf(&text, "%9.3f ms %5.1f %%  %s\n", row->seconds * 1e3,
                       whole > 0 ? 100 * row->seconds / whole : 0.0, row->pass);
  }
  tvms_strbuf_printf(&text, "%9.3f ms          all passes\n", whole * 1e3);
  write_note(o->run, &text);
  tvms_strbuf_fini(&text);
}

static bool run_pipeline(optimizing *o, const tvms_pipeline *pipeline) {
  const tvms_options *options = &o->run->options;
  tvms_pass_hooks hooks = {
      .data = o,
      .before = options->reproducer ? before_pass : NULL,
      .after = after_pass,
      .verify = options->verify_each ? verify_after_pass : NULL,
  };
  uint32_t stop =
      options->stop_after < UINT32_MAX ? (uint32_t)options->stop_after : UINT32_MAX;
  for (uint32_t i = 0; i < o->program->count; i++) {
    uint32_t done = 0;
    tvms_module *module = o->program->modules[i];
    bool good =
        tvms_pipeline_run(o->run->context, module, pipeline, stop, &hooks, &done);
    if (good) continue;
    if (options->reproducer && done < pipeline->count)
      write_reproducer(o, pipeline, done);
    return false;
  }
  return true;
}

static tvms_status optimize_source(tvms_run *run, tvms_source *source) {
  optimizing o = {.run = run};
  tvms_strbuf_init(&o.before, &run->context->memory);
  tvms_pipeline pipeline;
  bool parsed = tvms_pipeline_parse(run->context, run->options.passes, &pipeline);
  o.program = tvms_run_load_program(run, source);
  if (!parsed || run->context->diags.errors) return TVMS_OK;
  o.dialect = tvms_run_written_dialect(run, o.program->dialect);
  bool good = run_pipeline(&o, &pipeline);
  if (run->options.timing) show_timings(&o);
  if (!good) return TVMS_OK;
  tvms_print_options options = {.dialect = o.dialect};
  tvms_print_program(o.program, &options, &run->result);
  if (run->context->diags.errors) tvms_strbuf_fini(&run->result);
  return TVMS_OK;
}

static void list_options(tvms_strbuf *out, const char *pass) {
  static const char *const types[] = {"flag", "number", "text"};
  uint32_t count;
  const tvms_pass_option *options = tvms_pass_option_rows(&count);
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(options[i].pass, pass) != 0) continue;
    tvms_strbuf_printf(out, "      %s=%s  %s: %s\n", options[i].name,
                       options[i].initial, types[options[i].type], options[i].summary);
  }
}

static tvms_status list_passes(tvms_run *run) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, run->memory);
  uint32_t count;
  const tvms_pass *passes = tvms_pass_rows(&count);
  for (uint32_t i = 0; i < count; i++) {
    char kebab[TVMS_KEBAB_SIZE];
    tvms_pass_kebab(passes[i].name, kebab);
    tvms_strbuf_printf(&text, "%s (%s)", passes[i].name, kebab);
    if (passes[i].since > TVMS_DIALECT_22)
      tvms_strbuf_printf(&text, "  [since %s]", tvms_dialect_text(passes[i].since));
    if (passes[i].until < TVMS_DIALECT_27)
      tvms_strbuf_printf(&text, "  [up to %s]", tvms_dialect_text(passes[i].until));
    tvms_strbuf_printf(&text, "\n    %s\n", passes[i].summary);
    list_options(&text, passes[i].name);
  }
  tvms_strbuf_puts(&text, "\nPipelines:\n");
  const tvms_pipeline_row *rows = tvms_pipeline_rows(&count);
  for (uint32_t i = 0; i < count; i++) {
    tvms_strbuf_printf(&text, "%s = %s\n    %s\n", rows[i].name, rows[i].passes,
                       rows[i].summary);
  }
  bool written =
      tvms_run_write(run, STDOUT_FILENO, "standard output", text.text, text.len);
  return written ? TVMS_OK : TVMS_FAILED_IO;
}

tvms_status tvms_verb_opt(tvms_run *run) {
  if (run->options.list) return list_passes(run);
  if (!run->options.passes) return tvms_run_misused(run, "no --passes given");
  if (!tvms_run_check_dialects(run, true)) return TVMS_FAILED_IO;
  return tvms_files_each(run, optimize_source);
}
