// Storing floats that a machine lacks.
#ifndef TVMS_PASSES_TIR_HOST_STORAGE_LEGALIZE_H
#define TVMS_PASSES_TIR_HOST_STORAGE_LEGALIZE_H

#include "passes/manager.h"
#include "passes/tir/host/float_conversion.h"

// Lets PrimFuncs whose target lacks the family hold its values in unsigned integers of the same
// width: elements of buffers and what pointers point to. Reports functions with buffers for
// parameters on behalf of `pass`. TVM: StorageLegalizer.
void tvms_host_storage_legalize(tvms_pass_run *run, tvms_host_float_family family,
                                const char *pass);

#endif
