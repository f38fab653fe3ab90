// Softmax as stages.
#ifndef TVMS_TE_SOFTMAX_H
#define TVMS_TE_SOFTMAX_H

#include "te/te.h"

// exp(x) over its sum along an axis, in four stages. NULL for NULL. TVM: topi/nn/softmax.h.
tvms_node *TVMS_NULLABLE tvms_te_softmax(tvms_te *te, tvms_node *TVMS_NULLABLE x,
                                         uint32_t axis);

// What makes the tensor of powers of e.
typedef tvms_node *TVMS_NULLABLE (*tvms_te_power)(tvms_te *te, tvms_node *x);

// The same with the powers of `power`, in one stage more for what it is given.
tvms_node *TVMS_NULLABLE tvms_te_softmax_by(tvms_te *te, tvms_node *TVMS_NULLABLE x,
                                            uint32_t axis, tvms_te_power power);

// The logarithm of that of tvms_te_softmax, in three stages.
tvms_node *TVMS_NULLABLE tvms_te_log_softmax(tvms_te *te, tvms_node *TVMS_NULLABLE x,
                                             uint32_t axis);

#endif
