// Functions as values in a Relax function that becomes a PrimFunc.
//
// One that can be seen is called directly. Any other is an object: an argument, what a packed function or a
// call gives, a field of a tuple that is an object.
#ifndef TVMS_PASSES_RELAX_HOST_FUNCTIONS_H
#define TVMS_PASSES_RELAX_HOST_FUNCTIONS_H

#include "passes/relax/host/host.h"

// The value of a GLOBAL_VAR that stands for a Relax function or a PrimFunc. NULL: refused.
tvms_host_value *TVMS_NULLABLE tvms_host_function_value(tvms_host *h,
                                                        const tvms_node *node);

// The value of a call of R.make_closure. NULL: refused.
tvms_host_value *TVMS_NULLABLE tvms_host_make_closure(tvms_host *h,
                                                      const tvms_call *call);

// The value of the call `node`: of what `callee` is, with arguments. NULL: refused.
tvms_host_value *TVMS_NULLABLE tvms_host_invoke(tvms_host *h, tvms_node *node,
                                                tvms_node *callee, tvms_list args);

// The same for a call of R.invoke_closure.
tvms_host_value *TVMS_NULLABLE tvms_host_invoke_closure(tvms_host *h, tvms_node *node);

// Makes the object `to` of a FUNCTION. False: refused.
bool tvms_host_box_function(tvms_host *h, const tvms_host_value *function,
                            const tvms_host_value *to);

#endif
