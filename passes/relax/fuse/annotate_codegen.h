// Composite functions made into functions of a back end.
#ifndef TVMS_PASSES_RELAX_FUSE_ANNOTATE_CODEGEN_H
#define TVMS_PASSES_RELAX_FUSE_ANNOTATE_CODEGEN_H

#include "passes/functions.h"

// For each composite function that is called, a public one with the attribute Codegen, in which it
// is a local function that is called; calls go there, and the composite goes.
void tvms_fuse_annotate_codegen(tvms_pass_run *run);

#endif
