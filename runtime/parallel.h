// Threads for loops that are marked parallel: what native code calls.
//
// The file behind this needs nothing else of tvms: it is linked into libraries that `tvms build`
// makes, and stands in libtvms_rt.a for objects and C texts that others link.
#ifndef TVMS_RUNTIME_PARALLEL_H
#define TVMS_RUNTIME_PARALLEL_H

#include <stdint.h>

// What a task is told beside its number; TVM's layout (TVMParallelGroupEnv).
typedef struct {
  void *sync;  // unused
  int32_t tasks;
} tvms_parallel_env;

// A task; called on any thread. What it returns is ignored: errors go through `data`.
typedef int (*tvms_parallel_task)(int32_t task, tvms_parallel_env *env, void *data);

// Calls tasks 0 … n - 1 of a common n that is at most `most` (positive), each once, and returns
// when all have returned: always 0. TVM's TVMBackendParallelLaunch has the same type.
//
// Threads are those of the process's processors, or as many as TVMS_NUM_THREADS says; they are
// started by the first call, wait for the next one for some microseconds without sleeping, end
// when the library is unloaded, and are started anew in the child of a fork. While they are at
// work, calls from a task or from another thread run their tasks themselves, one after another.
int tvms_parallel_launch(tvms_parallel_task task, void *data, int32_t most);

#endif
