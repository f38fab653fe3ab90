// Running pipelines: what a pass relies on is checked before it, its result after it.
//
// A property is looked for in the module when a pass requires it, and then known until a
// pass changes the module. No row says which properties a pass keeps: nothing could check
// it, and one walk over the module is cheaper than the pass that changed it.
#include "passes/manager.h"

#include "ir/verify.h"
#include "passes/pipeline.h"
#include "passes/properties.h"

#include <time.h>

static double now(void) {
  struct timespec time;
  timespec_get(&time, TIME_UTC);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void report_missing(tvms_context *context, const tvms_pipeline *pipeline,
                           const tvms_pass_step *step, const tvms_property *property) {
  tvms_source *source = context->diags.source;
  context->diags.source = pipeline->source;
  tvms_diag *diag = tvms_diag_report(&context->diags, TVMS_D_pass_requires, step->span,
                                     step->pass->name, property->text);
  tvms_diag_remark(&context->diags, diag, "run %s before it", property->passes);
  context->diags.source = source;
}

// Reports each property that the pass requires and the module does not have.
static bool check_requirements(tvms_context *context, const tvms_module *module,
                               const tvms_pipeline *pipeline,
                               const tvms_pass_step *step, uint32_t *known) {
  bool fine = true;
  for (uint32_t i = 0; i < TVMS_PROPERTY_COUNT; i++) {
    uint32_t bit = 1u << i;
    if (!(step->pass->requires & bit & ~*known)) continue;
    const tvms_property *property = tvms_pass_property_of(bit);
    if (tvms_pass_find_without(module, property)) {
      report_missing(context, pipeline, step, property);
      fine = false;
    } else {
      *known |= bit;
    }
  }
  return fine;
}

static void run_part(tvms_pass_run *run, const char *name) {
  tvms_pipeline pipeline;
  bool known = tvms_pipeline_parse(run->context, name, name, &pipeline);
  TVMS_CHECK(known && pipeline.count == 1);
  tvms_pass_run part = {.context = run->context,
                        .module = run->module,
                        .values = pipeline.steps[0].values,
                        .part = run_part};
  pipeline.steps[0].pass->run(&part);
  run->changed |= part.changed;
  tvms_pipeline_fini(run->context, &pipeline);
}

static bool run_step(tvms_context *context, tvms_module *module,
                     const tvms_pipeline *pipeline, const tvms_pass_step *step,
                     const tvms_pass_hooks *hooks, uint32_t *known) {
  if (hooks->before) hooks->before(hooks->data, step, module);
  if (!check_requirements(context, module, pipeline, step, known)) return false;
  uint32_t errors = context->diags.errors;
  tvms_pass_run run = {.context = context,
                       .module = module,
                       .program = hooks->program,
                       .values = step->values,
                       .part = run_part};
  uint64_t mark = tvms_verify_mark(module);
  double start = now();
  step->pass->run(&run);
  double seconds = now() - start;
  // A function that stood alone may have got company.
  if (module->member_count > 1) module->bare = false;
  if (run.changed)
    *known = 0;
  else
    tvms_verify_expect_same(module, mark, step->pass->name);
  tvms_verify_expect(module, step->pass->name);
  if (context->diags.errors == errors && hooks->verify && run.changed) {
    hooks->verify(hooks->data, module);
  }
  if (hooks->after) hooks->after(hooks->data, step, module, run.changed, seconds);
  return context->diags.errors == errors;
}

bool tvms_pipeline_run(tvms_context *context, tvms_module *module,
                       const tvms_pipeline *pipeline, uint32_t stop_after,
                       const tvms_pass_hooks *hooks, uint32_t *done) {
  static const tvms_pass_hooks none = {0};
  uint32_t known = 0;
  uint32_t count = stop_after < pipeline->count ? stop_after : pipeline->count;
  uint32_t i = 0;
  while (i < count
         && run_step(context, module, pipeline, &pipeline->steps[i],
                     hooks ? hooks : &none, &known)) {
    i++;
  }
  if (done) *done = i;
  return i == count;
}
