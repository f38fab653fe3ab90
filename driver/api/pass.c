// The list of passes, and pipelines at work.
#include "driver/api/api.h"
#include "driver/optimize.h"
#include "passes/pipeline.h"
#include "passes/tables.h"

#include <tvms/pass.h>

// ---- The list ----

bool tvms_pass_list(uint32_t index, tvms_pass_info *info) {
  uint32_t passes, pipelines;
  const tvms_pass *pass = tvms_pass_rows(&passes);
  const tvms_pipeline_row *pipeline = tvms_pipeline_rows(&pipelines);
  tvms_pass_info own = {0};
  own.since = tvms_dialect_text(tvms_release_written(TVMS_DIALECT_OLDEST));
  if (index < passes) {
    own.name = pass[index].name;
    own.summary = pass[index].summary;
    own.since = tvms_dialect_text(pass[index].since);
    if (pass[index].until < TVMS_DIALECT_ever)
      own.until = tvms_dialect_text(pass[index].until);
  } else if (index - passes < pipelines) {
    own.name = pipeline[index - passes].name;
    own.summary = pipeline[index - passes].summary;
    own.passes = pipeline[index - passes].passes;
  } else {
    return false;
  }
  return tvms_api_give_struct(info, &own, sizeof own);
}

bool tvms_pass_list_option(const char *pass, uint32_t index,
                           tvms_pass_option_info *info) {
  uint32_t count;
  const tvms_pass_option *rows = tvms_pass_option_rows(&count);
  const tvms_pass *found = tvms_pass_find(pass, strlen(pass));
  for (uint32_t i = 0; found && i < count; i++) {
    if (strcmp(rows[i].pass, found->name) != 0 || index--) continue;
    tvms_pass_option_info own = {.name = rows[i].name,
                                 .type = tvms_pass_option_word(rows[i].type),
                                 .initial = rows[i].initial,
                                 .summary = rows[i].summary};
    return tvms_api_give_struct(info, &own, sizeof own);
  }
  return false;
}

// ---- Running ----

typedef struct {
  tvms_program *program;
  const char *pipeline;
  const tvms_program_transform_options *options;
} transforming;

static void after_pass(void *self, const tvms_pass_step *step,
                       const tvms_module *module, bool changed, double seconds) {
  const transforming *t = self;
  tvms_context *context = t->program->context;
  tvms_trial trial;
  (void)module;
  tvms_api_leave(context, &trial);
  t->options->after(t->options->user, step->pass->name, changed, seconds);
  tvms_api_resume(context, &trial);
}

static tvms_status transform(void *argument) {
  transforming *t = argument;
  tvms_context *context = t->program->context;
  tvms_pipeline pipeline;
  if (!tvms_pipeline_parse(context, "<pipeline>", t->pipeline, &pipeline)) {
    tvms_pipeline_fini(context, &pipeline);
    return TVMS_FOUND_ERRORS;
  }
  context->diags.source = t->program->source;
  uint32_t stop = t->options->stop_after;
  tvms_optimize_options options = {
      .dialect = t->program->dialect,
      .stop_after = stop ? stop : UINT32_MAX,
      .verify_each = t->options->verify_each,
      .after = t->options->after ? after_pass : NULL,
      .self = t,
  };
  // A defect of a pass is told, too, and not only what TVM verifies.
  bool verifies = context->verifies;
  context->verifies = verifies || t->options->verify_each;
  bool good = tvms_optimize(t->program, &pipeline, &options) && !context->diags.errors;
  context->verifies = verifies;
  tvms_pipeline_fini(context, &pipeline);
  t->program->wrong = !good;
  return good ? TVMS_OK : TVMS_FOUND_ERRORS;
}

tvms_status tvms_program_transform(tvms_program *program, const char *pipeline,
                                   const tvms_program_transform_options *options) {
  tvms_program_transform_options own;
  tvms_status status = tvms_api_check_program(program);
  if (status != TVMS_OK) return status;
  if (!tvms_api_take_options(options, &own, sizeof own))
    return tvms_api_bad_options(program->context);
  if (program->shown) return tvms_api_is_shown(program);
  transforming t = {program, pipeline, &own};
  program->shown++;
  status = tvms_api_call(program->context, transform, &t);
  program->shown--;
  return status;
}
