// `tvms infer FILE...`: the type of every parameter, binding and result of Relax functions,
// and what is known of their symbolic variables.
//
// Text has one line per value, indented as the program nests. In JSON the result of a file
// is an object.
#include "cli/files.h"
#include "cli/program.h"
#include "driver/infer.h"
#include "driver/infer_text.h"

typedef struct {
  tvms_run *run;
  tvms_infer *TVMS_NULLABLE infer;  // opened for the first module
  tvms_infer_text text;
  tvms_infer_json json;
  bool is_json;
} inferring;

static bool read_module(void *self, tvms_module *module) {
  inferring *in = self;
  if (!in->infer) {
    tvms_dialect dialect = tvms_run_written_dialect(in->run, module->dialect);
    in->infer = in->is_json ? tvms_infer_open(in->run->context, dialect,
                                              tvms_infer_write_json, &in->json)
                            : tvms_infer_open(in->run->context, dialect,
                                              tvms_infer_write_text, &in->text);
  }
  tvms_infer_text_begin(&in->text, module);
  in->json.module =
      module->bare ? NULL : tvms_symbol_text(module->context, module->name);
  tvms_infer_add(in->infer, module);
  return false;
}

static void open_document(tvms_json *json, const tvms_source *source) {
  tvms_json_open(json, '{');
  tvms_json_put_text(json, "file", source->name);
  tvms_json_key(json, "functions");
  tvms_json_open(json, '[');
}

static void close_document(tvms_json *json) {
  tvms_json_close(json, ']');
  tvms_json_close(json, '}');
}

static tvms_status infer_source(tvms_run *run, tvms_source *source) {
  tvms_json json;
  tvms_json_init(&json, &run->result);
  inferring in = {
      .run = run,
      .text = {.out = &run->result},
      .json = {.json = &json, .source = source, .memory = &run->context->memory},
      .is_json = run->reports && tvms_report_takes_objects(&run->report),
  };
  if (in.is_json) open_document(&json, source);
  tvms_run_each_module(run, source, read_module, &in);
  if (in.is_json) close_document(&json);
  if (in.infer) tvms_infer_close(in.infer);
  tvms_vec_fini(&run->context->memory, &in.text.first_names);
  if (run->context->diags.errors) tvms_strbuf_fini(&run->result);
  run->result_is_json = in.is_json;
  return TVMS_OK;
}

tvms_status tvms_verb_infer(tvms_run *run) {
  if (!tvms_run_check_dialects(run, true)) return TVMS_FAILED_IO;
  return tvms_files_each(run, infer_source);
}
