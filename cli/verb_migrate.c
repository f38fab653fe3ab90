// `tvms migrate --dialect D FILE...`: source text in the spelling of another release.
#include "cli/deliver.h"
#include "cli/files.h"
#include "cli/program.h"
#include "driver/migrate.h"

static tvms_status migrate_source(tvms_run *run, tvms_source *source) {
  const tvms_program *program = tvms_run_load_program(run, source);
  if (run->context->diags.errors) return TVMS_OK;
  tvms_dialect to = tvms_run_written_dialect(run, program->dialect);
  tvms_strbuf text;
  tvms_strbuf_init(&text, &run->context->memory);
  tvms_status status = TVMS_OK;
  if (tvms_migrate_source(source, program, to, &text))
    status = tvms_deliver(run, source, &text, "migrated");
  tvms_strbuf_fini(&text);
  return status;
}

tvms_status tvms_verb_migrate(tvms_run *run) {
  if (!run->options.dialect)
    return tvms_run_misused(
        run, "option '--dialect' is required: it says which release to write");
  if (!tvms_run_check_dialects(run, true)) return TVMS_FAILED_IO;
  tvms_status status = tvms_deliver_check(run, "migrated");
  if (status != TVMS_OK) return status;
  return tvms_files_each(run, migrate_source);
}
