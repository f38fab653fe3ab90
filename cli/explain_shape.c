// `tvms explain --shape NAME FILE...`: why each dimension of a value is what it is.
//
// The modules of a file are explained as they are read. In JSON the result of a file is an
// object with a member `definitions`, one object for each module that has such a value.
#include "cli/explain_shape.h"

#include "cli/files.h"
#include "cli/program.h"
#include "driver/explain_shape_text.h"

typedef struct {
  tvms_run *run;
  tvms_source *source;
  tvms_json *TVMS_NULLABLE json;
  uint32_t values;
} explaining;

static bool explain_module(void *self, tvms_module *module) {
  explaining *e = self;
  tvms_shape_explanation found = {0};
  tvms_explain_shape(module, tvms_run_written_dialect(e->run, module->dialect),
                     e->run->options.shape, e->run->options.equals, &found);
  e->values += found.values.len;
  if (found.values.len && e->json) {
    tvms_json_open(e->json, '{');
    tvms_json_put_text(e->json, "name",
                       tvms_symbol_text(module->context, module->name));
    tvms_explain_shape_json(&found, e->source, e->json);
    tvms_json_close(e->json, '}');
  } else if (found.values.len) {
    tvms_explain_shape_text(&found, e->source, &e->run->result);
  }
  tvms_explain_shape_fini(&module->context->memory, &found);
  return false;
}

static tvms_status explain_source(tvms_run *run, tvms_source *source) {
  tvms_json json;
  tvms_json_init(&json, &run->result);
  bool is_json = run->reports && tvms_report_takes_objects(&run->report);
  explaining e = {.run = run, .source = source, .json = is_json ? &json : NULL};
  if (is_json) {
    tvms_json_open(&json, '{');
    tvms_json_put_text(&json, "file", source->name);
    tvms_json_key(&json, "definitions");
    tvms_json_open(&json, '[');
  }
  tvms_run_each_module(run, source, explain_module, &e);
  if (is_json) {
    tvms_json_close(&json, ']');
    tvms_json_close(&json, '}');
  }
  run->result_is_json = is_json;
  if (e.values || run->context->diags.errors) return TVMS_OK;
  tvms_run_complain(run, "%s: no Relax function has a value '%s'", source->name,
                    run->options.shape);
  return TVMS_FAILED_IO;
}

tvms_status tvms_run_explain_shape(tvms_run *run) {
  if (!run->options.shape) {
    return tvms_run_misused(run, "option '--equals' needs '--shape'");
  }
  if (!tvms_run_check_dialects(run, true)) return TVMS_FAILED_IO;
  return tvms_files_each(run, explain_source);
}
