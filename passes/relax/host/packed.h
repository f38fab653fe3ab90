// Calls of packed functions in a Relax function that becomes a PrimFunc.
#ifndef TVMS_PASSES_RELAX_HOST_PACKED_H
#define TVMS_PASSES_RELAX_HOST_PACKED_H

#include "passes/relax/host/host.h"

// The value of a CALL of an EXTERN_FUNC. Tensors are passed without their memory changing hands. NULL: refused.
tvms_host_value *TVMS_NULLABLE tvms_host_call_packed(tvms_host *h,
                                                     const tvms_node *node);

// The numbers of a vector, the first argument of a call, as a shape. NULL: refused.
tvms_host_value *TVMS_NULLABLE tvms_host_tensor_to_shape(tvms_host *h,
                                                         const tvms_call *call);

#endif
