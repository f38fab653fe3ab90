// `tvms diff A B`: structural differences of two programs, located in both files. Exit
// status 1 if there is one. In formats for machines they are findings. With --values the
// functions of both are run on random inputs instead, and what they give is compared.
#include "cli/files.h"
#include "cli/findings.h"
#include "cli/program.h"
#include "cli/restart.h"
#include "driver/diff.h"
#include "driver/semantics.h"

#include <math.h>
#include <stdlib.h>

static double tolerance_of(const tvms_run *run) {
  return run->options.tolerance ? strtod(run->options.tolerance, NULL) : -1;
}

// Findings are all that comes of it, also the number of definitions.
static tvms_status compare_values(tvms_run *run, tvms_diff_side left,
                                  tvms_diff_side right) {
  if (left.program->count != right.program->count)
    tvms_diff_programs(left, right, right.program->dialect, tvms_diff_report,
                       run->context);
  else
    tvms_semantics_compare_programs(left.program, right.program, right.source,
                                    tolerance_of(run), run->foreign);
  return run->context->diags.errors ? TVMS_FOUND_ERRORS : TVMS_OK;
}

static tvms_status diff_source(tvms_run *run, tvms_source *source) {
  const char *other = run->options.paths.items[1];
  tvms_source *right = tvms_source_read(&run->context->memory, other);
  if (!right) return tvms_run_complain_io(run, other);
  const tvms_program *left_program = tvms_run_load_written(run, source, false);
  const tvms_program *right_program = tvms_run_load_written(run, right, false);
  if (run->context->diags.errors) return TVMS_FOUND_ERRORS;
  tvms_diff_side sides[] = {{left_program, source}, {right_program, right}};
  if (run->options.values) return compare_values(run, sides[0], sides[1]);
  tvms_dialect dialect = tvms_run_written_dialect(run, right_program->dialect);
  bool text = tvms_findings_are_text(run);
  uint32_t found = tvms_diff_programs(sides[0], sides[1], dialect,
                                      text ? tvms_diff_write_text : tvms_diff_report,
                                      text ? (void *)&run->result : run->context);
  return found ? TVMS_FOUND_ERRORS : TVMS_OK;
}

tvms_status tvms_verb_diff(tvms_run *run) {
  if (run->options.plugins.len && !run->foreign)
    return tvms_run_with_plugins(run, tvms_verb_diff);
  if (run->options.paths.len != 2)
    return tvms_run_misused(run, "exactly two files must be given");
  const tvms_texts *paths = &run->options.paths;
  if (strcmp(paths->items[0], "-") == 0 && strcmp(paths->items[1], "-") == 0)
    return tvms_run_misused(run, "only one of the two files can be standard input");
  if (!tvms_run_check_dialects(run, true)) return TVMS_FAILED_IO;
  if (run->options.tolerance) {
    char *end;
    double tolerance = strtod(run->options.tolerance, &end);
    if (*end || end == run->options.tolerance || !isfinite(tolerance) || tolerance < 0)
      return tvms_run_misused(run, "option '--tolerance' takes a number of at least 0");
  }
  return tvms_files_read_one(run, run->options.paths.items[0], diff_source);
}
