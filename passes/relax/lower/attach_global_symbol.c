// AttachGlobalSymbol: every function becomes visible under its name.
//
// Before: @T.prim_func(private=True) def f …   After: @T.prim_func def f …
//
// Functions that are public stay as they are. The prefix of a system library is not
// supported: the module attribute is left alone. TVM: relax.transform.AttachGlobalSymbol.
#include "passes/functions.h"

static tvms_node *publish(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  (void)run;
  if (!(function->flags & TVMS_FLAG_PRIVATE)) return function;
  tvms_node *public = tvms_node_copy(unit, function);
  public->flags &= (uint8_t)~TVMS_FLAG_PRIVATE;
  return public;
}

void tvms_pass_attach_global_symbol(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, publish);
  tvms_functions_change(run, TVMS_NODE_FUNCTION, publish);
}
