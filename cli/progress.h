// What a long piece of work is doing, on the terminal of who waits for it.
#ifndef TVMS_CLI_PROGRESS_H
#define TVMS_CLI_PROGRESS_H

#include "cli/run.h"

// One line of standard error, which is written again and again. Nothing is shown of work that
// takes less than a second, with --quiet, and where standard error is not a terminal.
typedef struct {
  tvms_run *run;
  bool wanted;   // somebody may look
  bool shown;    // the line stands there
  double begun;  // when the work began
  double next;   // not written again before
} tvms_progress;

// Begins a piece of work. The line is the caller's storage and needs no end unless it is used.
void tvms_progress_begin(tvms_progress *progress, tvms_run *run);

// Whether it is time to write the line (again).
bool tvms_progress_is_due(tvms_progress *progress);

// Writes the line; what does not fit is cut.
void tvms_progress_show(tvms_progress *progress, const char *format, ...)
    TVMS_PRINTF(2, 3);

// Takes the line away.
void tvms_progress_end(tvms_progress *progress);

#endif
