// Relax functions: bindings in order, tensors counted.
#ifndef TVMS_INTERP_RELAX_H
#define TVMS_INTERP_RELAX_H

#include "interp/frame.h"

// Calls a member: compiled code, a PrimFunc or a Relax function.
tvms_value tvms_interp_call_function(tvms_interp *interp, const tvms_member *member,
                                     const tvms_value *args, uint32_t count,
                                     tvms_span span,
                                     const tvms_interp_frame *TVMS_NULLABLE outer);
tvms_value tvms_interp_eval_relax(tvms_interp_frame *f, const tvms_node *node);

#endif
