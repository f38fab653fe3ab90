// Functions that are called from outside of their module: which they are, and what passes that
// change how they are called put into them.
#ifndef TVMS_PASSES_TIR_HOST_ENTRY_POINT_H
#define TVMS_PASSES_TIR_HOST_ENTRY_POINT_H

#include "ir/node.h"

// The name under which a PrimFunc is called from outside: its global_symbol, or its own name if
// it is public. NULL for any other function, and for one that has a calling convention: how it
// is called is settled. TVM: RequiresPackedAPI.
const char *TVMS_NULLABLE tvms_host_symbol_of(const tvms_context *context,
                                              const tvms_node *TVMS_NULLABLE function);

// T.target of the host that this config names; NULL if it names none: its function has been
// lowered.
tvms_node *TVMS_NULLABLE tvms_host_target_to_be(tvms_unit *unit,
                                                const tvms_node *config);

// `function` with these parameters, of which none is a buffer, and an int32 for a result.
tvms_node *tvms_host_with_signature(tvms_unit *unit, const tvms_node *function,
                                    tvms_node *const *params, uint32_t count);

// An attribute for the rest of its sequence.
tvms_node *tvms_host_attribute(tvms_unit *unit, tvms_node *node, const char *key,
                               tvms_node *value);

// Appends the attributes "device_id" and "device_type".
void tvms_host_push_device(tvms_unit *unit, tvms_node_vec *stmts, tvms_node *device_id,
                           int device_type);

// return 0: what was asked for is done.
tvms_node *tvms_host_return_zero(tvms_unit *unit);

#endif
