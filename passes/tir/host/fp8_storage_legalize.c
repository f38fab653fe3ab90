// FP8StorageLegalize: values of float8 are stored as unsigned integers.
//
// Before: A = T.decl_buffer((16,), "float8_e5m2", data=A_ptr)
// After:  A = T.decl_buffer((16,), "uint8", data=A_ptr)
//
// FP8ComputeLegalize comes before, so that nothing computes with them any more; conversions of bits
// that are none now go. Functions with buffers for parameters are refused: MakePackedAPI makes
// pointers of them. Functions for CUDA from sm_89 on stay as they are. TVM:
// tirx.transform.FP8StorageLegalize.
#include "passes/functions.h"
#include "passes/tir/host/storage_legalize.h"

void tvms_pass_fp8_storage_legalize(tvms_pass_run *run) {
  tvms_host_storage_legalize(run, TVMS_HOST_FLOAT8, "FP8StorageLegalize");
}
