// LowerDeviceKernelLaunch: calls of code for another target say how that code is reached.
//
// Before: in a function for "llvm": Module.kernel(A.data), where `kernel` is for "cuda" and has 16
//         threads
// After:  T.call_packed("kernel", A.data, 16); `kernel` has the attributes of a kernel
//
// Code of the same target is called as it is, code of another target of the same kind of device by
// T.call_extern, and code of another device is launched by T.call_packed, with the extents of its
// threads, in the order of their first use, and the bytes of its dynamic shared memory behind the
// arguments. What is called by name becomes public, and a kernel returns nothing. Every PrimFunc
// must have a target; a kernel that returns anything but 0, or that is called both ways, is
// refused. Later releases do this in SplitHostDevice. TVM: tir.transform.LowerDeviceKernelLaunch.
#include "passes/functions.h"
#include "passes/tir/host/kernel_launch.h"

void tvms_pass_lower_device_kernel_launch(tvms_pass_run *run) {
  if (tvms_host_have_targets(run, "LowerDeviceKernelLaunch"))
    tvms_host_lower_launches(run);
}
