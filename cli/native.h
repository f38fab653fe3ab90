// What `run`, `build` and `bench` share: the program made ready to run.
#ifndef TVMS_CLI_NATIVE_H
#define TVMS_CLI_NATIVE_H

#include "backend/backend.h"
#include "cli/run.h"

// Reads, verifies and lowers: operators of Relax become calls of PrimFuncs. All modules of
// the file become one, whose functions have different names; `for_entry`: or the class
// that defines the entry. NULL: something is wrong and was reported.
tvms_module *TVMS_NULLABLE tvms_native_load_runnable(tvms_run *run, tvms_source *source,
                                                     bool for_entry);

// The function to run: --entry, or `main`, or the only one. NULL after a report.
const tvms_member *TVMS_NULLABLE tvms_native_find_entry(tvms_run *run,
                                                        const tvms_module *module);

// The plug-in for native code, or NULL after saying why it is not there.
const tvms_backend *TVMS_NULLABLE tvms_load_backend(tvms_run *run);

// Compiled code of a whole module, to be found by an interpreter.
typedef struct {
  const tvms_backend *TVMS_NULLABLE backend;  // NULL: everything is interpreted
  tvms_jit *jit;
  tvms_context *context;
  const tvms_module *module;
  tvms_safe_call *kernels;  // by member, as they are asked for
  tvms_resource resource;
} tvms_compiled;

// Compiles what `entry` calls if --backend asks for it, or for `backend` if it is not
// given. False after a report; else tvms_native_close must follow. `checked`: every
// index is checked.
TVMS_NODISCARD bool tvms_native_open(tvms_run *run, const tvms_module *module,
                                     const tvms_member *entry, const char *backend,
                                     bool checked, tvms_compiled *compiled);
void tvms_native_close(tvms_compiled *compiled);

// An interpreter of `module` that runs the compiled code where there is some.
tvms_interp tvms_native_interpreter_for(tvms_run *run, const tvms_module *module,
                                        tvms_heap *heap, tvms_compiled *compiled);

#endif
