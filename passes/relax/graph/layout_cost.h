// What another order of axes costs and what it saves, in multiply-adds.
#ifndef TVMS_PASSES_RELAX_GRAPH_LAYOUT_COST_H
#define TVMS_PASSES_RELAX_GRAPH_LAYOUT_COST_H

#include "passes/relax/graph/layout_query.h"

typedef struct {
  double saved, moved;
} tvms_relax_layout_cost;

// A convolution gets the order that is best for it. Sizes that are not known count as 1, in both sums.
void tvms_relax_layout_cost_save(tvms_relax_layout_cost *cost,
                                 const tvms_relax_layout_query *query);

// A value of this type is brought into another order.
void tvms_relax_layout_cost_move(tvms_relax_layout_cost *cost, const tvms_node *type);

// Is more saved than moved?
bool tvms_relax_layout_cost_is_worth(const tvms_relax_layout_cost *cost);

#endif
