// Evaluating the expressions of a Relax function that becomes a PrimFunc.
#ifndef TVMS_PASSES_RELAX_HOST_BINDINGS_H
#define TVMS_PASSES_RELAX_HOST_BINDINGS_H

#include "passes/relax/host/host.h"

// The value of an expression; what it needs is appended to the statements. NULL: refused.
tvms_host_value *TVMS_NULLABLE tvms_host_eval(tvms_host *h, tvms_node *expr);

// Memory for leaf `at` of what `node`, a branch or a call, gives on several ways: a tensor, or an object. NULL:
// refused.
tvms_host_value *TVMS_NULLABLE tvms_host_merged_leaf(tvms_host *h,
                                                     const tvms_node *node,
                                                     uint32_t at);

// A value with the sizes that a type says, which are checked when it runs; those that are not known yet are
// learnt. `who` is said in front of an error. NULL: refused.
tvms_host_value *TVMS_NULLABLE tvms_host_match(tvms_host *h, const tvms_node *type,
                                               tvms_host_value *value, const char *who,
                                               tvms_span span);

#endif
