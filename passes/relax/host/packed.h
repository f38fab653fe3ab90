// Calls of packed functions in a Relax function that becomes a PrimFunc.
#ifndef TVMS_PASSES_RELAX_HOST_PACKED_H
#define TVMS_PASSES_RELAX_HOST_PACKED_H

#include "passes/relax/host/host.h"

// The value of a CALL of an EXTERN_FUNC. Tensors are passed without their memory changing hands. NULL: refused.
tvms_host_value *TVMS_NULLABLE tvms_host_call_packed(tvms_host *h,
                                                     const tvms_node *node);

#endif
