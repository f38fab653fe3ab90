// New tensors of a running program, and the fault where there cannot be one.
#ifndef TVMS_INTERP_TENSOR_H
#define TVMS_INTERP_TENSOR_H

#include "interp/frame.h"

// The fault of a tensor that cannot be: it says data type and sizes.
TVMS_NORETURN void tvms_interp_no_tensor(tvms_interp_frame *f, tvms_span span,
                                         tvms_dl_type type, int32_t ndim,
                                         const int64_t *shape);

// A tensor with a count of one, all bytes 0xFF; a fault if it cannot be made.
tvms_tensor *tvms_interp_new_tensor(tvms_interp_frame *f, tvms_span span,
                                    tvms_dl_type type, int32_t ndim,
                                    const int64_t *shape);

#endif
