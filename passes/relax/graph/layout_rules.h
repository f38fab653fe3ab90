// What an operator makes of the orders of its arguments: the rows of layout.def.
#ifndef TVMS_PASSES_RELAX_GRAPH_LAYOUT_RULES_H
#define TVMS_PASSES_RELAX_GRAPH_LAYOUT_RULES_H

#include "passes/relax/graph/layout_query.h"

// Has the operator a row that counts? Some do with `beyond_tvm` only, some without it only.
bool tvms_relax_layout_has_rule(tvms_opcode opcode, bool beyond_tvm);

// Asks the rule. False if it cannot say: a layout that does not fit the operator, or one that
// TVM refuses.
bool tvms_relax_layout_ask(tvms_relax_layout_query *query);

#endif
