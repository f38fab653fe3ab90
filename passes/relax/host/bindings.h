// Evaluating the expressions of a Relax function that becomes a PrimFunc.
#ifndef TVMS_PASSES_RELAX_HOST_BINDINGS_H
#define TVMS_PASSES_RELAX_HOST_BINDINGS_H

#include "passes/relax/host/host.h"

// The value of an expression; what it needs is appended to the statements. NULL: refused.
tvms_host_value *TVMS_NULLABLE tvms_host_eval(tvms_host *h, tvms_node *expr);

#endif
