// `tvms print FILE`: canonical text, as TVM's own printer writes it.
//
// A definition is printed as soon as it is read. Nothing is shown before all of it is read.
#include "cli/files.h"
#include "cli/program.h"
#include "printer/print.h"

typedef struct {
  tvms_run *run;
  tvms_printer *TVMS_NULLABLE printer;  // opened for the first module
} printing;

static bool print_module(void *self, tvms_module *module) {
  printing *work = self;
  tvms_run *run = work->run;
  if (!work->printer) {
    tvms_print_options options = {
        .dialect = tvms_run_written_dialect(run, module->dialect),
        .no_metadata = run->options.no_metadata,
    };
    // Printed text is about as long as what was read.
    size_t size = run->context->diags.source->size;
    tvms_strbuf_grow(&run->result, size + size / 8);
    work->printer = tvms_print_open(run->context, &options, &run->result);
  }
  return tvms_print_next(work->printer, module);
}

static tvms_status print_source(tvms_run *run, tvms_source *source) {
  printing work = {.run = run};
  tvms_run_each_module(run, source, print_module, &work);
  const tvms_diags *diags = &run->context->diags;
  if (work.printer && !diags->errors) tvms_print_close(work.printer);
  if (diags->errors) tvms_strbuf_fini(&run->result);
  return TVMS_OK;
}

tvms_status tvms_verb_print(tvms_run *run) {
  if (!tvms_run_check_dialects(run, true)) return TVMS_FAILED_IO;
  return tvms_files_each(run, print_source);
}
