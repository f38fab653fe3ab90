// Processes that golden files are run by.
#ifndef TVMS_CLI_GOLDEN_SPAWN_H
#define TVMS_CLI_GOLDEN_SPAWN_H

#include "cli/golden.h"
#include "support/textdiff.h"

// Whose process it is: the program of a golden file, in a run of `tvms test`.
typedef struct {
  tvms_run *run;
  const tvms_golden *golden;
} tvms_golden_place;

// How a process ended and what it wrote; the texts belong to the context of the file.
typedef struct {
  int status;  // exit status; -1: killed by `signal`
  int signal;
  bool late;
  const char *out;
  size_t out_len;
  const char *findings;
  size_t findings_len;
} tvms_golden_outcome;

// Runs this program with `words`, and `input` (header and body of a file as they stand, so
// that findings have their lines) as its standard input. `verifies`: with --verify-each.
tvms_golden_outcome tvms_golden_spawn(const tvms_golden_place *place,
                                      const tvms_texts *words, bool verifies,
                                      const char *input, size_t len);

// Runs the passes of a golden file by the command of --opt-with, and prints what it gives as
// tvms prints it. A text that tvms cannot read is left as it is.
tvms_golden_outcome tvms_golden_spawn_other(const tvms_golden_place *place,
                                            const tvms_golden_run *run,
                                            const char *input, size_t len);

// Runs `diff --values` on two programs.
tvms_golden_outcome tvms_golden_spawn_diff(const tvms_golden_place *place,
                                           const tvms_golden_run *run,
                                           tvms_version before, tvms_version now);

#endif
