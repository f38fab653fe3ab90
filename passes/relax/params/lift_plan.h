// What of a function can be computed from its weights before it is called.
#ifndef TVMS_PASSES_RELAX_PARAMS_LIFT_PLAN_H
#define TVMS_PASSES_RELAX_PARAMS_LIFT_PLAN_H

#include "ir/node_map.h"
#include "passes/manager.h"

// One function, or what several have in common. Nodes are those of the functions as they are.
typedef struct {
  const tvms_node *function;  // FUNCTION; of what is common the first one
  uint32_t inputs;            // parameters that are no weights
  tvms_node_vec bindings;     // that can be computed beforehand, in order
  tvms_node_map depends;      // weights, and variables that are computed from them
  tvms_node_map needed;       // variables and symbols that calls need
} tvms_relax_lift_plan;

// Prepares a plan of a FUNCTION with the attribute num_input; `fini` frees what it holds.
// `common`, if not NULL, maps the function's variables to those that several functions have in
// common: only what it knows is in the plan.
void tvms_relax_lift_plan_init(tvms_relax_lift_plan *plan, tvms_memory *memory,
                               const tvms_node *function,
                               const tvms_node_map *TVMS_NULLABLE common);

// Frees what the plan holds.
void tvms_relax_lift_plan_fini(tvms_relax_lift_plan *plan);

// Appends what is handed from before to the calls: weights first, then bindings, in order.
void tvms_relax_lift_plan_outputs(const tvms_relax_lift_plan *plan, tvms_memory *memory,
                                  tvms_node_vec *outputs);

// Appends the symbols that calls need and that neither the inputs nor the outputs tell. `shared`:
// of what several functions have in common, where inputs do not count.
void tvms_relax_lift_plan_symbols(const tvms_relax_lift_plan *plan, tvms_memory *memory,
                                  bool shared, tvms_node_vec *symbols);

// The plan of what `count` functions have in common: the bindings of the first that all others have
// too. `common` gets, for the variables of all functions, those of the first. False after a report.
bool tvms_relax_lift_plan_common(tvms_relax_lift_plan *plan, tvms_pass_run *run,
                                 const tvms_node *const *functions, uint32_t count,
                                 tvms_node_map *common);

// Adds what `plan`, that of one function, needs, to what all need.
void tvms_relax_lift_plan_join(tvms_relax_lift_plan *all,
                               const tvms_relax_lift_plan *plan,
                               const tvms_node_map *common);

#endif
