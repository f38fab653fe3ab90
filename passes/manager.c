// Running pipelines: what a pass relies on is checked before it, its result after it.
//
// A property is looked for in the module when a pass requires it, and then known until a
// pass changes the module. No row says which properties a pass keeps: nothing could check
// it, and one walk over the module is cheaper than the pass that changed it.
#include "passes/manager.h"

#include "ir/verify.h"
#include "passes/pipeline.h"
#include "passes/properties.h"
#include "passes/strides.h"
#include "support/diag_ids.h"

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

static void begin(const tvms_pass_hooks *hooks, tvms_pass_phase phase,
                  const char *name) {
  if (hooks->begin) hooks->begin(hooks->data, phase, name);
}

static void end(const tvms_pass_hooks *hooks) {
  if (hooks->begin) hooks->end(hooks->data);
}

static void run_part(tvms_pass_run *run, const char *name) {
  tvms_pipeline pipeline;
  bool known = tvms_pipeline_parse(run->context, name, name, &pipeline);
  TVMS_CHECK(known && pipeline.count == 1);
  tvms_pass_run part = {.pass = pipeline.steps[0].pass,
                        .context = run->context,
                        .module = run->module,
                        .values = pipeline.steps[0].values,
                        .part = run_part,
                        .read = run->read,
                        .data = run->data,
                        .hooks = run->hooks};
  begin(run->hooks, TVMS_PHASE_PASS, name);
  pipeline.steps[0].pass->run(&part);
  tvms_memory_free(&run->context->memory, part.writers);
  end(run->hooks);
  run->changed |= part.changed;
  tvms_pipeline_fini(run->context, &pipeline);
}

// After a pass: the tree must be sound, and what changed well-formed.
static void verify(tvms_module *module, const tvms_pass_hooks *hooks,
                   const tvms_pass_run *run, const char *pass, uint64_t mark,
                   bool good) {
  begin(hooks, TVMS_PHASE_VERIFICATION, "verification");
  if (!run->changed) tvms_verify_expect_same(module, mark, pass);
  tvms_verify_expect(module, pass);
  if (good && hooks->verify && run->changed) hooks->verify(hooks->data, module);
  end(hooks);
}

static bool run_step(tvms_context *context, tvms_module *module,
                     const tvms_pipeline *pipeline, const tvms_pass_step *step,
                     const tvms_pass_hooks *hooks, uint32_t *known) {
  if (hooks->before) hooks->before(hooks->data, step, module);
  begin(hooks, TVMS_PHASE_VERIFICATION, "verification");
  bool met = check_requirements(context, module, pipeline, step, known);
  end(hooks);
  if (!met) return false;
  uint32_t errors = context->diags.errors;
  tvms_pass_run run = {.pass = step->pass,
                       .context = context,
                       .module = module,
                       .program = hooks->program,
                       .values = step->values,
                       .part = run_part,
                       .read = hooks->read,
                       .data = hooks->data,
                       .hooks = hooks};
  uint64_t mark = tvms_verify_mark(module);
  begin(hooks, TVMS_PHASE_PASS, step->pass->name);
  double start = now();
  step->pass->run(&run);
  tvms_memory_free(&context->memory, run.writers);
  double seconds = now() - start;
  end(hooks);
  // A function that stood alone may have got company.
  if (module->member_count > 1) module->bare = false;
  if (run.changed) *known = 0;
  verify(module, hooks, &run, step->pass->name, mark, context->diags.errors == errors);
  if (hooks->after) hooks->after(hooks->data, step, module, run.changed, seconds);
  return context->diags.errors == errors;
}

static bool is_in(const tvms_pass_group *TVMS_NULLABLE group,
                  const tvms_pass_group *outer) {
  while (group && group != outer)
    group = group->parent;
  return group != NULL;
}

static void enter_groups(const tvms_pass_hooks *hooks,
                         const tvms_pass_group *TVMS_NULLABLE from,
                         const tvms_pass_group *TVMS_NULLABLE to) {
  if (!to || is_in(from, to)) return;
  enter_groups(hooks, from, to->parent);
  begin(hooks, TVMS_PHASE_PIPELINE, to->name);
}

// Tells of named pipelines that end and begin between two steps.
static void change_groups(const tvms_pass_hooks *hooks,
                          const tvms_pass_group *TVMS_NULLABLE from,
                          const tvms_pass_group *TVMS_NULLABLE to) {
  const tvms_pass_group *left = from;
  for (; left && !is_in(to, left); left = left->parent)
    end(hooks);
  enter_groups(hooks, left, to);
}

bool tvms_pipeline_run(tvms_context *context, tvms_module *module,
                       const tvms_pipeline *pipeline, uint32_t stop_after,
                       const tvms_pass_hooks *hooks, uint32_t *done) {
  static const tvms_pass_hooks none = {0};
  if (!hooks) hooks = &none;
  uint32_t known = 0;
  uint32_t count = stop_after < pipeline->count ? stop_after : pipeline->count;
  uint32_t i = 0;
  bool fit = tvms_pass_strides_fit(module);
  if (!fit) count = 0;
  const tvms_pass_group *group = NULL;
  for (; i < count; i++) {
    const tvms_pass_step *step = &pipeline->steps[i];
    change_groups(hooks, group, step->group);
    group = step->group;
    if (!run_step(context, module, pipeline, step, hooks, &known)) break;
  }
  change_groups(hooks, group, NULL);
  if (done) *done = i;
  return fit && i == count;
}
