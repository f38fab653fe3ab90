// What the virtual machine of TVM has for lowered Relax functions: vm.builtin.*, which check,
// match and make shapes, and views of tensors.
#ifndef TVMS_INTERP_MACHINE_H
#define TVMS_INTERP_MACHINE_H

#include "interp/frame.h"

// True if the machine has a function of this name.
bool tvms_interp_has_builtin(tvms_bytes name);

// Calls it with borrowed arguments; what it returns is the caller's. A fault if the arguments are
// none of its own, or a check fails. The function must be there.
tvms_value tvms_interp_call_builtin(tvms_interp_frame *f, tvms_bytes name,
                                    const tvms_value *args, uint32_t count,
                                    tvms_span span);

#endif
