// What `run`, `build` and `bench` share.
#ifndef TVMS_CLI_NATIVE_H
#define TVMS_CLI_NATIVE_H

#include "backend/plugin.h"
#include "cli/run.h"
#include "driver/inputs.h"
#include "driver/late.h"
#include "driver/native.h"
#include "driver/runnable.h"

// A call of the entry of a program, with what it needs. The caller owns the storage.
typedef struct {
  tvms_module *module;
  const tvms_member *entry;
  const tvms_member *signature;  // of the entry (driver/signature.h)
  tvms_compiled compiled;
  tvms_heap heap;
  tvms_value *values;  // arguments
  uint32_t count;
  tvms_plugins *TVMS_NULLABLE plugins;
  tvms_interp interp;
  tvms_late late;
} tvms_entry_call;

// Reads, verifies and lowers the file for --entry (driver/runnable.h), and finds the entry. With
// `host` Relax functions become PrimFuncs if they can (tvms_runnable_host). False: something is wrong
// and was reported.
TVMS_NODISCARD bool tvms_run_find_entry(tvms_run *run, tvms_source *source, bool host,
                                        tvms_entry_call *call);

// Whether --fp lets products and sums be rounded at once; `initially` if it is not given.
bool tvms_run_contracts(const tvms_run *run, bool initially);

// Whether each --in has the form NAME=…; false after a complaint about the one that has not.
TVMS_NODISCARD bool tvms_run_check_inputs(tvms_run *run);

// Compiles what the entry calls if --backend asks for native code, or `backend` where it is
// not given, with checked indices or without, and makes the arguments: --in and --seed.
// False after a report; else tvms_run_close_call must follow.
TVMS_NODISCARD bool tvms_run_open_call(tvms_run *run, const char *backend, bool checked,
                                       tvms_entry_call *call);

// Frees the code and every value of the call.
void tvms_run_close_call(tvms_entry_call *call);

// Loads what --plugin names, or NULL; the caller frees it. `good` is false after a complaint.
tvms_plugins *TVMS_NULLABLE tvms_run_load_plugins(tvms_run *run, bool *good);

// Their functions, if there are any.
const tvms_foreign *TVMS_NULLABLE
tvms_run_foreign(const tvms_plugins *TVMS_NULLABLE plugins);

// Reads a file of an input (a tvms_inputs_read; `state` is the run).
const tvms_source *TVMS_NULLABLE tvms_run_read_input(void *state, const char *path);

// The plug-in for native code, or NULL after saying why it is not there.
const tvms_backend *TVMS_NULLABLE tvms_run_load_backend(tvms_run *run);

#endif
