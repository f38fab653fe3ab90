// Loops that are marked parallel: which of them run on threads, and what their tasks share, for
// every emitter.
//
// The body of such a loop becomes a function of its own. What it uses of the function around it
// is handed over in a record on the stack of the caller, which begins with what went wrong:
//
//   { i32 lock; i32 task; u8 raised[]; … }
//
// A task that fails writes that there, under the lock, unless an earlier task has failed: `task`
// is the number of that, or TVMS_PARALLEL_NO_TASK. Tasks are parts of the loop in order, each
// stops at its first error, so the error that the caller raises is the one that a serial loop
// would have ended with.
#ifndef TVMS_BACKEND_CORE_PARALLEL_H
#define TVMS_BACKEND_CORE_PARALLEL_H

#include "ir/module.h"
#include "support/vec.h"

enum { TVMS_PARALLEL_NO_TASK = INT32_MAX };

// The variable that whoever loads a library fills in, and the function of runtime/parallel.h;
// both are called alike. With neither a loop runs in one thread.
#define TVMS_PARALLEL_SLOT   "__TVMBackendParallelLaunch"
#define TVMS_PARALLEL_LAUNCH "tvms_parallel_launch"

// True if a loop runs on threads: it is marked parallel, has more than one step, and nothing in it
// needs the caller's thread (a packed function) or leaves it. A loop whose steps all write to the
// same places, which is an error in the program, runs serially, too: so it gives what it says.
bool tvms_parallel_is_apart(tvms_context *context, const tvms_module *program,
                            const tvms_unit *unit, const tvms_for *loop);

typedef TVMS_VEC(const tvms_node *) tvms_parallel_nodes;

// Appends the variables and buffers that the steps of a loop name, each once; the caller frees
// the list.
void tvms_parallel_collect(tvms_context *context, const tvms_unit *unit,
                           const tvms_for *loop, tvms_parallel_nodes *used);

#endif
