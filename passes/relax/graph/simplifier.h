// Going through a function's bindings, of which some are replaced by what computes the same with less work.
#ifndef TVMS_PASSES_RELAX_GRAPH_SIMPLIFIER_H
#define TVMS_PASSES_RELAX_GRAPH_SIMPLIFIER_H

#include "passes/relax/mutator.h"
#include "structinfo/definitions.h"

// The state of its mutator.
typedef struct {
  tvms_relax_mutator m;
  tvms_relax_definitions definitions;  // of the function as it was
  bool any;                            // a binding was replaced: the hook says so
} tvms_relax_simplifier;

// Changes a function by a hook for its bindings, and drops what is not used then; the same function if the hook has
// replaced nothing.
tvms_node *tvms_relax_simplify(tvms_pass_run *run, tvms_unit *unit, tvms_node *function,
                               tvms_node *(*enter_binding)(tvms_rewriter *,
                                                           tvms_node *));

#endif
