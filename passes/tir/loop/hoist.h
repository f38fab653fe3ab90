// Moving conditions and bindings out of loops that they do not depend on.
#ifndef TVMS_PASSES_TIR_LOOP_HOIST_H
#define TVMS_PASSES_TIR_LOOP_HOIST_H

#include "passes/manager.h"

// Which conditions move: those of `if`, of T.if_then_else, the operands of `and` and `or`;
// and whether they may mention threads or move across them. The numbers are TVM's.
enum {
  TVMS_HOIST_IF_STMT = 1,
  TVMS_HOIST_IF_EXPR = 2,
  TVMS_HOIST_BOOLEAN = 4,
  TVMS_HOIST_THREADS = 8,
};

// Which bindings move: those that a moved condition needs, those of statements, those of
// T.Let.
enum {
  TVMS_HOIST_REQUIRED = 1,
  TVMS_HOIST_BIND = 2,
  TVMS_HOIST_LET = 4,
};

// `function`, a PRIM_FUNC whose nodes lie in `unit`, with branches on the conditions around
// the loops, whose bodies stand in both of them; then simplified, so that each knows what
// its condition is. Remarks for `run` which conditions moved and why others stay; reports a function
// that would become too large, and returns it as it is.
tvms_node *tvms_stmt_hoist(const tvms_pass_run *run, tvms_unit *unit,
                           tvms_node *function, int64_t conditions, int64_t bindings);

#endif
