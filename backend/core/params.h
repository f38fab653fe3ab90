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

// The PrimFunc that `member` is, if a call with `count` arguments says all that its body takes: it has numbers and
// pointers only, and sizes that are numbers. NULL: such a call cannot be made.
const tvms_prim_func *TVMS_NULLABLE tvms_params_callee(
    tvms_memory *memory, const tvms_member *TVMS_NULLABLE member, uint32_t count);

// The type of argument `at` of such a call.
tvms_dtype tvms_params_dtype(const tvms_prim_func *function, uint32_t at);

// Does nothing else that the function reaches overlap what parameter `at` points to? So it is where an attribute
// "tirx.noalias" says it of all tensors and pointers, as TVM's code generators take it, and for scratch (ir/contract.h).
bool tvms_params_alone(const tvms_prim_func *function, uint32_t at);

#endif
