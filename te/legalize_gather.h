// Taking elements of tensors: what reads nothing outside of them.
#ifndef TVMS_TE_LEGALIZE_GATHER_H
#define TVMS_TE_LEGALIZE_GATHER_H

#include "te/legalize.h"

// take that counts places below 0 from the end where the text shows them; TVM reads in front of the tensor.
bool tvms_legalize_take_inside(tvms_legal *legal);

#endif
