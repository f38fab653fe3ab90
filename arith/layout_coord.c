// Coordinates of a shape as coordinates of the iterators of a tile layout.
#include "arith/layout_coord.h"

#include "ir/fold.h"

tvms_list tvms_layout_extents(tvms_layouts *layouts, const tvms_node *tile) {
  tvms_list shard = tvms_as_tile_layout((tvms_node *)tile)->shard;
  tvms_list extents = tvms_list_copy(layouts->unit, shard.items, shard.len);
  for (uint32_t i = 0; i < shard.len; i++) {
    extents.items[i] = tvms_as_layout_iter(shard.items[i])->extent;
  }
  return extents;
}

// Coordinates of the iterators of a grouped layout, from those of the shape it follows.
static bool split_by_dim(tvms_layouts *layouts, const tvms_node *grouped,
                         const uint32_t *ends, tvms_list coord, tvms_list *parts) {
  tvms_list extents = tvms_layout_extents(layouts, grouped);
  *parts = tvms_list_copy(layouts->unit, extents.items, extents.len);
  for (uint32_t i = 0; i < extents.len; i++) {
    parts->items[i] = tvms_build_literal_int(layouts->unit, 0, TVMS_NO_SPAN);
  }
  for (uint32_t d = 0; d < coord.len; d++) {
    uint32_t begin = d ? ends[d - 1] : 0;
    tvms_list own = {extents.items + begin, ends[d] - begin};
    if (!tvms_layout_split_coord(layouts, coord.items[d], own, parts->items + begin)) {
      return false;
    }
  }
  return true;
}

bool tvms_layout_spread_coord(tvms_layouts *layouts, tvms_node **tile, tvms_list coord,
                              tvms_list shape, tvms_list *parts) {
  uint32_t *ends = tvms_arena_array(&layouts->unit->arena, uint32_t, shape.len + 1);
  tvms_node *grouped = tvms_layout_group(layouts, *tile, shape, ends);
  if (grouped) {
    *tile = grouped;
    return split_by_dim(layouts, grouped, ends, coord, parts);
  }
  layouts->why = NULL;
  tvms_node *flat = tvms_layout_flatten_coord(layouts, coord, shape);
  tvms_list extents = tvms_layout_extents(layouts, *tile);
  *parts = tvms_list_copy(layouts->unit, extents.items, extents.len);
  return flat && tvms_layout_split_coord(layouts, flat, extents, parts->items);
}
