// BF16ComputeLegalize: arithmetic of bfloat16 is done with float32.
//
// Before: B[i] = A[i] + T.bfloat16(1.0)
// After:  B[i] = (A[i] as float32 + T.float32(1.0)) rounded to bfloat16
//
// Conversions are shifts and masks of the bits. Parameters and buffers whose pointers go somewhere
// else keep their elements; other allocated buffers of bfloat16 hold float32. Functions for CUDA from
// sm_80 on stay as they are. Bound values of bfloat16 are refused, as TVM refuses them. TVM:
// tirx.transform.BF16ComputeLegalize.
#include "passes/functions.h"
#include "passes/tir/host/compute_legalize.h"

void tvms_pass_bf16_compute_legalize(tvms_pass_run *run) {
  tvms_host_compute_legalize(run, TVMS_HOST_BFLOAT16, TVMS_DTYPE(FLOAT, 32));
}
