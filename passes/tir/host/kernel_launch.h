// How code of one machine calls code of another.
#ifndef TVMS_PASSES_TIR_HOST_KERNEL_LAUNCH_H
#define TVMS_PASSES_TIR_HOST_KERNEL_LAUNCH_H

#include "passes/manager.h"

// Lets every call of a PrimFunc of the module be one that its target allows: code of the same
// target is called as it is, code of another target of the same device by T.call_extern, and a
// kernel of another device is launched by T.call_packed (0.27: T.call_ffi_kernel), with the sizes of its threads behind
// the arguments. What is called so becomes public. Every PrimFunc has a target. TVM:
// LowerDeviceKernelLaunches.
void tvms_host_lower_launches(tvms_pass_run *run);

// Does every PrimFunc of the module have a target? Reports those that have none, for `pass`.
TVMS_NODISCARD bool tvms_host_have_targets(tvms_pass_run *run, const char *pass);

#endif
