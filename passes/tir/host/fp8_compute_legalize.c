// FP8ComputeLegalize: arithmetic of floats of eight bits is done with wider ones.
//
// Before: B[i] = A[i] + A[j]
// After:  B[i] = (A[i] as float16 + A[j] as float16) rounded to float8_e4m3fn   {promote_dtype=float16}
//
// Conversions are shifts and masks of the bits. Parameters and buffers whose pointers go somewhere
// else keep their elements; other allocated buffers hold the wider dtype. Functions for CUDA from
// sm_89 on stay as they are. Bound values of eight bits are refused, as TVM refuses them. TVM:
// tirx.transform.FP8ComputeLegalize.
#include "ir/build.h"
#include "passes/functions.h"
#include "passes/tir/host/compute_legalize.h"
#include "support/diag_ids.h"

#include <string.h>

void tvms_pass_fp8_compute_legalize(tvms_pass_run *run) {
  const char *text = TVMS_OPTION(run, FP8ComputeLegalize, promote_dtype).text;
  tvms_dtype promoted;
  bool known = tvms_dtype_parse(text, strlen(text), &promoted);
  if (known && tvms_dtype_is_float(promoted) && tvms_dtype_is_scalar(promoted))
    tvms_host_compute_legalize(run, TVMS_HOST_FLOAT8, promoted);
  else
    tvms_diag_report(&run->context->diags, TVMS_D_promote_dtype, TVMS_NO_SPAN, text);
}
