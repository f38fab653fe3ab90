// From a call of an operator of Relax to the PrimFunc that computes it.
#ifndef TVMS_TE_LEGALIZE_CALL_H
#define TVMS_TE_LEGALIZE_CALL_H

#include "te/legalize.h"

// Legalises a call. Returns false if the operator has no description or the call is of a
// form that has none (unknown shapes): then the call stays.
TVMS_NODISCARD bool tvms_legalize_call(tvms_unit *unit, tvms_unit *caller,
                                       const tvms_call *call, tvms_legalized *result);

// The same for the shape of the result, where it depends on the data: a PrimFunc that makes
// a vector of int64.
TVMS_NODISCARD bool tvms_legalize_shape_of_call(tvms_unit *unit, tvms_unit *caller,
                                                const tvms_call *call,
                                                tvms_legalized *result);

#endif
