// The shape of a slice between tensors, for LegalizeOps to compute first, and what reads nothing outside of tensors.
#ifndef TVMS_TE_LEGALIZE_SLICE_H
#define TVMS_TE_LEGALIZE_SLICE_H

#include "te/legalize.h"

// Describes a PrimFunc that computes the shape of a dynamic_strided_slice. Returns false if
// the operands are not tensors of a known form.
bool tvms_legalize_slice_shape(tvms_legal *legal);

// slice_scatter whose source is read inside of its extent only, which TVM's is not.
bool tvms_legalize_slice_scatter_inside(tvms_legal *legal);

#endif
