// How far a run is: its calls, on the terminal of who waits for it.
#ifndef TVMS_CLI_CALL_PROGRESS_H
#define TVMS_CLI_CALL_PROGRESS_H

#include "cli/progress.h"
#include "interp/interp.h"
#include "vm/machine.h"

// The calls of a run: their number and the function at hand, beside whatever watches already.
typedef struct {
  tvms_progress line;
  uint64_t calls;
  tvms_interp *TVMS_NULLABLE interp;
  void (*TVMS_NULLABLE observe)(void *state, const tvms_interp_event *event);
  tvms_vm_machine *TVMS_NULLABLE machine;
  void (*TVMS_NULLABLE observe_machine)(void *state, int64_t instruction, bool begins);
  void *observe_state;
} tvms_call_progress;

// Watches the calls of `interp` from here to tvms_progress_unwatch. `progress` is the
// caller's storage; who watched before is told as before.
void tvms_progress_watch(tvms_call_progress *progress, tvms_run *run,
                         tvms_interp *interp);

// The same of the virtual machine's calls.
void tvms_progress_watch_machine(tvms_call_progress *progress, tvms_run *run,
                                 tvms_vm_machine *machine);

// Takes the line away, and lets who watched before watch alone.
void tvms_progress_unwatch(tvms_call_progress *progress);

#endif
