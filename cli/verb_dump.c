// `tvms dump FILE`: the code that TVM's virtual machine runs, as text: of a program that is
// compiled for it, of an executable or of a library that has one inside.
#include "cli/files.h"
#include "cli/program.h"
#include "driver/machine.h"
#include "vm/text.h"

static bool compile(tvms_run *run, tvms_source *source,
                    tvms_vm_executable *executable) {
  tvms_program *program = tvms_run_load_program(run, source);
  return !run->context->diags.errors
         && tvms_machine_compile(program, NULL, NULL, executable) != NULL;
}

static tvms_status dump_source(tvms_run *run, tvms_source *source) {
  tvms_vm_executable executable;
  tvms_vm_executable_init(&executable, &run->context->memory);
  bool made = tvms_machine_is_code(source)
                  ? tvms_machine_read(run->context, source, &executable)
                  : compile(run, source, &executable);
  if (made) tvms_vm_text(&executable, &run->result);
  return TVMS_OK;
}

tvms_status tvms_verb_dump(tvms_run *run) {
  if (!tvms_run_check_dialects(run, false)) return TVMS_FAILED_IO;
  if (run->options.paths.len != 1)
    return tvms_run_misused(run, "exactly one file must be given");
  return tvms_files_read_one(run, run->options.paths.items[0], dump_source);
}
