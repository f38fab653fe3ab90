// Layouts of elements that are made wider, several into one, or narrower.
//
// To unpack by n is to take each element for n that lie side by side: strides are multiplied by n,
// and an iterator n:1 of the memory axis joins behind the others, so that S[4:1] unpacked by 2 is
// S[(4, 2):(2, 1)]. To pack is the inverse. The innermost elements have to lie together for it: the
// last iterator has stride 1, a constant extent that n divides, and an axis of memory. A swizzle
// counts elements in powers of two, so n is one where there is a swizzle.
#include "arith/layout_pack.h"

#include "ir/fold.h"
#include "support/names.h"

static tvms_node *int32(tvms_unit *unit, int64_t value) {
  return tvms_build_literal_int(unit, value, TVMS_NO_SPAN);
}

static tvms_node *tile_of(tvms_node *layout) {
  return layout->kind == TVMS_NODE_COMPOSE_LAYOUT
             ? tvms_as_compose_layout(layout)->tile_layout
             : layout;
}

static bool power_of_two(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

// The swizzle of `layout` around `tile`, of elements 2^shift times as wide.
static tvms_node *reswizzled(tvms_unit *unit, tvms_node *layout, tvms_node *tile,
                             int64_t num, bool wider) {
  if (layout->kind != TVMS_NODE_COMPOSE_LAYOUT) return tile;
  tvms_node *made = tvms_layout_compose_with(unit, layout, tile);
  int64_t shift = __builtin_ctzll((unsigned long long)num);
  tvms_as_compose_layout(made)->per_element += wider ? shift : -shift;
  return made;
}

static tvms_list with_strides(tvms_layouts *layouts, tvms_list shard, uint32_t count,
                              tvms_node_kind op, int64_t num) {
  tvms_unit *unit = layouts->unit;
  tvms_list made = {tvms_arena_array(&unit->arena, tvms_node *, shard.len + 1), count};
  tvms_node *factor = tvms_build_literal_int(unit, num, TVMS_NO_SPAN);
  for (uint32_t i = 0; i < count; i++) {
    const tvms_layout_iter *iter = tvms_as_layout_iter(shard.items[i]);
    tvms_node *stride = tvms_build_binary(unit, op, iter->stride, factor, TVMS_NO_SPAN);
    made.items[i] =
        tvms_layout_iter_new(unit, iter->extent, stride ? stride : factor, iter->axis);
  }
  return made;
}

tvms_node *tvms_layout_unpack(tvms_layouts *layouts, tvms_node *layout, int64_t num) {
  tvms_unit *unit = layouts->unit;
  tvms_node *inner = tile_of(layout);
  if (num < 1 || (inner != layout && !power_of_two(num))) {
    layouts->why = "elements of a swizzle are split in a power of 2";
    return NULL;
  }
  if (!inner) return reswizzled(unit, layout, NULL, num, true);
  const tvms_tile_layout *tile = tvms_as_tile_layout(inner);
  tvms_list shard =
      with_strides(layouts, tile->shard, tile->shard.len, TVMS_NODE_MUL, num);
  shard.items[shard.len++] =
      tvms_layout_iter_new(unit, int32(unit, num), int32(unit, 1), TVMS_SYM_m);
  return reswizzled(unit, layout,
                    tvms_tile_layout_new(unit, shard, tile->replica, tile->offset), num,
                    true);
}

tvms_node *tvms_layout_pack(tvms_layouts *layouts, tvms_node *layout, int64_t num) {
  tvms_unit *unit = layouts->unit;
  tvms_node *inner = tile_of(layout);
  bool swizzled = layout->kind == TVMS_NODE_COMPOSE_LAYOUT;
  layouts->why = "its innermost elements do not lie together so";
  if (num < 1 || (swizzled && !power_of_two(num))) return NULL;
  if (swizzled
      && tvms_as_compose_layout(layout)->per_element
             < __builtin_ctzll((unsigned long long)num)) {
    return NULL;
  }
  if (!inner) {
    layouts->why = NULL;
    return reswizzled(unit, layout, NULL, num, false);
  }
  const tvms_tile_layout *tile = tvms_as_tile_layout(inner);
  uint32_t count = tile->shard.len;
  const tvms_layout_iter *last =
      count ? tvms_as_layout_iter(tile->shard.items[count - 1]) : NULL;
  bool together =
      last && tvms_node_is_int(last->stride, 1) && tvms_node_is_int_imm(last->extent)
      && tvms_layout_axis_known(last->axis) && !tvms_layout_axis_is_thread(last->axis);
  int64_t extent = together ? tvms_as_int_imm(last->extent)->value : 1;
  if (!together || extent % num) return NULL;
  layouts->why = NULL;
  tvms_list shard =
      with_strides(layouts, tile->shard, count - 1, TVMS_NODE_FLOOR_DIV, num);
  shard.items[shard.len++] =
      tvms_layout_iter_new(unit, int32(unit, extent / num), int32(unit, 1), last->axis);
  return reswizzled(unit, layout,
                    tvms_tile_layout_new(unit, shard, tile->replica, tile->offset), num,
                    false);
}
