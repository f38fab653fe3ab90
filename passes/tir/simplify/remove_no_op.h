// Removing statements without effect, for passes that leave some behind.
#ifndef TVMS_PASSES_TIR_SIMPLIFY_REMOVE_NO_OP_H
#define TVMS_PASSES_TIR_SIMPLIFY_REMOVE_NO_OP_H

#include "ir/node.h"

// `function`, a PRIM_FUNC whose nodes lie in `unit`, without what has no effect.
tvms_node *tvms_stmt_remove_no_op(tvms_unit *unit, tvms_node *function);

#endif
