// `tvms print FILE`: canonical text, as TVM's own printer writes it.
#include "cli/files.h"
#include "cli/program.h"
#include "printer/print.h"

static tvms_status print_source(tvms_run *run, tvms_source *source) {
  tvms_program *program = tvms_load_program(run, source);
  if (run->context->diags.errors) return TVMS_OK;
  tvms_print_options options = {
      .dialect = tvms_written_dialect(run, program),
      .no_metadata = run->options.no_metadata,
  };
  tvms_print_program(program, &options, &run->result);
  if (run->context->diags.errors) tvms_strbuf_fini(&run->result);
  return TVMS_OK;
}

tvms_status tvms_verb_print(tvms_run *run) {
  if (!tvms_check_dialects(run, true)) return TVMS_FAILED_IO;
  return tvms_each_file(run, print_source);
}
