// `tvms diff A B`: structural differences of two programs, located in both files. Exit
// status 1 if there is one. In formats for machines they are findings.
#include "cli/files.h"
#include "cli/findings.h"
#include "cli/program.h"
#include "driver/diff.h"

static tvms_status diff_source(tvms_run *run, tvms_source *source) {
  const char *other = run->options.paths.items[1];
  tvms_source *right = tvms_source_read(&run->context->memory, other);
  if (!right) return tvms_run_complain_io(run, other);
  const tvms_program *left_program = tvms_run_load_program(run, source);
  const tvms_program *right_program = tvms_run_load_program(run, right);
  if (run->context->diags.errors) return TVMS_FOUND_ERRORS;
  tvms_dialect dialect = tvms_run_written_dialect(run, right_program->dialect);
  bool text = tvms_findings_are_text(run);
  uint32_t found = tvms_diff_programs((tvms_diff_side){left_program, source},
                                      (tvms_diff_side){right_program, right}, dialect,
                                      text ? tvms_diff_write_text : tvms_diff_report,
                                      text ? (void *)&run->result : run->context);
  return found ? TVMS_FOUND_ERRORS : TVMS_OK;
}

tvms_status tvms_verb_diff(tvms_run *run) {
  if (run->options.paths.len != 2)
    return tvms_run_misused(run, "exactly two files must be given");
  const tvms_texts *paths = &run->options.paths;
  if (strcmp(paths->items[0], "-") == 0 && strcmp(paths->items[1], "-") == 0)
    return tvms_run_misused(run, "only one of the two files can be standard input");
  if (!tvms_run_check_dialects(run, true)) return TVMS_FAILED_IO;
  return tvms_files_read_one(run, run->options.paths.items[0], diff_source);
}
