// Relax functions: bindings in order, tensors counted.
#ifndef TVMS_INTERP_RELAX_H
#define TVMS_INTERP_RELAX_H

#include "interp/frame.h"

// Calls a Relax function of the module with borrowed arguments, in a frame of its own.
// Arguments and the result are matched against their types. The result is the caller's.
tvms_value tvms_interp_call_function(tvms_interp *interp, const tvms_member *member,
                                     const tvms_value *args, uint32_t count,
                                     tvms_span span,
                                     const tvms_interp_frame *TVMS_NULLABLE outer);

// Calls a value of the kind FUNCTION, one of the module, with borrowed arguments. The result is the caller's.
tvms_value tvms_interp_call_value(tvms_interp_frame *f, const tvms_node *function,
                                  const tvms_value *args, uint32_t count,
                                  tvms_span span);

// The value of an expression of Relax, which the caller owns.
tvms_value tvms_interp_eval_relax(tvms_interp_frame *f, const tvms_node *node);

#endif
