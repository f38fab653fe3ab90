// Layouts put together and taken apart: tiling, direct sums, and their inverses.
//
// To tile is to put copies of an inner layout where an outer one says. Of every dimension the
// iterators of the outer one come first, with strides that step over whole copies (times the span
// of the inner one on that axis), then those of the inner one: S[4:1] tiled by S[2:1] is
// S[(2, 4):(4, 1)], in canonical form S[8:1]. The inner layout may be swizzled, and then the
// swizzle goes around the result.
#include "arith/layout_tile.h"

#include "arith/layout_internal.h"
#include "ir/equal.h"

#include <string.h>

// ---- Together -------------------------------------------------------------------------------

static tvms_node *canonical_tile(tvms_layouts *layouts, tvms_node *layout) {
  return tvms_layout_canonical(layouts, layout);
}

static tvms_list shard_of(const tvms_node *tile) {
  return tvms_as_tile_layout((tvms_node *)tile)->shard;
}

// Iterators of `a` and `b` by dimension in turn.
static tvms_list interleaved(tvms_layouts *layouts, tvms_list a, const uint32_t *a_ends,
                             tvms_list b, const uint32_t *b_ends, uint32_t rank) {
  tvms_list all = {
      tvms_arena_array(&layouts->unit->arena, tvms_node *, a.len + b.len + 1), 0};
  for (uint32_t i = 0; i < rank; i++) {
    for (uint32_t k = i ? a_ends[i - 1] : 0; k < a_ends[i]; k++) {
      all.items[all.len++] = a.items[k];
    }
    for (uint32_t k = i ? b_ends[i - 1] : 0; k < b_ends[i]; k++) {
      all.items[all.len++] = b.items[k];
    }
  }
  return all;
}

static tvms_list joined(tvms_layouts *layouts, tvms_list a, tvms_list b) {
  tvms_list all = {
      tvms_arena_array(&layouts->unit->arena, tvms_node *, a.len + b.len + 1), 0};
  for (uint32_t i = 0; i < a.len; i++) {
    all.items[all.len++] = a.items[i];
  }
  for (uint32_t i = 0; i < b.len; i++) {
    all.items[all.len++] = b.items[i];
  }
  return all;
}

// The span of `tile` on an axis of its shard; NULL if the shard has no such axis.
static tvms_node *span_on(tvms_layouts *layouts, const tvms_node *tile, tvms_sym axis) {
  tvms_list shard = shard_of(tile);
  for (uint32_t i = 0; i < shard.len; i++) {
    if (tvms_as_layout_iter(shard.items[i])->axis != axis) continue;
    return tvms_layout_span(layouts, tile, axis);
  }
  return NULL;
}

// Strides that step over whole copies of `inner`.
static tvms_list scaled(tvms_layouts *layouts, tvms_list shard,
                        const tvms_node *inner) {
  tvms_list result = tvms_list_copy(layouts->unit, shard.items, shard.len);
  for (uint32_t i = 0; i < shard.len; i++) {
    const tvms_layout_iter *iter = tvms_as_layout_iter(shard.items[i]);
    tvms_node *span = span_on(layouts, inner, iter->axis);
    if (!span) continue;
    tvms_node *stride = tvms_layouts_op(layouts, TVMS_NODE_MUL, iter->stride, span);
    if (!stride) continue;  // `why` is set
    result.items[i] =
        tvms_layout_iter_new(layouts->unit, iter->extent, stride, iter->axis);
  }
  return result;
}

static bool same_rank(tvms_layouts *layouts, tvms_list a, tvms_list b) {
  if (a.len == b.len) return true;
  layouts->why = "both shapes have as many dimensions";
  return false;
}

// The swizzle around `layout` (or NULL) and the tile layout that it moves: of a swizzle
// alone that of `shape`.
static tvms_node *base_of(tvms_layouts *layouts, tvms_node *layout, tvms_list shape,
                          const tvms_node **swizzle) {
  *swizzle = NULL;
  if (layout->kind != TVMS_NODE_COMPOSE_LAYOUT) return layout;
  *swizzle = layout;
  tvms_node *tile = tvms_as_compose_layout(layout)->tile_layout;
  bool bare =
      !tile
      || (!tvms_release_has(layouts->unit->dialect, TVMS_FACT_swizzles_are_layouts)
          && tvms_layout_is_trivial(tile));
  return bare ? tvms_layout_identity(layouts, shape) : tile;
}

static tvms_node *around(tvms_layouts *layouts, const tvms_node *swizzle,
                         tvms_node *tile) {
  if (!swizzle || !tile) return tile;
  return tvms_layout_compose_with(layouts->unit, swizzle, tile);
}

// Groups two layouts by shapes of one rank; the inner one may be swizzled.
static bool group_both(tvms_layouts *layouts, tvms_node **outer, tvms_list outer_shape,
                       uint32_t **outer_ends, tvms_node **inner, tvms_list inner_shape,
                       uint32_t **inner_ends, const tvms_node **swizzle) {
  if (!same_rank(layouts, outer_shape, inner_shape)) return false;
  *inner = base_of(layouts, *inner, inner_shape, swizzle);
  *inner = *inner ? canonical_tile(layouts, *inner) : NULL;
  *outer = canonical_tile(layouts, *outer);
  if (!*inner || !*outer) return false;
  tvms_arena *arena = &layouts->unit->arena;
  *outer_ends = tvms_arena_array(arena, uint32_t, outer_shape.len + 1);
  *inner_ends = tvms_arena_array(arena, uint32_t, outer_shape.len + 1);
  *outer = tvms_layout_group(layouts, *outer, outer_shape, *outer_ends);
  *inner = tvms_layout_group(layouts, *inner, inner_shape, *inner_ends);
  return *inner && *outer;
}

tvms_node *tvms_layout_tile(tvms_layouts *layouts, tvms_node *inner, tvms_node *outer,
                            tvms_list outer_shape, tvms_list inner_shape) {
  const tvms_node *swizzle;
  uint32_t *outer_ends, *inner_ends, rank = outer_shape.len;
  if (!group_both(layouts, &outer, outer_shape, &outer_ends, &inner, inner_shape,
                  &inner_ends, &swizzle)) {
    return NULL;
  }
  const tvms_tile_layout *in = tvms_as_tile_layout(inner);
  const tvms_tile_layout *out = tvms_as_tile_layout(outer);
  tvms_list shard = interleaved(layouts, scaled(layouts, out->shard, inner), outer_ends,
                                in->shard, inner_ends, rank);
  tvms_list offset;
  if (layouts->why
      || !tvms_layouts_offsets(layouts, TVMS_NODE_ADD, in->offset, out->offset, false,
                               &offset)) {
    return NULL;
  }
  tvms_node *tiled = tvms_tile_layout_new(
      layouts->unit, shard, joined(layouts, in->replica, out->replica), offset);
  return around(layouts, swizzle, tvms_layout_canonical(layouts, tiled));
}

tvms_node *tvms_layout_direct_sum(tvms_layouts *layouts, tvms_node *right,
                                  tvms_node *left, tvms_list left_shape,
                                  tvms_list right_shape) {
  const tvms_node *swizzle;
  uint32_t *left_ends, *right_ends, rank = left_shape.len;
  if (!group_both(layouts, &left, left_shape, &left_ends, &right, right_shape,
                  &right_ends, &swizzle)) {
    return NULL;
  }
  const tvms_tile_layout *a = tvms_as_tile_layout(left);
  const tvms_tile_layout *b = tvms_as_tile_layout(right);
  tvms_list offset;
  if (!tvms_layouts_offsets(layouts, TVMS_NODE_ADD, a->offset, b->offset, true,
                            &offset)) {
    return NULL;
  }
  tvms_node *sum = tvms_tile_layout_new(
      layouts->unit,
      interleaved(layouts, a->shard, left_ends, b->shard, right_ends, rank),
      joined(layouts, a->replica, b->replica), offset);
  return around(layouts, swizzle, tvms_layout_canonical(layouts, sum));
}

// ---- Apart ----------------------------------------------------------------------------------

// A tiled layout beside one of its parts, both grouped by dimension.
typedef struct {
  const tvms_tile_layout *whole, *part;
  tvms_list whole_shard, part_shard;
  uint32_t *whole_ends, *part_ends;  // of `whole`: two for each dimension
  uint32_t rank;
} split;

static bool same_swizzle(const tvms_node *a, const tvms_node *b) {
  const tvms_compose_layout *x = tvms_as_compose_layout((tvms_node *)a);
  const tvms_compose_layout *y = tvms_as_compose_layout((tvms_node *)b);
  return x->per_element == y->per_element && x->swizzle_len == y->swizzle_len
         && x->atom_len == y->atom_len && x->swizzle_inner == y->swizzle_inner;
}

// The shape of each dimension as outer times inner extent. `inner`: `factor` has the inner
// ones.
static bool factored(tvms_layouts *layouts, tvms_list shape, tvms_list factor,
                     bool inner, tvms_list *result) {
  *result = (tvms_list){
      tvms_arena_array(&layouts->unit->arena, tvms_node *, 2 * shape.len + 1), 0};
  for (uint32_t i = 0; i < shape.len; i++) {
    if (!tvms_layouts_divides(layouts, factor.items[i], shape.items[i])) {
      if (!layouts->why) layouts->why = "the shape is not a multiple of the part's";
      return false;
    }
    tvms_node *rest =
        tvms_layouts_op(layouts, TVMS_NODE_FLOOR_DIV, shape.items[i], factor.items[i]);
    result->items[result->len++] = inner ? rest : factor.items[i];
    result->items[result->len++] = inner ? factor.items[i] : rest;
  }
  return true;
}

static bool split_open(tvms_layouts *layouts, tvms_node *whole, tvms_list whole_shape,
                       tvms_node *part, tvms_list part_shape, split *s) {
  tvms_arena *arena = &layouts->unit->arena;
  s->rank = part_shape.len;
  s->whole_ends = tvms_arena_array(arena, uint32_t, 2 * s->rank + 1);
  s->part_ends = tvms_arena_array(arena, uint32_t, s->rank + 1);
  tvms_node *grouped = tvms_layout_group(layouts, whole, whole_shape, s->whole_ends);
  tvms_node *own =
      grouped ? tvms_layout_group(layouts, part, part_shape, s->part_ends) : NULL;
  if (!own) return false;
  s->whole = tvms_as_tile_layout(whole);
  s->part = tvms_as_tile_layout(part);
  s->whole_shard = shard_of(grouped);
  s->part_shard = shard_of(own);
  return true;
}

static uint32_t begin_of(const uint32_t *ends, uint32_t i) {
  return i ? ends[i - 1] : 0;
}

static bool same_iter(tvms_layouts *layouts, const tvms_node *a, const tvms_node *b,
                      bool strides) {
  const tvms_layout_iter *x = tvms_as_layout_iter((tvms_node *)a);
  const tvms_layout_iter *y = tvms_as_layout_iter((tvms_node *)b);
  if (!tvms_layouts_equal(layouts, x->extent, y->extent)) return false;
  if (tvms_node_is_int(x->extent, 1)) return true;
  return x->axis == y->axis
         && (!strides || tvms_layouts_equal(layouts, x->stride, y->stride));
}

// Iterators of the replica of the whole that the part has not.
static tvms_list other_replica(tvms_layouts *layouts, const split *s) {
  tvms_list rest = {
      tvms_arena_array(&layouts->unit->arena, tvms_node *, s->whole->replica.len + 1),
      0};
  for (uint32_t i = 0; i < s->whole->replica.len; i++) {
    bool own = false;
    for (uint32_t k = 0; k < s->part->replica.len; k++) {
      own = own
            || tvms_node_equal(layouts->unit->context, s->whole->replica.items[i],
                               s->part->replica.items[k]);
    }
    if (!own) rest.items[rest.len++] = s->whole->replica.items[i];
  }
  return rest;
}

// The offsets of the whole without those of the part; what only the part has counts if
// `all`.
static bool other_offset(tvms_layouts *layouts, const split *s, bool all,
                         tvms_list *result) {
  tvms_list taken = {
      tvms_arena_array(&layouts->unit->arena, tvms_node *, s->part->offset.len + 1), 0};
  for (uint32_t i = 0; i < s->part->offset.len; i++) {
    tvms_sym axis = tvms_as_layout_iter(s->part->offset.items[i])->axis;
    bool shared = all;
    for (uint32_t k = 0; k < s->whole->offset.len; k++) {
      shared = shared || tvms_as_layout_iter(s->whole->offset.items[k])->axis == axis;
    }
    if (shared) taken.items[taken.len++] = s->part->offset.items[i];
  }
  return tvms_layouts_offsets(layouts, TVMS_NODE_SUB, s->whole->offset, taken, true,
                              result);
}

// True if nothing speaks against the scopes of whole and part; ranks grow inwards.
static bool scopes_fit(tvms_layouts *layouts, tvms_node *whole, tvms_node *part,
                       bool inner) {
  int whole_in, whole_out, part_in, part_out;
  if (!tvms_layout_scopes(layouts, whole, &whole_in, &whole_out)
      || !tvms_layout_scopes(layouts, part, &part_in, &part_out)) {
    return false;
  }
  if (whole_in < 0 || part_in < 0) return true;
  return inner ? whole_in == part_in && part_out >= whole_out
               : whole_out == part_out && whole_in >= part_in;
}

// A step over whole copies of `inner`, counted in such copies. NULL: it is not one.
static tvms_node *rescaled(tvms_layouts *layouts, tvms_node *node,
                           const tvms_node *inner) {
  const tvms_layout_iter *iter = tvms_as_layout_iter(node);
  tvms_node *span = span_on(layouts, inner, iter->axis);
  if (!span || tvms_node_is_int(iter->extent, 1)) return node;
  if (!tvms_layouts_divides(layouts, span, iter->stride)) return NULL;
  tvms_node *stride = tvms_layouts_op(layouts, TVMS_NODE_FLOOR_DIV, iter->stride, span);
  return stride ? tvms_layout_iter_new(layouts->unit, iter->extent, stride, iter->axis)
                : NULL;
}

static bool rescale_all(tvms_layouts *layouts, tvms_list *list,
                        const tvms_node *inner) {
  for (uint32_t i = 0; i < list->len; i++) {
    list->items[i] = rescaled(layouts, list->items[i], inner);
    if (!list->items[i]) return false;
  }
  return true;
}

// The iterators of each dimension that the part has not. The part's are the last ones of
// a dimension (`inner`) or the first. False if they are not there.
static bool remaining(tvms_layouts *layouts, const split *s, bool inner,
                      tvms_list *rest) {
  *rest = (tvms_list){
      tvms_arena_array(&layouts->unit->arena, tvms_node *, s->whole_shard.len + 1), 0};
  for (uint32_t i = 0; i < s->rank; i++) {
    uint32_t begin = i ? s->whole_ends[2 * i - 1] : 0, end = s->whole_ends[2 * i + 1];
    uint32_t own = begin_of(s->part_ends, i), count = s->part_ends[i] - own;
    if (count > end - begin) return false;
    uint32_t at = inner ? end - count : begin;
    for (uint32_t k = 0; k < count; k++) {
      if (!same_iter(layouts, s->part_shard.items[own + k],
                     s->whole_shard.items[at + k], inner)) {
        return false;
      }
    }
    for (uint32_t k = begin; k < end; k++) {
      if (k < at || k >= at + count) {
        rest->items[rest->len++] = s->whole_shard.items[k];
      }
    }
  }
  return true;
}

// The tile layouts behind a part and the whole, which must be swizzled alike. NULL: they
// are not.
static tvms_node *bare_parts(tvms_layouts *layouts, tvms_node *layout, tvms_list shape,
                             tvms_node **whole, tvms_list whole_shape) {
  const tvms_node *swizzle, *whole_swizzle;
  tvms_node *base = base_of(layouts, layout, shape, &swizzle);
  tvms_node *given = *whole;
  *whole = base_of(layouts, given, whole_shape, &whole_swizzle);
  if (!base || !*whole || !swizzle != !whole_swizzle) return NULL;
  return swizzle && !same_swizzle(swizzle, whole_swizzle) ? NULL : base;
}

tvms_node *tvms_layout_outer_of(tvms_layouts *layouts, tvms_node *layout,
                                tvms_node *whole, tvms_list whole_shape,
                                tvms_list inner_shape) {
  tvms_list shape, shard, offset;
  split s;
  layout = bare_parts(layouts, layout, inner_shape, &whole, whole_shape);
  layout = layout ? canonical_tile(layouts, layout) : NULL;
  whole = layout ? canonical_tile(layouts, whole) : NULL;
  if (!whole || !scopes_fit(layouts, whole, layout, true)
      || !same_rank(layouts, whole_shape, inner_shape)
      || !factored(layouts, whole_shape, inner_shape, true, &shape)
      || !split_open(layouts, whole, shape, layout, inner_shape, &s)
      || !remaining(layouts, &s, true, &shard)) {
    return NULL;
  }
  tvms_list replica = other_replica(layouts, &s);
  if (!rescale_all(layouts, &shard, layout) || !rescale_all(layouts, &replica, layout)
      || !other_offset(layouts, &s, false, &offset)) {
    return NULL;
  }
  return tvms_tile_layout_new(layouts->unit, shard, replica, offset);
}

static tvms_list quotients(tvms_layouts *layouts, tvms_list shape, tvms_list factor) {
  tvms_list result = tvms_list_copy(layouts->unit, shape.items, shape.len);
  for (uint32_t i = 0; i < shape.len; i++) {
    result.items[i] =
        tvms_layouts_op(layouts, TVMS_NODE_FLOOR_DIV, shape.items[i], factor.items[i]);
  }
  return result;
}

tvms_node *tvms_layout_inner_of(tvms_layouts *layouts, tvms_node *layout,
                                tvms_node *whole, tvms_list whole_shape,
                                tvms_list outer_shape) {
  if (layout->kind == TVMS_NODE_COMPOSE_LAYOUT) return NULL;
  if (whole->kind == TVMS_NODE_COMPOSE_LAYOUT) {
    tvms_node *tile = tvms_as_compose_layout(whole)->tile_layout;
    if (!tile) return NULL;
    return around(
        layouts, whole,
        tvms_layout_inner_of(layouts, layout, tile, whole_shape, outer_shape));
  }
  tvms_list shape, shard, offset;
  split s;
  layout = canonical_tile(layouts, layout);
  whole = layout ? canonical_tile(layouts, whole) : NULL;
  if (!whole || !scopes_fit(layouts, whole, layout, false)
      || !same_rank(layouts, whole_shape, outer_shape)
      || !factored(layouts, whole_shape, outer_shape, false, &shape)
      || !split_open(layouts, whole, shape, layout, outer_shape, &s)
      || !remaining(layouts, &s, false, &shard)
      || !other_offset(layouts, &s, false, &offset)) {
    return NULL;
  }
  tvms_node *inner =
      tvms_tile_layout_new(layouts->unit, shard, other_replica(layouts, &s), offset);
  tvms_node *again = tvms_layout_tile(layouts, inner, layout, outer_shape,
                                      quotients(layouts, whole_shape, outer_shape));
  bool same = again && tvms_node_equal(layouts->unit->context, again, whole);
  return same ? inner : NULL;
}

tvms_node *tvms_layout_summand_of(tvms_layouts *layouts, tvms_node *layout,
                                  tvms_node *whole, tvms_list whole_shape,
                                  tvms_list shape, bool is_right) {
  tvms_list offset;
  split s;
  layout = bare_parts(layouts, layout, shape, &whole, whole_shape);
  layout = layout ? canonical_tile(layouts, layout) : NULL;
  whole = layout ? canonical_tile(layouts, whole) : NULL;
  if (!whole) return NULL;
  if (whole_shape.len != 2 * shape.len) {
    layouts->why = "a sum has two dimensions for each of its part";
    return NULL;
  }
  if (!split_open(layouts, whole, whole_shape, layout, shape, &s)) return NULL;
  tvms_list rest = {
      tvms_arena_array(&layouts->unit->arena, tvms_node *, s.whole_shard.len + 1), 0};
  for (uint32_t i = 0; i < s.rank; i++) {
    uint32_t own = 2 * i + is_right, other = 2 * i + !is_right;
    uint32_t at = begin_of(s.whole_ends, own), mine = begin_of(s.part_ends, i);
    if (s.whole_ends[own] - at != s.part_ends[i] - mine) return NULL;
    for (; at < s.whole_ends[own]; at++, mine++) {
      if (!same_iter(layouts, s.whole_shard.items[at], s.part_shard.items[mine], true))
        return NULL;
    }
    for (uint32_t k = begin_of(s.whole_ends, other); k < s.whole_ends[other]; k++) {
      rest.items[rest.len++] = s.whole_shard.items[k];
    }
  }
  if (!other_offset(layouts, &s, true, &offset)) return NULL;
  return tvms_tile_layout_new(layouts->unit, rest, other_replica(layouts, &s), offset);
}
