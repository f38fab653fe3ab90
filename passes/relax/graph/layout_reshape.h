// Reshapes that split axes and join axes, part by part.
#ifndef TVMS_PASSES_RELAX_GRAPH_LAYOUT_RESHAPE_H
#define TVMS_PASSES_RELAX_GRAPH_LAYOUT_RESHAPE_H

#include "passes/relax/graph/layout_query.h"
#include "passes/relax/graph/moves.h"

// Axes from `from` to `from_end` become axes from `to` to `to_end`, and hold as many elements.
typedef struct {
  uint32_t from, from_end, to, to_end;
} tvms_reshape_part;

// The parts of a reshape, as small as they can be, in order. Returns how many; 0: there are none.
uint32_t tvms_relax_reshape_parts(const tvms_moved_shape *from,
                                  const tvms_moved_shape *to,
                                  tvms_reshape_part parts[TVMS_MOST_MOVED_AXES]);

// The rule of layout.def: a reshape whose parts stay together in the new order of the axes.
tvms_relax_layout_rule tvms_relax_layout_reshape;

#endif
