// Symbolic sizes of PrimFuncs that are called: which a function has, and what they are at a call.
#ifndef TVMS_PASSES_RELAX_FUSE_TIR_CALL_SIZES_H
#define TVMS_PASSES_RELAX_FUSE_TIR_CALL_SIZES_H

#include "ir/node_map.h"
#include "passes/relax/fuse/tir_call.h"

// Appends the variables in the shapes of the buffers of `function` that are not parameters: the
// sizes that a packed call takes from its tensors. In order, each once.
void tvms_fuse_sizes_of(tvms_memory *memory, const tvms_prim_func *function,
                        tvms_node_vec *sizes);

// Puts into `values` what the scalar parameters and the sizes of `function` are for a caller
// that hands `passed` over: expressions of the caller. Returns why that cannot be told, or
// that the tensors are not proven to have the sizes that the function takes, where nothing may be
// found out later; NULL: done.
const char *TVMS_NULLABLE tvms_fuse_solve_sizes(const tvms_fuse_caller *f,
                                                const tvms_prim_func *function,
                                                const tvms_fuse_passed_list *passed,
                                                tvms_node_map *values);

#endif
