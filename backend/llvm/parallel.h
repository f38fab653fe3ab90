// Loops that run on threads.
#ifndef TVMS_BACKEND_LLVM_PARALLEL_H
#define TVMS_BACKEND_LLVM_PARALLEL_H

#include "backend/llvm/emit.h"

// Emits a loop that is marked parallel as a function and a call of it on all threads, if it can
// be one (tvms_parallel_is_apart); else emits nothing and returns false.
bool tvms_emit_parallel(emitter *e, const tvms_node *loop);

// Adds what all such loops call, if there are any. Behind all other code of the module.
void tvms_emit_parallel_end(emitter *e);

#endif
