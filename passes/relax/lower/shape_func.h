// PrimFuncs that compute sizes on the shape heap.
#ifndef TVMS_PASSES_RELAX_LOWER_SHAPE_FUNC_H
#define TVMS_PASSES_RELAX_LOWER_SHAPE_FUNC_H

#include "passes/functions.h"
#include "passes/relax/lower/shape_slots.h"

// Adds the function that computes the `count` slots with these indices of variables that the
// heap has, unless the module has the same, and returns its name.
tvms_sym tvms_relax_add_shape_func(tvms_pass_run *run, const tvms_relax_slots *slots,
                                   const uint32_t *indices, uint32_t count);

#endif
