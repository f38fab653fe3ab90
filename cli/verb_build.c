// `tvms build FILE -o OUT`: native code in the form that OUT's suffix names.
#define _POSIX_C_SOURCE 200809L
#include "cli/files.h"
#include "cli/link.h"
#include "cli/native.h"
#include "cli/program.h"
#include "driver/build.h"
#include "driver/c_header.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

typedef struct {
  const char *suffix;
  tvms_native_form form;
  bool linked;
  bool is_text;  // C, which no plug-in makes
  bool archived;
  bool is_executable;  // of TVM's virtual machine, which needs no plug-in either
} output_form;

static const output_form forms[] = {
    {".so", TVMS_NATIVE_OBJECT, true, false, false, false},
    {".o", TVMS_NATIVE_OBJECT, false, false, false, false},
    {".a", TVMS_NATIVE_OBJECT, false, false, true, false},
    {".s", TVMS_NATIVE_ASSEMBLY, false, false, false, false},
    {".c", TVMS_NATIVE_OBJECT, false, true, false, false},
    {".ll", TVMS_NATIVE_IR, false, false, false, false},
    {".vm", TVMS_NATIVE_OBJECT, false, true, false, true},
};

static const output_form *TVMS_NULLABLE form_of(const char *path) {
  size_t len = strlen(path);
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    size_t tail = strlen(forms[i].suffix);
    if (len > tail && strcmp(path + len - tail, forms[i].suffix) == 0) return &forms[i];
  }
  return NULL;
}

// Writes the header beside the output: with the same name, but for the suffix.
static tvms_status write_header(tvms_run *run, const tvms_strbuf *header) {
  const char *output = run->options.output;
  size_t stem = strlen(output) - strlen(form_of(output)->suffix);
  tvms_strbuf path;
  tvms_strbuf_init(&path, &run->context->memory);
  tvms_strbuf_printf(&path, "%.*s.h", (int)stem, output);
  tvms_status status =
      tvms_files_create(run, tvms_strbuf_text(&path), header->text, header->len);
  tvms_strbuf_fini(&path);
  return status;
}

enum { STRICT_LEVEL = 1, USUAL_LEVEL = 2, MOST_LEVEL = 3 };

// -O, which was checked. Graphs that are optimized round otherwise than their text.
static uint8_t level_of(tvms_run *run) {
  uint64_t given = run->options.level;
  if (given != UINT64_MAX) return (uint8_t)given;
  return tvms_run_contracts(run, true) ? USUAL_LEVEL : STRICT_LEVEL;
}

static bool make_code(tvms_run *run, tvms_program *program,
                      const tvms_backend *TVMS_NULLABLE backend,
                      const tvms_native_options *options, tvms_externs *externs,
                      tvms_strbuf *code, tvms_strbuf *TVMS_NULLABLE header) {
  const output_form *form = form_of(run->options.output);
  tvms_dialect written = tvms_run_written_dialect(run, program->dialect);
  tvms_library_options library = {.prim_funcs_only = run->options.primfuncs_only,
                                  .params = run->options.params,
                                  .entry = run->options.entry,
                                  .explain = run->options.explain,
                                  .externs = externs,
                                  .level = level_of(run)};
  if (form->is_executable)
    return tvms_build_executable(program, &library, written, code);
  if (run->options.vm)
    return tvms_build_machine_code(program, backend, options, form->form, &library,
                                   written, code);
  return tvms_build_code(program, backend, options, form->form, &library, code, header);
}

static tvms_status build_with(tvms_run *run, tvms_source *source,
                              const tvms_backend *TVMS_NULLABLE backend,
                              const tvms_native_options *options) {
  const output_form *form = form_of(run->options.output);
  tvms_program *program = tvms_run_load_complete(run, source);
  tvms_strbuf code, header;
  tvms_strbuf_init(&code, &run->context->memory);
  tvms_strbuf_init(&header, &run->context->memory);
  bool headers = run->options.emit_headers;
  tvms_externs externs = {0};
  bool built = !run->context->diags.errors
               && make_code(run, program, backend, options, &externs, &code,
                            headers ? &header : NULL);
  if (!built) return TVMS_OK;  // reported
  tvms_status status = headers ? write_header(run, &header) : TVMS_OK;
  if (status != TVMS_OK) return status;
  if (form->linked || form->archived)
    return form->archived ? tvms_link_archive(run, &code)
                          : tvms_link_library(run, &code, &externs);
  return tvms_files_create(run, run->options.output, code.text, code.len);
}

// What the command line says of the code.
static tvms_native_options code_options(tvms_run *run, tvms_source *source) {
  tvms_native_options options = {.contract = tvms_run_contracts(run, true),
                                 .as_written = level_of(run) == 0};
  if (run->options.emit_headers)
    options.plain_prefix = tvms_build_header_prefix(run->context, run->options.output);
  if (!run->options.debug) return options;
  static char folder[4096];
  options.lines_of = source;
  options.folder = getcwd(folder, sizeof folder);
  return options;
}

// Can the linker of this machine join code for the target, whatever the processor?
static bool can_link_for(const tvms_target *target) {
  struct utsname system;
  if (target->host || !target->triple) return true;
  return uname(&system) == 0 && tvms_target_is_of(target, system.machine)
         && strstr(target->triple, "linux");
}

static tvms_status build_for_target(tvms_run *run, tvms_source *source,
                                    const tvms_backend *TVMS_NULLABLE backend) {
  tvms_unit unit;
  tvms_unit_init(&unit, run->context, TVMS_DIALECT_CURRENT);
  tvms_strbuf why;
  tvms_strbuf_init(&why, &run->context->memory);
  tvms_target target;
  tvms_native_options options = code_options(run, source);
  tvms_status status = TVMS_FAILED_IO;
  if (!tvms_build_find_target(backend, run->options.target, &unit, &target, &options,
                              &why))
    tvms_run_complain(run, "option '--target': %s", tvms_strbuf_text(&why));
  else if (form_of(run->options.output)->linked && options.target
           && !can_link_for(&target))
    tvms_run_complain(run,
                      "option '--target': a library can be linked for Linux on this "
                      "machine's architecture only; use .o");
  else
    status = build_with(run, source, backend, &options);
  tvms_strbuf_fini(&why);
  tvms_unit_fini(&unit);
  return status;
}

static tvms_status build_text(tvms_run *run, tvms_source *source) {
  return build_for_target(run, source, NULL);
}

static tvms_status build_source(tvms_run *run, tvms_source *source) {
  const tvms_backend *backend = tvms_run_load_backend(run);
  return backend ? build_for_target(run, source, backend) : TVMS_FAILED_IO;
}

tvms_status tvms_verb_build(tvms_run *run) {
  if (!tvms_run_check_dialects(run, false)) return TVMS_FAILED_IO;
  if (run->options.paths.len != 1)
    return tvms_run_misused(run, "exactly one file must be given");
  const char *output = run->options.output;
  if (!output) return tvms_run_misused(run, "no output given; use -o");
  if (!form_of(output)) {
    return tvms_run_misused(
        run, "'%s': the suffix must be .so, .o, .a, .s, .ll, .c or .vm", output);
  }
  if (run->options.level != UINT64_MAX && run->options.level > MOST_LEVEL)
    return tvms_run_misused(run, "option '-O' takes 0, 1, 2 or 3");
  if (run->options.entry && !run->options.params)
    return tvms_run_misused(run, "--entry names the function of --params");
  if (run->options.with_run_time && !form_of(output)->archived)
    return tvms_run_misused(run, "--static goes with .a");
  if (run->options.links.len && !form_of(output)->linked)
    return tvms_run_misused(run, "--link goes with .so");
  if (run->options.backend && strcmp(run->options.backend, "llvm") != 0) {
    return tvms_run_misused(run, "backend '%s' does not write files",
                            run->options.backend);
  }
  bool is_text = form_of(output)->is_text, alone = form_of(output)->is_executable;
  if (run->options.target && alone)
    return tvms_run_misused(
        run, "--target does not go with '%s', which is for every machine", output);
  if (run->options.vm && is_text && !alone)
    return tvms_run_misused(run, "--vm does not go with .c");
  if (run->options.emit_headers && (run->options.vm || alone))
    return tvms_run_misused(
        run, "--emit-headers does not go with code of the virtual machine");
  return tvms_files_read_one(run, run->options.paths.items[0],
                             is_text ? build_text : build_source);
}
