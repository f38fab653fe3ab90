// The pass manager, run module by module. What is in front of a pass can be kept as a file
// that runs the rest of the pipeline, for the case that it fails or does not come back.
#include "driver/optimize.h"

#include "driver/program.h"
#include "driver/semantics.h"
#include "passes/pipeline.h"
#include "printer/print.h"
#include "support/diag_ids.h"

#include <errno.h>
#include <string.h>

typedef struct {
  const tvms_program *program;
  const tvms_optimize_options *options;
  const tvms_pipeline *pipeline;
  tvms_semantics *TVMS_NULLABLE semantics;
  tvms_span span;  // of the pass that runs, in the pipeline
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

// The steps from this one on.
static void write_rest(const tvms_pipeline *pipeline, const tvms_pass_step *step,
                       tvms_strbuf *out) {
  for (const tvms_pass_step *end = pipeline->steps + pipeline->count; step < end;) {
    tvms_pipeline_write_step(step, out);
    if (++step < end) tvms_strbuf_putc(out, ',');
  }
}

// The release that was read is the one that passes go by, so the module stands in it.
static void give_reproducer(const optimizing *o, const tvms_pass_step *step,
                            const tvms_module *module) {
  const tvms_optimize_options *options = o->options;
  tvms_dialect read = o->program->dialect;
  tvms_strbuf text;
  tvms_strbuf_init(&text, &module->context->memory);
  tvms_strbuf_puts(&text, "# RUN: opt");
  if (options->dialect != read)
    tvms_strbuf_printf(&text, " --from %s", tvms_dialect_text(read));
  tvms_strbuf_printf(&text, " --dialect %s", tvms_dialect_text(options->dialect));
  if (options->check_semantics) tvms_strbuf_puts(&text, " --check-semantics");
  if (options->verify_each) tvms_strbuf_puts(&text, " --verify-each");
  tvms_strbuf_puts(&text, " --passes '");
  write_rest(o->pipeline, step, &text);
  tvms_strbuf_printf(&text, "'\n# WHY: %s fails here\n", step->pass->name);
  tvms_optimize_print(o->program, module, read, &text);
  options->reproducer(options->self, &text);
  tvms_strbuf_fini(&text);
}

static void before_pass(void *data, const tvms_pass_step *step, tvms_module *module) {
  optimizing *o = data;
  o->span = step->span;
  if (o->options->before) o->options->before(o->options->self, step, module);
  if (o->options->reproducer) give_reproducer(o, step, module);
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
  const optimizing *o = data;
  const tvms_program *program = o->program;
  tvms_context *context = program->context;
  tvms_source *outer = context->diags.source;
  tvms_source *source = tvms_source_read(&context->memory, path);
  if (!source) {
    context->diags.source = o->pipeline->source;
    tvms_diag_report(&context->diags, TVMS_D_pass_file, o->span, path, strerror(errno));
    context->diags.source = outer;
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

bool tvms_optimize(const tvms_program *program, const tvms_pipeline *pipeline,
                   const tvms_optimize_options *options) {
  tvms_context *context = program->context;
  optimizing o = {.program = program, .options = options, .pipeline = pipeline};
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
    tvms_semantics semantics;
    if (options->check_semantics) {
      o.semantics = &semantics;
      tvms_semantics_begin(&semantics, program, program->modules[i], options->foreign);
    }
    good = tvms_pipeline_run(context, program->modules[i], pipeline,
                             options->stop_after, &hooks, NULL);
    if (options->check_semantics) tvms_semantics_end(&semantics);
  }
  return good;
}
