// Libraries of kernels that were built before, by tvms or by stock TVM.
//
// Opening one runs what the library runs when it is loaded, and calling its functions runs them:
// only what a user asks to run is opened.
#ifndef TVMS_BACKEND_LIBRARY_H
#define TVMS_BACKEND_LIBRARY_H

#include "interp/foreign.h"
#include "support/strbuf.h"

typedef struct tvms_library tvms_library;

// Loads a shared library, and gives it what it expects of tvm-ffi (vm/raise.h); packed functions that it calls are
// those of the run time and of `foreign`, which must stay as long. NULL, and a reason in `why`, if the system
// refuses it. It is `memory`'s, which closes it when it unwinds
// or is closed by tvms_backend_close_library.
tvms_library *TVMS_NULLABLE
tvms_backend_open_library(tvms_memory *memory, const char *path,
                          const tvms_foreign *TVMS_NULLABLE foreign, tvms_strbuf *why);

// The function that the library exports by this name (`__tvm_ffi_<name>`), or NULL. `library` is
// a tvms_library.
tvms_safe_call TVMS_NULLABLE tvms_backend_find_in_library(void *library,
                                                          const char *name);

// Unloads it. Must be closed in the order that resources are (support/protect.h).
void tvms_backend_close_library(tvms_library *library);

#endif
