// Computing with floats that a machine lacks.
#ifndef TVMS_PASSES_TIR_HOST_COMPUTE_LEGALIZE_H
#define TVMS_PASSES_TIR_HOST_COMPUTE_LEGALIZE_H

#include "passes/manager.h"
#include "passes/tir/host/float_conversion.h"

// Lets PrimFuncs whose target lacks the family compute in `promoted` (a scalar): operands are
// converted, what is stored is converted back, and buffers that only the function itself sees
// hold the wider dtype. TVM: ComputeLegalizer.
void tvms_host_compute_legalize(tvms_pass_run *run, tvms_host_float_family family,
                                tvms_dtype promoted);

#endif
