// `tvms opt --passes 'a,b{k=v}' FILE`: runs a pipeline of passes and prints the module.
//
// What is wanted between passes (--print-changed, --timing, --reproducer) hangs on the
// hooks of the pass manager and goes to standard error or a file of its own.
#include "cli/files.h"
#include "cli/program.h"
#include "passes/manager.h"
#include "printer/print.h"

#include <stdio.h>
#include <unistd.h>

typedef struct {
  tvms_run *run;
  tvms_program *program;
  const tvms_pipeline *pipeline;
  tvms_print_options print;
  tvms_strbuf timing;
  double total;
} work;

// Appends the text of one module as `print` writes it.
static void print_module(work *w, tvms_module *module, tvms_strbuf *out) {
  tvms_program alone = *w->program;
  alone.modules = &module;
  alone.count = alone.cap = 1;
  tvms_print_program(&alone, &w->print, out);
}

// Writes the module as it is now, with what is left of the pipeline, so that a crash
// leaves behind what made it.
static void write_reproducer(void *data, const tvms_pass_step *step,
                             tvms_module *module) {
  work *w = data;
  if (!w->run->options.reproducer) return;
  tvms_strbuf text;
  tvms_strbuf_init(&text, &w->run->context->memory);
  tvms_strbuf_printf(&text, "# RUN: opt --passes '%s'\n",
                     w->pipeline->source->text + step->span.begin);
  tvms_strbuf_printf(&text, "# WHY: %s fails on this module\n", step->pass->name);
  print_module(w, module, &text);
  FILE *file = fopen(w->run->options.reproducer, "w");
  bool written = file && fwrite(text.text, 1, text.len, file) == text.len;
  if (file) written &= fclose(file) == 0;
  if (!written) tvms_run_worsen(w->run, tvms_complain_io(w->run, w->run->options.reproducer));
  tvms_strbuf_fini(&text);
}

static void show_change(work *w, const tvms_pass_step *step, tvms_module *module,
                        bool changed) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &w->run->context->memory);
  tvms_strbuf_printf(&text, "# ---- after %s%s ----\n", step->pass->name,
                     changed ? "" : ": nothing changed");
  if (changed) print_module(w, module, &text);
  tvms_write(w->run, STDERR_FILENO, "standard error", text.text, text.len);
  tvms_strbuf_fini(&text);
}

static void after_pass(void *data, const tvms_pass_step *step, tvms_module *module,
                       bool changed, double seconds) {
  work *w = data;
  if (w->run->options.print_changed) show_change(w, step, module, changed);
  tvms_strbuf_printf(&w->timing, "%10.3f ms  %s\n", seconds * 1e3, step->pass->name);
  w->total += seconds;
}

static void run_modules(work *w) {
  tvms_pass_hooks hooks = {
      .data = w,
      .before = write_reproducer,
      .after = after_pass,
      .verify = w->run->options.verify_each ? tvms_verify_module : NULL,
  };
  uint64_t stop = w->run->options.stop_after;
  uint32_t last = stop < UINT32_MAX ? (uint32_t)stop : UINT32_MAX;
  bool fine = true;
  for (uint32_t i = 0; i < w->program->count && fine; i++) {
    fine = tvms_pipeline_run(w->run->context, w->program->modules[i], w->pipeline, last,
                             &hooks, NULL);
  }
  if (fine && w->run->options.reproducer) unlink(w->run->options.reproducer);
}

static tvms_status opt_source(tvms_run *run, tvms_source *source) {
  tvms_context *context = run->context;
  tvms_pipeline pipeline;
  if (!tvms_pipeline_parse(context, run->options.passes, &pipeline)) {
    return TVMS_FAILED_IO;
  }
  work w = {.run = run, .program = tvms_load(run, source), .pipeline = &pipeline};
  if (context->diags.errors) return TVMS_OK;
  w.print.dialect = tvms_written_dialect(run, w.program);
  w.print.no_metadata = run->options.no_metadata;
  tvms_strbuf_init(&w.timing, &context->memory);
  run_modules(&w);
  if (run->options.timing) {
    tvms_strbuf_printf(&w.timing, "%10.3f ms  all\n", w.total * 1e3);
    tvms_write(run, STDERR_FILENO, "standard error", w.timing.text, w.timing.len);
  }
  if (!context->diags.errors) tvms_print_program(w.program, &w.print, &run->result);
  if (context->diags.errors) tvms_strbuf_fini(&run->result);
  return TVMS_OK;
}

static void list_options(tvms_strbuf *out, const tvms_pass *pass) {
  static const char *const kinds[] = {"true|false", "N", "TEXT"};
  uint32_t count;
  const tvms_pass_option *options = tvms_pass_options(&count);
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(options[i].pass, pass->name) != 0) continue;
    tvms_strbuf_printf(out, "      {%s=%s}  %s", options[i].name, kinds[options[i].type],
                       options[i].summary);
    if (options[i].initial[0]) tvms_strbuf_printf(out, " [%s]", options[i].initial);
    tvms_strbuf_putc(out, '\n');
  }
}

static tvms_status list_passes(tvms_run *run) {
  tvms_strbuf out;
  tvms_strbuf_init(&out, run->memory);
  uint32_t count;
  const tvms_pass *passes = tvms_passes(&count);
  tvms_strbuf_puts(&out, "Passes\n");
  for (uint32_t i = 0; i < count; i++) {
    char kebab[TVMS_KEBAB_SIZE];
    tvms_pass_kebab(passes[i].name, kebab);
    tvms_strbuf_printf(&out, "  %s, %s\n      %s\n", passes[i].name, kebab,
                       passes[i].summary);
    list_options(&out, &passes[i]);
  }
  const tvms_pipeline_row *rows = tvms_pipelines(&count);
  tvms_strbuf_puts(&out, "\nPipelines\n");
  for (uint32_t i = 0; i < count; i++) {
    tvms_strbuf_printf(&out, "  %s\n      %s\n      = %s\n", rows[i].name,
                       rows[i].summary, rows[i].passes);
  }
  bool written = tvms_write(run, STDOUT_FILENO, "standard output", out.text, out.len);
  tvms_strbuf_fini(&out);
  return written ? TVMS_OK : TVMS_FAILED_IO;
}

tvms_status tvms_verb_opt(tvms_run *run) {
  if (run->options.list) return list_passes(run);
  if (!run->options.passes) return tvms_misused(run, "no passes given");
  if (!tvms_check_dialects(run, true)) return TVMS_FAILED_IO;
  return tvms_each_file(run, opt_source);
}
