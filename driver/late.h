// Operators whose types are known only when a program runs: sizes, ranks and data types follow from the
// values in hand, and the call is lowered and run then.
#ifndef TVMS_DRIVER_LATE_H
#define TVMS_DRIVER_LATE_H

#include "interp/interp.h"
#include "support/vec.h"

// A call that was lowered for arguments of certain types.
typedef struct {
  const tvms_call *call;
  const char *types;  // of the arguments, as text
  tvms_module *module;
} tvms_late_call;

// Calls that were lowered so far, so that each is lowered once. The zero value with a context is empty.
typedef struct {
  tvms_context *context;
  tvms_arena texts;
  TVMS_VEC(tvms_late_call) calls;
} tvms_late;

// Makes the interpreter lower what it cannot run; `late` stays the caller's, who calls tvms_runnable_close_late when the
// interpreter is not used any more.
void tvms_runnable_use_late(tvms_late *late, tvms_interp *interp);

// Frees what was lowered.
void tvms_runnable_close_late(tvms_late *late);

#endif
