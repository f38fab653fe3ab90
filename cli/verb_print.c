// `tvms print FILE`: canonical text, as TVM's own printer writes it.
//
// A definition is printed as soon as it is read and dropped then, so that a long file needs
// little more memory than its text. Nothing is shown before all of it is read.
#include "cli/files.h"
#include "cli/program.h"
#include "printer/print.h"

typedef struct {
  tvms_run *run;
  tvms_printer *TVMS_NULLABLE printer;  // opened for the first module
  uint32_t unsayable;                   // errors of the printer
  uint32_t waiting;                     // modules that were kept because of an error
} printing;

// An error of who reads or verifies: what is wrong is not worth printing. What cannot be
// said, though, is reported for every module.
static bool is_wrong(const printing *work) {
  return work->run->context->diags.errors > work->unsayable;
}

static bool print_module(printing *work, const tvms_module *module) {
  tvms_run *run = work->run;
  if (!work->printer) {
    tvms_print_options options = {
        .dialect = tvms_written_dialect(run, module->dialect),
        .no_metadata = run->options.no_metadata,
    };
    // Printed text is about as long as what was read.
    size_t size = run->context->diags.source->size;
    tvms_strbuf_grow(&run->result, size + size / 8);
    work->printer = tvms_print_open(run->context, &options, &run->result);
  }
  uint32_t errors = run->context->diags.errors;
  bool needed = tvms_print_next(work->printer, module);
  work->unsayable += run->context->diags.errors - errors;
  return needed;
}

// Once there is an error, modules wait: it may be one that goes again.
static bool print_or_keep(void *self, tvms_module *module) {
  printing *work = self;
  bool waits = work->waiting || is_wrong(work);
  work->waiting += waits;
  return waits || print_module(work, module);
}

static tvms_status print_source(tvms_run *run, tvms_source *source) {
  printing work = {.run = run};
  tvms_stream stream = {run, print_or_keep, &work};
  const tvms_program *program = tvms_stream_program(&stream, source);
  if (!is_wrong(&work)) {
    for (uint32_t i = program->count - work.waiting; i < program->count; i++) {
      (void)print_module(&work, program->modules[i]);
    }
  }
  const tvms_diags *diags = &run->context->diags;
  if (work.printer && !diags->errors) tvms_print_close(work.printer);
  if (diags->errors) tvms_strbuf_fini(&run->result);
  return TVMS_OK;
}

tvms_status tvms_verb_print(tvms_run *run) {
  if (!tvms_check_dialects(run, true)) return TVMS_FAILED_IO;
  return tvms_each_file(run, print_source);
}
