// Definitions and scopes of a function: part of ir/verify.c.
#ifndef TVMS_IR_VERIFY_SCOPE_H
#define TVMS_IR_VERIFY_SCOPE_H

#include "ir/node.h"

// A violated invariant and the node that shows it.
typedef struct {
  const tvms_node *TVMS_NULLABLE node;
  const char *TVMS_NULLABLE what;  // NULL: nothing is wrong
} tvms_violation;

// Checks D of the list in ir/verify.c: the first violation in a PRIM_FUNC or FUNCTION whose
// nodes are sound and lie in `unit`.
tvms_violation tvms_verify_scopes(tvms_unit *unit, tvms_node *function);

#endif
