// One PrimFunc of those that a Relax function calls.
#ifndef TVMS_PASSES_RELAX_FUSE_MERGE_PRIM_FUNCS_H
#define TVMS_PASSES_RELAX_FUSE_MERGE_PRIM_FUNCS_H

#include "passes/functions.h"

// The PRIM_FUNC that does what FUNCTION `function` of the module does by calling PrimFuncs
// with call_tir and call_tir_inplace. Its nodes lie in `unit`. `*inplace` gets for each
// result the parameter that has it, or -1 for a fresh one at the end; empty: all are fresh.
// Returns NULL after a report if the function does anything else.
tvms_node *TVMS_NULLABLE tvms_fuse_merge_prim_funcs(tvms_pass_run *run, tvms_unit *unit,
                                                    const tvms_node *function,
                                                    tvms_list *inplace);

#endif
