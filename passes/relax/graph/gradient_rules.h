// What the arguments of a call get of the gradient of its result: the rows of gradient.def.
#ifndef TVMS_PASSES_RELAX_GRAPH_GRADIENT_RULES_H
#define TVMS_PASSES_RELAX_GRAPH_GRADIENT_RULES_H

#include "passes/relax/mutator.h"

enum { TVMS_GRADIENT_ARGUMENTS = 3 };

// One call, and what its rule says.
typedef struct {
  tvms_relax_mutator *m;
  const tvms_call *call;
  tvms_node *result;  // the variable of the call
  tvms_node *grad;    // the gradient of that
  // Filled in by the rule: a tree for each argument, NULL: it gets nothing.
  tvms_node *TVMS_NULLABLE partials[TVMS_GRADIENT_ARGUMENTS];
} tvms_gradient_query;

// Asks the rule of the operator. False if there is none, or it needs shapes that are not known.
bool tvms_relax_gradient_ask(tvms_gradient_query *query);

#endif
