// What `tvms opt` shows between passes, on standard error: the module around a pass that
// --print-before and --print-after name, what each pass changed (--print-changed), and,
// kept for the end, what each took (--timing) and counted (--statistics).
#ifndef TVMS_CLI_PASS_NOTES_H
#define TVMS_CLI_PASS_NOTES_H

#include "cli/bisect.h"
#include "driver/timing.h"
#include "ir/module.h"
#include "passes/remarks.h"

// A pipeline at work on a program; the options are those of `run`.
typedef struct {
  tvms_run *run;
  tvms_program *program;
  tvms_dialect dialect;  // that modules are shown in
  tvms_timing timing;
  tvms_pass_log log;
  tvms_bisect *TVMS_NULLABLE bisect;  // --bisect; NULL: not wanted
  tvms_strbuf before;  // the module in front of the pass at hand, for --print-changed
} tvms_pass_notes;

// Prepares what is noted, as the options of `run` say, of this pipeline (NULL: it is wrong). False
// after a complaint: an option names a pass that there is not.
TVMS_NODISCARD bool tvms_pass_notes_init(tvms_pass_notes *notes,
                                         const tvms_pipeline *TVMS_NULLABLE pipeline);

// Shows what is wanted in front of a pass; `self` is a tvms_pass_notes.
void tvms_pass_notes_before(void *self, const tvms_pass_step *step,
                            const tvms_module *module);

// Shows what is wanted behind a pass.
void tvms_pass_notes_after(void *self, const tvms_pass_step *step,
                           const tvms_module *module, bool changed, double seconds);

// Notes that a phase begins.
void tvms_pass_notes_begin(void *self, tvms_pass_phase phase, const char *name);

// Notes that it ends.
void tvms_pass_notes_end(void *self);

// --timing: the tree of times on standard error, or in a document as a result of the file.
void tvms_pass_notes_timing(const tvms_pass_notes *notes);

// --statistics: what passes counted, likewise.
void tvms_pass_notes_statistics(const tvms_pass_notes *notes);

#endif
