// From a source to a verified program as the options of the run say, for every verb.
#ifndef TVMS_CLI_PROGRAM_H
#define TVMS_CLI_PROGRAM_H

#include "cli/run.h"
#include "driver/program.h"

// As tvms_program_load, in the releases that --from and --dialect name; --verbose says which
// one was read.
tvms_program *tvms_run_load_program(tvms_run *run, tvms_source *source);

// The same of a text that TVM may write and not read, because it says what TVM's reader
// refuses.
tvms_program *tvms_run_load_complete(tvms_run *run, tvms_source *source);

// The same, and its metadata section may be missing. Warns of values that are, if the verb
// writes them.
tvms_program *tvms_run_load_written(tvms_run *run, tvms_source *source, bool warns);

// The same as tvms_program_load_each, module by module. Rules of lint/ are run if the
// verb has read levels.
void tvms_run_each_module(tvms_run *run, tvms_source *source,
                          tvms_module_visit *TVMS_NULLABLE visit,
                          void *TVMS_NULLABLE self);

// What --from, --dialect and --definition say.
tvms_load_options tvms_run_load_options(const tvms_run *run);

// The release that a verb writes: --dialect, or else the one that was read.
tvms_dialect tvms_run_written_dialect(const tvms_run *run, tvms_dialect read);

// Checks --from and --dialect. Returns false after saying what is wrong with them.
// `writes`: --dialect must be a release that can be written.
TVMS_NODISCARD bool tvms_run_check_dialects(tvms_run *run, bool writes);

#endif
