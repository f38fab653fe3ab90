// The call of a PrimFunc that a description of te/ became.
#ifndef TVMS_PASSES_RELAX_LOWER_LEGALIZED_CALL_H
#define TVMS_PASSES_RELAX_LOWER_LEGALIZED_CALL_H

#include "te/legalize_call.h"

// R.call_tir of the member `name`, which is what `call` was legalised to; a node of the
// caller's unit, with the type that it gives.
tvms_node *tvms_relax_call_legalized(tvms_unit *unit, const tvms_call *call,
                                     tvms_sym name, const tvms_legalized *legalized);

#endif
