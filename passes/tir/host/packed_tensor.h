// One tensor among packed arguments.
#ifndef TVMS_PASSES_TIR_HOST_PACKED_TENSOR_H
#define TVMS_PASSES_TIR_HOST_PACKED_TENSOR_H

#include "passes/tir/host/packed_binder.h"

// Compares the DLTensor of a parameter with its buffer: rank, element type, sizes, strides,
// offset, device and data, and declares the buffer. TVM: DecodeParamDLTensor.
void tvms_packed_bind_tensor(tvms_packed_binder *b, uint32_t param);

#endif
