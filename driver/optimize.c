// The pass manager, run module by module, with what is in front of a pass kept for the case
// that it fails.
#include "driver/optimize.h"

#include "driver/program.h"
#include "passes/tables.h"
#include "printer/print.h"

typedef struct {
  const tvms_program *program;
  const tvms_optimize_options *options;
  tvms_strbuf before;  // for the reproducer: the module in front of the pass at hand
} optimizing;

void tvms_optimize_print(const tvms_program *program, const tvms_module *module,
                         tvms_dialect dialect, tvms_strbuf *out) {
  tvms_module *modules[] = {(tvms_module *)(uintptr_t)module};
  tvms_program alone = *program;
  alone.modules = modules;
  alone.count = 1;
  tvms_print_options options = {.dialect = dialect};
  tvms_print_program(&alone, &options, out);
}

static void before_pass(void *data, const tvms_pass_step *step, tvms_module *module) {
  optimizing *o = data;
  if (o->options->before) o->options->before(o->options->self, step, module);
  if (!o->options->reproducer) return;
  o->before.len = 0;
  tvms_optimize_print(o->program, module, o->options->dialect, &o->before);
}

static void after_pass(void *data, const tvms_pass_step *step, tvms_module *module,
                       bool changed, double seconds) {
  const tvms_optimize_options *options = ((optimizing *)data)->options;
  if (options->after) options->after(options->self, step, module, changed, seconds);
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

static void write_reproducer(const optimizing *o, const tvms_pipeline *pipeline,
                             uint32_t done, tvms_strbuf *out) {
  tvms_strbuf_puts(out, "# RUN: opt --passes '");
  write_rest(pipeline, done, out);
  tvms_strbuf_printf(out, "'\n# WHY: %s fails here\n",
                     pipeline->steps[done].pass->name);
  tvms_strbuf_add(out, o->before.text, o->before.len);
}

bool tvms_optimize(const tvms_program *program, const tvms_pipeline *pipeline,
                   const tvms_optimize_options *options) {
  tvms_context *context = program->context;
  optimizing o = {.program = program, .options = options};
  tvms_strbuf_init(&o.before, &context->memory);
  tvms_pass_hooks hooks = {
      .program = program,
      .data = &o,
      .before = before_pass,
      .after = after_pass,
      .verify = options->verify_each ? verify_after_pass : NULL,
  };
  bool good = true;
  for (uint32_t i = 0; good && i < program->count; i++) {
    uint32_t done = 0;
    good = tvms_pipeline_run(context, program->modules[i], pipeline,
                             options->stop_after, &hooks, &done);
    if (!good && options->reproducer && done < pipeline->count)
      write_reproducer(&o, pipeline, done, options->reproducer);
  }
  tvms_strbuf_fini(&o.before);
  return good;
}

// ---- What there is ----

static void list_options(tvms_strbuf *out, const char *pass) {
  uint32_t count;
  const tvms_pass_option *options = tvms_pass_option_rows(&count);
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(options[i].pass, pass) != 0) continue;
    tvms_strbuf_printf(out, "      %s=%s  %s: %s\n", options[i].name,
                       options[i].initial, tvms_pass_option_word(options[i].type),
                       options[i].summary);
  }
}

void tvms_optimize_list(tvms_strbuf *out) {
  uint32_t count;
  const tvms_pass *passes = tvms_pass_rows(&count);
  for (uint32_t i = 0; i < count; i++) {
    char kebab[TVMS_KEBAB_SIZE];
    tvms_pass_kebab(passes[i].name, kebab);
    tvms_strbuf_printf(out, "%s (%s)", passes[i].name, kebab);
    if (passes[i].since > tvms_release_written(TVMS_DIALECT_OLDEST))
      tvms_strbuf_printf(out, "  [since %s]", tvms_dialect_text(passes[i].since));
    if (passes[i].until < TVMS_DIALECT_ever)
      tvms_strbuf_printf(out, "  [up to %s]", tvms_dialect_text(passes[i].until));
    tvms_strbuf_printf(out, "\n    %s\n", passes[i].summary);
    list_options(out, passes[i].name);
  }
  tvms_strbuf_puts(out, "\nPipelines:\n");
  const tvms_pipeline_row *rows = tvms_pipeline_rows(&count);
  for (uint32_t i = 0; i < count; i++) {
    tvms_strbuf_printf(out, "%s = %s\n    %s\n", rows[i].name, rows[i].passes,
                       rows[i].summary);
  }
}
