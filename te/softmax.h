// Softmax as stages.
#ifndef TVMS_TE_SOFTMAX_H
#define TVMS_TE_SOFTMAX_H

#include "te/te.h"

// exp(x) over its sum along an axis, in four stages. NULL for NULL. TVM: topi/nn/softmax.h.
tvms_node *TVMS_NULLABLE tvms_te_softmax(tvms_te *te, tvms_node *TVMS_NULLABLE x,
                                         uint32_t axis);

// The logarithm of that, in three stages.
tvms_node *TVMS_NULLABLE tvms_te_log_softmax(tvms_te *te, tvms_node *TVMS_NULLABLE x,
                                             uint32_t axis);

#endif
