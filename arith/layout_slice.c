// The layout of a region of what has a layout.
//
// Each dimension of the shape is a group of iterators, of which the region takes a part. The inner
// ones are taken whole while the region begins at 0 on them and their extent divides its own. The
// next one is cut, and has to hold what is left: of a dimension S[(4, 16):(64, 1)] the elements 4
// to 12 are S[8:1], while 12 to 20 are the end of one row and the start of the next. That is a
// layout only if both halves are of one length: two of 4 elements, a step of 64 - 12 apart. Where
// the region begins becomes an offset on each axis. Rules: TVM's
// src/tirx/ir/layout/tile_slice.cc.
#include "arith/layout_slice.h"

#include "arith/layout_internal.h"
#include "ir/fold.h"

// One dimension: its iterators, the first coordinate taken on each, and what remains of
// the extent after the iterators that are taken whole.
typedef struct {
  tvms_list shard;
  tvms_node **first;
  tvms_node *extent;
  uint32_t pivot;  // iterators from here on are taken whole
} cut;

static const tvms_layout_iter *iter_at(const cut *c, uint32_t i) {
  return tvms_as_layout_iter(c->shard.items[i]);
}

// Where the region begins on each iterator, and the offsets that come of it.
static bool find_begin(tvms_layouts *layouts, cut *c, tvms_node *begin,
                       tvms_list *offset) {
  uint32_t count = c->shard.len;
  tvms_node *step = tvms_layouts_int(layouts, 1);
  tvms_node **terms = tvms_arena_array(&layouts->unit->arena, tvms_node *, count);
  for (uint32_t i = count; i > 0; i--) {
    const tvms_layout_iter *iter = iter_at(c, i - 1);
    tvms_node *at = tvms_layouts_op(layouts, TVMS_NODE_FLOOR_DIV, begin, step);
    // A dimension of one iterator holds the whole region, so nothing wraps around.
    if (count > 1) {
      at = tvms_layouts_op(layouts, TVMS_NODE_FLOOR_MOD, at, iter->extent);
    }
    if (!at) return false;
    c->first[i - 1] = tvms_analyzer_simplify(layouts->analyzer, at);
    tvms_node *moved =
        tvms_layouts_simple(layouts, TVMS_NODE_MUL, c->first[i - 1], iter->stride);
    step = tvms_layouts_simple(layouts, TVMS_NODE_MUL, step, iter->extent);
    if (!moved || !step) return false;
    terms[i - 1] = tvms_layout_iter_new(layouts->unit, NULL, moved, iter->axis);
  }
  return tvms_layouts_offsets(layouts, TVMS_NODE_ADD, (tvms_list){0},
                              (tvms_list){terms, count}, true, offset);
}

static void take_whole(tvms_layouts *layouts, cut *c) {
  tvms_node *zero = tvms_layouts_int(layouts, 0);
  while (c->pivot > 0) {
    const tvms_layout_iter *iter = iter_at(c, c->pivot - 1);
    if (!tvms_layouts_equal(layouts, c->first[c->pivot - 1], zero)
        || !tvms_layouts_divides(layouts, iter->extent, c->extent)) {
      return;
    }
    c->extent =
        tvms_layouts_simple(layouts, TVMS_NODE_FLOOR_DIV, c->extent, iter->extent);
    if (!c->extent) return;
    c->pivot--;
  }
}

static bool prove_le(tvms_layouts *layouts, tvms_node *a, tvms_node *b) {
  tvms_node *le =
      a && b ? tvms_build_binary(layouts->unit, TVMS_NODE_LE, a, b, TVMS_NO_SPAN)
             : NULL;
  return le && tvms_analyzer_can_prove(layouts->analyzer, le);
}

// A region that wraps once, in its middle: two halves, a step apart.
static uint32_t wrapped(tvms_layouts *layouts, const cut *c, tvms_node **made) {
  const tvms_layout_iter *iter = iter_at(c, c->pivot - 1);
  const tvms_layout_iter *outer = c->pivot > 1 ? iter_at(c, c->pivot - 2) : NULL;
  tvms_node *two = tvms_int_imm_new(layouts->unit, c->extent->dtype, 2, TVMS_NO_SPAN);
  tvms_node *half = tvms_layouts_simple(layouts, TVMS_NODE_FLOOR_DIV, c->extent, two);
  tvms_node *end =
      tvms_layouts_simple(layouts, TVMS_NODE_ADD, c->first[c->pivot - 1], half);
  if (!end || !tvms_layouts_divides(layouts, two, c->extent)
      || !tvms_layouts_equal(layouts, end, iter->extent)
      || (outer && outer->axis != iter->axis)) {
    return 0;
  }
  tvms_node *next =
      outer ? tvms_layouts_op(layouts, TVMS_NODE_ADD, c->first[c->pivot - 2],
                              tvms_layouts_int(layouts, 1))
            : NULL;
  if (outer && !prove_le(layouts, next, outer->extent)) return 0;
  tvms_node *left = tvms_layouts_op(layouts, TVMS_NODE_SUB, iter->extent, half);
  left = tvms_layouts_op(layouts, TVMS_NODE_MUL, left, iter->stride);
  tvms_node *step =
      tvms_layouts_simple(layouts, TVMS_NODE_SUB,
                          outer ? outer->stride : tvms_layouts_int(layouts, 0), left);
  if (!step) return 0;
  made[0] = tvms_layout_iter_new(layouts->unit, two, step, iter->axis);
  made[1] = tvms_layout_iter_new(layouts->unit, half, iter->stride, iter->axis);
  return 2;
}

// The iterators of `extent` elements of one dimension; false if they have no layout.
static bool slice_dim(tvms_layouts *layouts, tvms_node *group, tvms_node *begin,
                      tvms_node *extent, tvms_list *shard, tvms_list *offset) {
  group = tvms_layout_canonical(layouts, group);
  if (!group) return false;
  cut c = {.shard = tvms_as_tile_layout(group)->shard, .extent = extent};
  if (!c.shard.len) return false;
  tvms_arena *arena = &layouts->unit->arena;
  c.first = tvms_arena_array(arena, tvms_node *, c.shard.len);
  c.pivot = c.shard.len;
  tvms_node **made = tvms_arena_array(arena, tvms_node *, c.shard.len + 2);
  uint32_t count = 0;
  if (!find_begin(layouts, &c, begin, offset)) return false;
  if (c.shard.len > 1) take_whole(layouts, &c);
  if (layouts->why) return false;
  if (c.pivot == 0) {
    if (!tvms_layouts_equal(layouts, c.extent, tvms_layouts_int(layouts, 1)))
      return false;
  } else {
    const tvms_layout_iter *iter = iter_at(&c, c.pivot - 1);
    tvms_node *end =
        tvms_layouts_op(layouts, TVMS_NODE_ADD, c.first[c.pivot - 1], c.extent);
    if (c.shard.len == 1 || prove_le(layouts, end, iter->extent)) {
      made[count++] =
          tvms_layout_iter_new(layouts->unit, c.extent, iter->stride, iter->axis);
    } else {
      count = wrapped(layouts, &c, made);
      if (!count) return false;
    }
  }
  for (uint32_t i = c.pivot; i < c.shard.len; i++) {
    made[count++] = c.shard.items[i];
  }
  *shard = (tvms_list){made, count};
  return true;
}

static tvms_node *slice_tile(tvms_layouts *layouts, tvms_node *tile, tvms_list shape,
                             tvms_list region) {
  tvms_arena *arena = &layouts->unit->arena;
  tvms_node *whole = tvms_layout_canonical(layouts, tile);
  uint32_t *ends = tvms_arena_array(arena, uint32_t, shape.len + 1);
  tvms_node *grouped = whole ? tvms_layout_group(layouts, whole, shape, ends) : NULL;
  if (!grouped) return NULL;
  const tvms_tile_layout *all = tvms_as_tile_layout(grouped);
  // Up to 0.25 the offsets of what is sliced are lost.
  tvms_list offset = {0}, none = {0};
  if (tvms_release_has(layouts->unit->dialect, TVMS_FACT_layout_slices_keep_offsets))
    offset = all->offset;
  tvms_list shard = {
      tvms_arena_array(arena, tvms_node *, all->shard.len + 2 * shape.len + 1), 0};
  for (uint32_t i = 0; i < shape.len; i++) {
    uint32_t begin = i ? ends[i - 1] : 0;
    tvms_list own = {all->shard.items + begin, ends[i] - begin}, part, moved;
    const tvms_range *range = tvms_as_range(region.items[i]);
    tvms_node *group = tvms_tile_layout_new(layouts->unit, own, none, none);
    if (!slice_dim(layouts, group, range->min,
                   tvms_analyzer_simplify(layouts->analyzer, range->extent), &part,
                   &moved)
        || !tvms_layouts_offsets(layouts, TVMS_NODE_ADD, offset, moved, true,
                                 &offset)) {
      return NULL;
    }
    for (uint32_t k = 0; k < part.len; k++) {
      shard.items[shard.len++] = part.items[k];
    }
  }
  return tvms_tile_layout_new(layouts->unit, shard, all->replica, offset);
}

tvms_node *tvms_layout_slice(tvms_layouts *layouts, tvms_node *layout, tvms_list shape,
                             tvms_list region) {
  if (layout->kind != TVMS_NODE_COMPOSE_LAYOUT) {
    return slice_tile(layouts, layout, shape, region);
  }
  tvms_node *tile = tvms_as_compose_layout(layout)->tile_layout;
  bool bare =
      !tile
      || (!tvms_release_has(layouts->unit->dialect, TVMS_FACT_swizzles_are_layouts)
          && tvms_layout_is_trivial(tile));
  if (bare) tile = tvms_layout_identity(layouts, shape);
  tile = tile ? slice_tile(layouts, tile, shape, region) : NULL;
  return tile ? tvms_layout_compose_with(layouts->unit, layout, tile) : NULL;
}
