// `tvms build FILE -o OUT`: native code in the form that OUT's suffix names.
#define _POSIX_C_SOURCE 200809L
#include "cli/files.h"
#include "cli/link.h"
#include "cli/native.h"
#include "cli/program.h"
#include "driver/build.h"

#include <unistd.h>

typedef struct {
  const char *suffix;
  tvms_native_form form;
  bool linked;
  bool is_text;  // C, which no plug-in makes
} output_form;

static const output_form forms[] = {
    {".so", TVMS_NATIVE_OBJECT, true, false},
    {".o", TVMS_NATIVE_OBJECT, false, false},
    {".s", TVMS_NATIVE_ASSEMBLY, false, false},
    {".c", TVMS_NATIVE_OBJECT, false, true},
    {".ll", TVMS_NATIVE_IR, false, false},
};

static const output_form *TVMS_NULLABLE form_of(const char *path) {
  size_t len = strlen(path);
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    size_t tail = strlen(forms[i].suffix);
    if (len > tail && strcmp(path + len - tail, forms[i].suffix) == 0) return &forms[i];
  }
  return NULL;
}

static tvms_status build_with(tvms_run *run, tvms_source *source,
                              const tvms_backend *TVMS_NULLABLE backend,
                              const tvms_native_options *options) {
  const output_form *form = form_of(run->options.output);
  tvms_program *program = tvms_run_load_program(run, source);
  tvms_strbuf code;
  tvms_strbuf_init(&code, &run->context->memory);
  bool built = !run->context->diags.errors
               && tvms_build_code(program, backend, options, form->form,
                                  run->options.primfuncs_only, &code);
  if (!built) return TVMS_OK;  // reported
  if (form->linked) return tvms_link_object(run, &code);
  return tvms_files_create(run, run->options.output, code.text, code.len);
}

// What the command line says of the code.
static tvms_native_options code_options(tvms_run *run, tvms_source *source) {
  tvms_native_options options = {.contract = tvms_run_contracts(run, true)};
  if (!run->options.debug) return options;
  static char folder[4096];
  options.lines_of = source;
  options.folder = getcwd(folder, sizeof folder);
  return options;
}

static tvms_status build_text(tvms_run *run, tvms_source *source) {
  tvms_native_options options = code_options(run, source);
  return build_with(run, source, NULL, &options);
}

static tvms_status build_source(tvms_run *run, tvms_source *source) {
  const tvms_backend *backend = tvms_run_load_backend(run);
  if (!backend) return TVMS_FAILED_IO;
  tvms_unit unit;
  tvms_unit_init(&unit, run->context, TVMS_DIALECT_CURRENT);
  tvms_strbuf why;
  tvms_strbuf_init(&why, &run->context->memory);
  tvms_target target;
  tvms_native_options options = code_options(run, source);
  tvms_status status = TVMS_FAILED_IO;
  if (tvms_build_find_target(backend, run->options.target, &unit, &target, &options,
                             &why))
    status = build_with(run, source, backend, &options);
  else
    tvms_run_complain(run, "option '--target': %s", tvms_strbuf_text(&why));
  tvms_strbuf_fini(&why);
  tvms_unit_fini(&unit);
  return status;
}

tvms_status tvms_verb_build(tvms_run *run) {
  if (!tvms_run_check_dialects(run, false)) return TVMS_FAILED_IO;
  if (run->options.paths.len != 1)
    return tvms_run_misused(run, "exactly one file must be given");
  const char *output = run->options.output;
  if (!output) return tvms_run_misused(run, "no output given; use -o");
  if (!form_of(output)) {
    return tvms_run_misused(run, "'%s': the suffix must be .so, .o, .s, .ll or .c",
                            output);
  }
  const char *target = run->options.target;
  if (target && strcmp(target, "host") != 0 && form_of(output)->linked) {
    return tvms_run_misused(run,
                            "a library can be linked for this machine only; use .o");
  }
  if (run->options.backend && strcmp(run->options.backend, "llvm") != 0) {
    return tvms_run_misused(run, "backend '%s' does not write files",
                            run->options.backend);
  }
  bool is_text = form_of(output)->is_text;
  if (target && is_text)
    return tvms_run_misused(run,
                            "C is for every machine; --target does not go with .c");
  return tvms_files_read_one(run, run->options.paths.items[0],
                             is_text ? build_text : build_source);
}
