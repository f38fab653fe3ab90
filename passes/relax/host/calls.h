// Calls in a Relax function that becomes a PrimFunc.
#ifndef TVMS_PASSES_RELAX_HOST_CALLS_H
#define TVMS_PASSES_RELAX_HOST_CALLS_H

#include "passes/relax/host/host.h"

// The value of a CALL that is bound to `name`. NULL: refused.
tvms_host_value *TVMS_NULLABLE tvms_host_call(tvms_host *h, tvms_node *node,
                                              const char *name);

// The value of the call `node` of a FUNCTION with arguments, and what it has captured behind them. NULL: refused.
tvms_host_value *TVMS_NULLABLE tvms_host_call_function(tvms_host *h, tvms_node *node,
                                                       const tvms_host_value *function,
                                                       tvms_list args);

#endif
