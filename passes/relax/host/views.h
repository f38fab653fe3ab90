// Views of tensors in a Relax function that becomes a PrimFunc.
#ifndef TVMS_PASSES_RELAX_HOST_VIEWS_H
#define TVMS_PASSES_RELAX_HOST_VIEWS_H

#include "passes/relax/host/host.h"

// The tensor that R.memory.view, or the function of the run time with the same arguments, gives: memory of the first
// argument. That it has so many bytes is asserted. NULL: refused.
tvms_host_value *TVMS_NULLABLE tvms_host_view(tvms_host *h, const tvms_call *call);

#endif
