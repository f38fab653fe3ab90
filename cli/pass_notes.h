// What `tvms opt` shows between passes, on standard error: the module around a pass that
// --print-before and --print-after name, what each pass changed (--print-changed), and,
// kept for the end, what each took (--timing).
#ifndef TVMS_CLI_PASS_NOTES_H
#define TVMS_CLI_PASS_NOTES_H

#include "cli/run.h"
#include "cli/timing.h"
#include "ir/module.h"
#include "passes/manager.h"

// A pipeline at work on a program; the options are those of `run`.
typedef struct {
  tvms_run *run;
  tvms_program *program;
  tvms_dialect dialect;  // that modules are shown in
  tvms_timings timings;
  tvms_strbuf before;  // the module in front of the pass at hand, for --print-changed
} tvms_pass_notes;

// Shows what is wanted in front of a pass; `self` is a tvms_pass_notes.
void tvms_pass_notes_before(void *self, const tvms_pass_step *step,
                            const tvms_module *module);

// Shows what is wanted behind a pass, and notes its time.
void tvms_pass_notes_after(void *self, const tvms_pass_step *step,
                           const tvms_module *module, bool changed, double seconds);

#endif
