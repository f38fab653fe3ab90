// Coordinates of a shape as coordinates of the iterators of a tile layout.
#ifndef TVMS_ARITH_LAYOUT_COORD_H
#define TVMS_ARITH_LAYOUT_COORD_H

#include "arith/layout.h"

// The extents of the iterators in the shard of a tile layout.
tvms_list tvms_layout_extents(tvms_layouts *layouts, const tvms_node *tile);

// `coord` of `shape` as coordinates of the iterators; `*tile` becomes the layout that has
// these. False with `why`.
TVMS_NODISCARD bool tvms_layout_spread_coord(tvms_layouts *layouts, tvms_node **tile,
                                             tvms_list coord, tvms_list shape,
                                             tvms_list *parts);

#endif
