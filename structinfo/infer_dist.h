// Inference of calls with distributed tensors.
#ifndef TVMS_STRUCTINFO_INFER_DIST_H
#define TVMS_STRUCTINFO_INFER_DIST_H

#include "structinfo/infer.h"

// Is an argument of the call a distributed tensor?
bool tvms_infer_is_distributed(const tvms_inference *in);

// The distributed type that the operator of such a call gives; `rule` is the operator's
// own, for what one device holds. Returns NULL after a report.
tvms_node *TVMS_NULLABLE tvms_infer_distributed(tvms_inference *in,
                                                tvms_infer_fn *rule);

#endif
