// BF16StorageLegalize: values of bfloat16 are stored as unsigned integers.
//
// Before: A = T.decl_buffer((16,), "bfloat16", data=A_ptr)
// After:  A = T.decl_buffer((16,), "uint16", data=A_ptr)
//
// BF16ComputeLegalize comes before, so that nothing computes with them any more; conversions of bits
// that are none now go. Functions with buffers for parameters are refused: MakePackedAPI makes
// pointers of them. Functions for CUDA from sm_80 on stay as they are. TVM:
// tirx.transform.BF16StorageLegalize.
#include "passes/functions.h"
#include "passes/tir/host/storage_legalize.h"

void tvms_pass_bf16_storage_legalize(tvms_pass_run *run) {
  tvms_host_storage_legalize(run, TVMS_HOST_BFLOAT16, "BF16StorageLegalize");
}
