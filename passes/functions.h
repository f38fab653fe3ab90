// How passes change a module: new functions for old ones, functions added and removed.
//
// A pass never changes the nodes of a function: others may be looking at them, and what tvms
// knows about them is indexed by their ids. It makes new nodes, in the unit of the function or
// in a new one, and puts the new function in the place of the old one.
#ifndef TVMS_PASSES_FUNCTIONS_H
#define TVMS_PASSES_FUNCTIONS_H

#include "ir/rewrite.h"
#include "passes/manager.h"

// The functions of the passes.
#define PASS(Name, function, requires, since, until, summary)                          \
  void tvms_pass_##function(tvms_pass_run *run);
#define OPTION(Name, option, type, initial, summary)
#include "passes/passes.def"

// Indices of options behind their pass: TVMS_OPTION(run, DeadCodeElimination, entry).
enum {
#define PASS(Name, function, requires, since, until, summary)                          \
  TVMS_OPTION_BASE_##Name, TVMS_OPTION_REST_##Name = TVMS_OPTION_BASE_##Name - 1,
#define OPTION(Name, option, type, initial, summary) TVMS_OPTION_AT_##Name##_##option,
#include "passes/passes.def"
};
#define TVMS_OPTION(run, Name, option)                                                 \
  ((run)->values[TVMS_OPTION_AT_##Name##_##option - TVMS_OPTION_BASE_##Name])

// A unit for a function in the making. It must be given to tvms_functions_replace or
// tvms_functions_add, or back with tvms_functions_drop_unit.
tvms_unit *tvms_functions_open_unit(tvms_pass_run *run);

// Frees a unit and its nodes: the function is not made after all.
void tvms_functions_drop_unit(tvms_pass_run *run, tvms_unit *unit);

// Puts `function`, whose nodes lie in `unit`, in the place of member `index`. The old
// function dies, and the module counts as changed.
void tvms_functions_replace(tvms_pass_run *run, uint32_t index, tvms_unit *unit,
                            tvms_node *function);

// Adds a function, whose nodes lie in `unit`, at the end of the module and returns its
// index.
uint32_t tvms_functions_add(tvms_pass_run *run, tvms_sym name, tvms_unit *unit,
                            tvms_node *function);

// As tvms_functions_add under a fresh name, unless the module has the same function: then
// the unit is dropped. Returns the name of the member.
tvms_sym tvms_functions_add_unique(tvms_pass_run *run, const char *name,
                                   tvms_unit *unit, tvms_node *function);

// Removes every member whose flag in `dead`, one per member, is set.
void tvms_functions_remove(tvms_pass_run *run, const bool *dead);

// `name`, or the first of name1, name2 … that no member of the module has.
tvms_sym tvms_functions_fresh_name(tvms_pass_run *run, const char *name);

// Makes, with nodes in the function's `unit`, what comes in the place of a function, and may
// share nodes with it; or returns the function itself: it stays.
typedef tvms_node *tvms_function_change(tvms_pass_run *run, tvms_unit *unit,
                                        tvms_node *function);

// Runs `change` on every defined function of the given kind (PRIM_FUNC or FUNCTION) and puts
// what it returns in the place of the function. Functions that it adds to the module are not
// visited.
void tvms_functions_change(tvms_pass_run *run, tvms_node_kind kind,
                           tvms_function_change *change);

// The same in the order of the functions' names, which decides what new functions are called: TVM's
// functions_items (passes in Python) and GetGlobalVars have them so.
void tvms_functions_change_by_name(tvms_pass_run *run, tvms_node_kind kind,
                                   tvms_function_change *change);

// Puts the functions of `kind` behind all other members, by their names: where TVM goes through a
// module by name and puts each function back, it has that order from then on.
void tvms_functions_order_by_name(tvms_pass_run *run, tvms_node_kind kind);

// Makes, with nodes in `unit`, what comes in the place of member `index`; NULL: it stays.
typedef tvms_node *TVMS_NULLABLE tvms_function_remake(void *self, tvms_unit *unit,
                                                      uint32_t index);

// Runs `remake` on every defined function of the given kind, each with a unit of its own.
// Unlike tvms_functions_change it puts nothing in place before all are made: while one is made,
// its callees are as they were.
void tvms_functions_remake(tvms_pass_run *run, tvms_node_kind kind,
                           tvms_function_remake *remake, void *self);

// Installs the hooks of a rewriter whose self is the tvms_pass_run.
typedef void tvms_function_setup(tvms_rewriter *rewriter);

// Rewrites every function of the given kind with the hooks that `setup` installs: for passes
// that keep no state of their own.
void tvms_functions_rewrite(tvms_pass_run *run, tvms_node_kind kind,
                            tvms_function_setup *setup);

#endif
