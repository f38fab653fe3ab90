// --from, --dialect and --definition for every verb that looks at a program.
#include "cli/program.h"

#include "support/diag_ids.h"

static tvms_dialect dialect_of(const char *TVMS_NULLABLE text) {
  return text ? tvms_dialect_parse(text) : TVMS_DIALECT_NONE;
}

// --dialect, or the release that the project has configured.
static tvms_dialect dialect_to_read(const tvms_run *run) {
  const char *asked = run->options.dialect;
  return dialect_of(!asked && run->config ? run->config->own->release : asked);
}

tvms_load_options tvms_run_load_options(const tvms_run *run) {
  return (tvms_load_options){.from = dialect_of(run->options.from),
                             .dialect = dialect_to_read(run),
                             .definition = run->options.definition,
                             .strict = run->options.strict};
}

static void tell_dialect(tvms_run *run, const tvms_source *source, tvms_dialect read) {
  if (!run->options.verbose) return;
  tvms_run_tell(run, "%s: read as %s", source->name, tvms_dialect_text(read));
}

static tvms_program *load(tvms_run *run, tvms_source *source,
                          const tvms_load_options *options) {
  tvms_program *program = tvms_program_load(run->context, source, options);
  tell_dialect(run, source, program->dialect);
  return program;
}

tvms_program *tvms_run_load_program(tvms_run *run, tvms_source *source) {
  tvms_load_options options = tvms_run_load_options(run);
  return load(run, source, &options);
}

tvms_program *tvms_run_load_complete(tvms_run *run, tvms_source *source) {
  tvms_load_options options = tvms_run_load_options(run);
  options.as_written = true;
  return load(run, source, &options);
}

tvms_program *tvms_run_load_written(tvms_run *run, tvms_source *source, bool warns) {
  tvms_load_options options = tvms_run_load_options(run);
  options.as_written = true;
  options.omitted = true;
  tvms_program *program = load(run, source, &options);
  if (warns && program->omitted) {
    tvms_diag_report(&run->context->diags, TVMS_D_omitted_values, program->omitted_at,
                     program->omitted, program->omitted == 1 ? "" : "s");
  }
  return program;
}

void tvms_run_each_module(tvms_run *run, tvms_source *source, tvms_module_visit *visit,
                          void *self) {
  tvms_load_options options = tvms_run_load_options(run);
  options.lints = run->lints;
  options.counts = &run->counts;
  tell_dialect(run, source,
               tvms_program_load_each(run->context, source, &options, visit, self));
}

tvms_dialect tvms_run_written_dialect(const tvms_run *run, tvms_dialect read) {
  return tvms_dialect_to_write(dialect_of(run->options.dialect), read);
}

static bool is_release(tvms_run *run, const char *option,
                       const char *TVMS_NULLABLE text) {
  if (!text || tvms_dialect_parse(text) != TVMS_DIALECT_NONE) return true;
  char names[TVMS_RELEASES_TEXT];
  (void)tvms_run_misused(run, "option '--%s': there is no release '%s'; there are %s",
                         option, text, tvms_release_names(names));
  return false;
}

bool tvms_run_check_dialects(tvms_run *run, bool writes) {
  if (!is_release(run, "from", run->options.from)) return false;
  if (!is_release(run, "dialect", run->options.dialect)) return false;
  tvms_dialect asked = dialect_of(run->options.dialect);
  if (!writes || tvms_release_written(asked) == asked) return true;
  (void)tvms_run_misused(run,
                         "option '--dialect': release %s can be read but not written",
                         tvms_dialect_text(asked));
  return false;
}
