// What the body of a PrimFunc takes, for every emitter.
#ifndef TVMS_BACKEND_CORE_PARAMS_H
#define TVMS_BACKEND_CORE_PARAMS_H

#include "ir/module.h"
#include "support/vec.h"

// Variables that a body takes beside its parameters: sizes, strides and offsets of buffers,
// in the order of their first use.
typedef TVMS_VEC(const tvms_node *) tvms_params_sizes;

// Appends the variables of a function; the caller frees them.
void tvms_params_collect(tvms_memory *memory, const tvms_prim_func *function,
                         tvms_params_sizes *sizes);

// True if an attribute whose name ends in "noalias" promises that buffers do not overlap.
bool tvms_params_apart(const tvms_prim_func *function);

#endif
