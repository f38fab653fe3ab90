// The pass manager, run module by module, with what is in front of a pass kept for the case
// that it fails.
#include "driver/optimize.h"

#include "driver/program.h"
#include "driver/semantics.h"
#include "passes/pipeline.h"
#include "printer/print.h"

#include <errno.h>
#include <string.h>

typedef struct {
  const tvms_program *program;
  const tvms_optimize_options *options;
  const tvms_pipeline *pipeline;
  tvms_semantics *TVMS_NULLABLE semantics;
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
  const optimizing *o = data;
  const tvms_optimize_options *options = o->options;
  if (options->after) options->after(options->self, step, module, changed, seconds);
  tvms_semantics_change change = {o->pipeline->source, step->span, step->pass->name};
  if (o->semantics && changed && !module->context->diags.errors)
    tvms_semantics_compare(o->semantics, &change, module);
}

// A program that an option of a pass names, read as the one at hand was.
static const tvms_program *TVMS_NULLABLE read_program(void *data, const char *path) {
  const tvms_program *program = ((const optimizing *)data)->program;
  tvms_context *context = program->context;
  tvms_source *outer = context->diags.source;
  tvms_source *source = tvms_source_read(&context->memory, path);
  if (!source) {
    tvms_diag_report(&context->diags, TVMS_D_pass_file, program->modules[0]->name_span,
                     path, strerror(errno));
    return NULL;
  }
  uint32_t errors = context->diags.errors;
  tvms_load_options options = {.from = TVMS_DIALECT_NONE,
                               .dialect = program->modules[0]->dialect};
  const tvms_program *read = tvms_program_load(context, source, &options);
  context->diags.source = outer;
  return context->diags.errors == errors ? read : NULL;
}

static void begin_phase(void *data, tvms_pass_phase phase, const char *name) {
  const tvms_optimize_options *options = ((optimizing *)data)->options;
  options->begin(options->self, phase, name);
}

static void end_phase(void *data) {
  const tvms_optimize_options *options = ((optimizing *)data)->options;
  options->end(options->self);
}

static void verify_after_pass(void *data, tvms_module *module) {
  (void)data;
  tvms_module_verify(module);
}

// The steps from the one that failed on.
static void write_rest(const tvms_pipeline *pipeline, uint32_t done, tvms_strbuf *out) {
  for (uint32_t i = done; i < pipeline->count; i++) {
    if (i > done) tvms_strbuf_putc(out, ',');
    tvms_pipeline_write_step(&pipeline->steps[i], out);
  }
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
  optimizing o = {.program = program, .options = options, .pipeline = pipeline};
  tvms_strbuf_init(&o.before, &context->memory);
  tvms_pass_hooks hooks = {
      .program = program,
      .log = options->log,
      .data = &o,
      .before = before_pass,
      .after = after_pass,
      .read = read_program,
      .verify = options->verify_each ? verify_after_pass : NULL,
      .begin = options->begin ? begin_phase : NULL,
      .end = end_phase,
  };
  bool good = true;
  for (uint32_t i = 0; good && i < program->count; i++) {
    uint32_t done = 0;
    tvms_semantics semantics;
    if (options->check_semantics) {
      o.semantics = &semantics;
      tvms_semantics_begin(&semantics, program, program->modules[i]);
    }
    good = tvms_pipeline_run(context, program->modules[i], pipeline,
                             options->stop_after, &hooks, &done);
    if (options->check_semantics) tvms_semantics_end(&semantics);
    if (!good && options->reproducer && done < pipeline->count)
      write_reproducer(&o, pipeline, done, options->reproducer);
  }
  tvms_strbuf_fini(&o.before);
  return good;
}
