// Functions that a back end compiles.
#ifndef TVMS_PASSES_RELAX_FUSE_CODEGEN_FUNCTION_H
#define TVMS_PASSES_RELAX_FUSE_CODEGEN_FUNCTION_H

#include "passes/functions.h"

// Adds a FUNCTION, whose nodes lie in `unit`, to the module for the back end `codegen`. It is
// called <name>_<codegen>, or by the next name that is free; returns which.
tvms_sym tvms_fuse_add_codegen_function(tvms_pass_run *run, tvms_sym name,
                                        const char *codegen, tvms_unit *unit,
                                        tvms_node *function);

#endif
