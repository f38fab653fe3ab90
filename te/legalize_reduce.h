// Descriptions of sums that no operator names.
#ifndef TVMS_TE_LEGALIZE_REDUCE_H
#define TVMS_TE_LEGALIZE_REDUCE_H

#include "te/legalize.h"

// A matrix product whose second operand is there as its transpose.
// TVM: fuse_transpose_matmul.py.
bool tvms_te_nt_matmul(tvms_legal *legal);

#endif
