// opt --bisect COMMAND: the first pass behind which a command of the user's fails.
#ifndef TVMS_CLI_BISECT_H
#define TVMS_CLI_BISECT_H

#include "cli/command.h"
#include "passes/manager.h"

// Passes are tried one by one, each that changed something: between two modules of which the
// command likes the first and not the second it may have failed and not failed several times,
// so halving the pipeline would find any of these passes.
typedef struct {
  tvms_run *run;
  tvms_command command;
  const tvms_program *program;
  tvms_dialect dialect;  // that modules are written in
  const tvms_pipeline *pipeline;
  tvms_strbuf good;    // the last text that the command liked
  uint32_t pass;       // passes so far
  bool found, failed;  // the pass was reported; the command cannot be run
} tvms_bisect;

// Runs the command on what was read. False if there is nothing to look for: it fails already,
// which is reported, or cannot be run.
TVMS_NODISCARD bool tvms_bisect_open(tvms_bisect *bisect);

// Runs the command behind a pass. The error that it reports ends the pipeline.
void tvms_bisect_after(tvms_bisect *bisect, const tvms_pass_step *step, bool changed);

// Appends to the result that no pass was found, if so, and frees everything.
void tvms_bisect_close(tvms_bisect *bisect);

#endif
