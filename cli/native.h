// What `run`, `build` and `bench` share.
#ifndef TVMS_CLI_NATIVE_H
#define TVMS_CLI_NATIVE_H

#include "cli/run.h"
#include "driver/inputs.h"
#include "driver/native.h"
#include "driver/runnable.h"

// Reads, verifies and lowers the file for --entry (driver/runnable.h). NULL: something is
// wrong and was reported.
tvms_module *TVMS_NULLABLE tvms_run_load_runnable(tvms_run *run, tvms_source *source);

// The plug-in for native code, or NULL after saying why it is not there.
const tvms_backend *TVMS_NULLABLE tvms_run_load_backend(tvms_run *run);

// Compiles what `entry` calls if --backend asks for it, or for `backend` if it is not
// given. False after a report; else tvms_compiled_close must follow.
TVMS_NODISCARD bool tvms_run_open_compiled(tvms_run *run, const tvms_module *module,
                                           const tvms_member *entry,
                                           const char *backend, bool checked,
                                           tvms_compiled *compiled);

// Makes the arguments of a call: --in and --seed. False after a report.
TVMS_NODISCARD bool tvms_run_make_inputs(tvms_run *run, const tvms_member *entry,
                                         tvms_heap *heap, tvms_value *values);

#endif
