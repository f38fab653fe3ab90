// The arguments of a packed call as TVM took them before 0.24.
#ifndef TVMS_PASSES_TIR_HOST_PACKED_CLASSIC_H
#define TVMS_PASSES_TIR_HOST_PACKED_CLASSIC_H

#include "passes/tir/host/packed_arguments.h"

// As tvms_packed_arguments_bind, in the order and with the messages of old releases; parameters that
// cannot be passed are reported. TVM 0.22: MakePackedAPI and ArgBinder
// (src/tir/transforms/arg_binder.cc).
void tvms_packed_classic_bind(tvms_packed_arguments *arguments);

#endif
