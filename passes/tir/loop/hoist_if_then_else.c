// HoistIfThenElse, HoistIfThenElseBasic: conditions of `if` move out of loops that they do not depend on.
//
// Before: for i in range(16): if n < 3: A[i] = 0.0
// After:  if n < 3: for i in range(16): A[i] = 0.0
//
// Conditions that mention threads, and such that would move across them, stay unless the
// option says otherwise. A function with the attribute tirx.HoistIfThenElseExprWithBlock
// moves those of T.if_then_else instead. HoistExpression moves more. HoistIfThenElseBasic is the
// variant 'basic' under a name of its own. TVM: s_tir.transform.HoistIfThenElse.
#include "ir/object.h"
#include "passes/functions.h"
#include "passes/tir/loop/hoist.h"

#include <string.h>

static bool moves_expressions(const tvms_node *function) {
  const tvms_node *attrs = tvms_as_prim_func(function)->attrs;
  int64_t flag = 0;
  const tvms_node *value =
      tvms_object_map_get(attrs, "tirx.HoistIfThenElseExprWithBlock");
  if (!value) value = tvms_object_map_get(attrs, "tir.HoistIfThenElseExprWithBlock");
  return value && tvms_object_as_int(value, &flag) && flag == 1;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  bool basic = strcmp(TVMS_OPTION(run, HoistIfThenElse, variant).text, "basic") == 0;
  bool threads =
      TVMS_OPTION(run, HoistIfThenElse, support_block_scope_hoisting).number != 0;
  int64_t conditions = TVMS_HOIST_IF_STMT;
  if (!basic && moves_expressions(function))
    conditions = TVMS_HOIST_THREADS | TVMS_HOIST_IF_EXPR;
  else if (!basic && threads)
    conditions |= TVMS_HOIST_THREADS;
  return tvms_stmt_hoist(run, unit, function, conditions, 0);
}

void tvms_pass_hoist_if_then_else(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}

static tvms_node *change_basic(tvms_pass_run *run, tvms_unit *unit,
                               tvms_node *function) {
  return tvms_stmt_hoist(run, unit, function, TVMS_HOIST_IF_STMT, 0);
}

void tvms_pass_hoist_if_then_else_basic(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change_basic);
}
