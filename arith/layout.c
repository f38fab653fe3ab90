// Layouts: their parts, what can be asked about them, their canonical and grouped forms.
//
// The canonical form is how TVM compares layouts: extents of 1 go, and an iterator that
// goes on where its neighbour steps over becomes one with it. Grouping is the opposite:
// iterators are split until each dimension of a shape is made of whole ones, which fails
// where extents do not divide. Tiling and slicing start from a grouped layout.
#include "arith/layout.h"

#include "arith/layout_internal.h"
#include "ir/fold.h"
#include "support/names.h"

#include <string.h>

tvms_layouts tvms_layouts_open(tvms_unit *unit) {
  return (tvms_layouts){.unit = unit, .analyzer = tvms_analyzer_new(unit)};
}

void tvms_layouts_close(tvms_layouts *layouts) {
  tvms_analyzer_free(layouts->analyzer);
  layouts->analyzer = NULL;
}

// ---- Axes -----------------------------------------------------------------------------------

typedef struct {
  tvms_sym name;
  const char *scope, *subscope;
} axis_row;

static const axis_row axes[] = {
#define AXIS(name, scope, subscope) {TVMS_SYM_##name, scope, subscope},
#include "ir/axes.def"
};

static const axis_row *TVMS_NULLABLE axis_of(tvms_sym axis) {
  for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++) {
    if (axes[i].name == axis) return &axes[i];
  }
  return NULL;
}

bool tvms_layout_axis_known(tvms_sym axis) {
  return axis_of(axis) != NULL;
}

bool tvms_layout_axis_is_thread(tvms_sym axis) {
  const axis_row *row = axis_of(axis);
  return row && *row->scope;
}

// ---- Parts ----------------------------------------------------------------------------------

tvms_node *tvms_layout_iter_new(tvms_unit *unit, tvms_node *extent, tvms_node *stride,
                                tvms_sym axis) {
  tvms_layout_iter *iter = tvms_node_make(unit, LAYOUT_ITER, TVMS_NO_SPAN);
  iter->extent = extent;
  iter->stride = stride;
  iter->axis = axis;
  return &iter->head;
}

tvms_node *tvms_tile_layout_new(tvms_unit *unit, tvms_list shard, tvms_list replica,
                                tvms_list offset) {
  tvms_tile_layout *layout = tvms_node_make(unit, TILE_LAYOUT, TVMS_NO_SPAN);
  layout->shard = shard;
  layout->replica = replica;
  layout->offset = offset;
  return &layout->head;
}

tvms_node *tvms_layout_compose_with(tvms_unit *unit, const tvms_node *swizzle,
                                    tvms_node *tile) {
  const tvms_compose_layout *old = tvms_as_compose_layout((tvms_node *)swizzle);
  tvms_compose_layout *layout = tvms_node_make(unit, COMPOSE_LAYOUT, TVMS_NO_SPAN);
  layout->per_element = old->per_element;
  layout->swizzle_len = old->swizzle_len;
  layout->atom_len = old->atom_len;
  layout->swizzle_inner = old->swizzle_inner;
  layout->tile_layout = tile;
  return &layout->head;
}

// ---- Integers -------------------------------------------------------------------------------

tvms_node *tvms_layouts_int(tvms_layouts *layouts, int64_t value) {
  return tvms_build_literal_int(layouts->unit, value, TVMS_NO_SPAN);
}

static bool is_integer(const tvms_node *node) {
  return (node->dtype.code == TVMS_INT || node->dtype.code == TVMS_UINT)
         && node->dtype.lanes == 1;
}

tvms_node *tvms_layouts_op(tvms_layouts *layouts, tvms_node_kind kind, tvms_node *a,
                           tvms_node *b) {
  if (!a || !b) return NULL;
  bool divides = kind == TVMS_NODE_FLOOR_DIV || kind == TVMS_NODE_FLOOR_MOD;
  if (!is_integer(a) || !is_integer(b)) {
    layouts->why = "extents and strides are integers";
    return NULL;
  }
  if (divides && tvms_node_is_int(b, 0)) {
    layouts->why = "an extent is 0";
    return NULL;
  }
  return tvms_build_binary(layouts->unit, kind, a, b, TVMS_NO_SPAN);
}

tvms_node *tvms_layouts_simple(tvms_layouts *layouts, tvms_node_kind kind, tvms_node *a,
                               tvms_node *b) {
  tvms_node *node = tvms_layouts_op(layouts, kind, a, b);
  return node ? tvms_analyzer_simplify(layouts->analyzer, node) : NULL;
}

bool tvms_layouts_equal(tvms_layouts *layouts, tvms_node *a, tvms_node *b) {
  return tvms_analyzer_can_prove_equal(layouts->analyzer, a, b);
}

bool tvms_layouts_divides(tvms_layouts *layouts, tvms_node *divisor, tvms_node *value) {
  tvms_node *rest = tvms_layouts_op(layouts, TVMS_NODE_FLOOR_MOD, value, divisor);
  return rest && tvms_layouts_equal(layouts, rest, tvms_layouts_int(layouts, 0));
}

tvms_node *tvms_layout_identity(tvms_layouts *layouts, tvms_list shape) {
  tvms_list none = {0};
  if (!shape.len) return tvms_tile_layout_new(layouts->unit, none, none, none);
  tvms_node *extent = shape.items[0];
  for (uint32_t i = 1; i < shape.len; i++) {
    extent = tvms_layouts_op(layouts, TVMS_NODE_MUL, extent, shape.items[i]);
  }
  if (!extent) return NULL;
  tvms_node *iter = tvms_layout_iter_new(layouts->unit, extent,
                                         tvms_layouts_int(layouts, 1), TVMS_SYM_m);
  return tvms_tile_layout_new(layouts->unit, tvms_list_copy(layouts->unit, &iter, 1),
                              none, none);
}

// ---- Offsets --------------------------------------------------------------------------------

static tvms_node *offset_sum(tvms_layouts *layouts, tvms_node_kind op,
                             tvms_node *TVMS_NULLABLE a, tvms_node *b,
                             bool simplified) {
  if (!a && op == TVMS_NODE_ADD) {
    return simplified ? tvms_analyzer_simplify(layouts->analyzer, b) : b;
  }
  if (!a) a = tvms_layouts_int(layouts, 0);
  return simplified ? tvms_layouts_simple(layouts, op, a, b)
                    : tvms_layouts_op(layouts, op, a, b);
}

bool tvms_layouts_offsets(tvms_layouts *layouts, tvms_node_kind op, tvms_list a,
                          tvms_list b, bool simplified, tvms_list *result) {
  tvms_unit *unit = layouts->unit;
  tvms_node **items = tvms_arena_array(&unit->arena, tvms_node *, a.len + b.len + 1);
  uint32_t count = a.len;
  for (uint32_t i = 0; i < a.len; i++) {
    items[i] = a.items[i];
  }
  for (uint32_t i = 0; i < b.len; i++) {
    const tvms_layout_iter *term = tvms_as_layout_iter(b.items[i]);
    uint32_t at = 0;
    while (at < count && tvms_as_layout_iter(items[at])->axis != term->axis) {
      at++;
    }
    tvms_node *old = at < count ? tvms_as_layout_iter(items[at])->stride : NULL;
    tvms_node *sum = offset_sum(layouts, op, old, term->stride, simplified);
    if (!sum) return false;
    items[at] = tvms_layout_iter_new(unit, NULL, sum, term->axis);
    if (at == count) count++;
  }
  *result = (tvms_list){items, count};
  return true;
}

// ---- Questions ------------------------------------------------------------------------------

static bool known_axis(tvms_layouts *layouts, tvms_sym axis) {
  if (tvms_layout_axis_known(axis)) return true;
  layouts->why = "nothing is known about one of its axes";
  return false;
}

bool tvms_layout_is_trivial(const tvms_node *tile) {
  const tvms_tile_layout *layout = tvms_as_tile_layout((tvms_node *)tile);
  if (layout->shard.len > 1 || layout->replica.len || layout->offset.len) return false;
  if (!layout->shard.len) return true;
  const tvms_layout_iter *iter = tvms_as_layout_iter(layout->shard.items[0]);
  return !tvms_layout_axis_is_thread(iter->axis) && tvms_node_is_int(iter->stride, 1);
}

tvms_node *tvms_layout_size(tvms_layouts *layouts, const tvms_node *tile,
                            tvms_sym axis) {
  tvms_list shard = tvms_as_tile_layout((tvms_node *)tile)->shard;
  tvms_node *size = tvms_layouts_int(layouts, 1);
  for (uint32_t i = 0; i < shard.len; i++) {
    const tvms_layout_iter *iter = tvms_as_layout_iter(shard.items[i]);
    if (axis && iter->axis != axis) continue;
    size = tvms_layouts_op(layouts, TVMS_NODE_MUL, size, iter->extent);
  }
  return size;
}

static bool counts(tvms_sym axis, tvms_sym wanted) {
  return wanted ? axis == wanted : !tvms_layout_axis_is_thread(axis);
}

tvms_node *tvms_layout_span(tvms_layouts *layouts, const tvms_node *tile,
                            tvms_sym axis) {
  const tvms_tile_layout *layout = tvms_as_tile_layout((tvms_node *)tile);
  const tvms_list lists[] = {layout->shard, layout->replica, layout->offset};
  tvms_node *one = tvms_layouts_int(layouts, 1);
  tvms_node *span = one;
  for (size_t k = 0; k < 3; k++) {
    for (uint32_t i = 0; i < lists[k].len; i++) {
      const tvms_layout_iter *iter = tvms_as_layout_iter(lists[k].items[i]);
      if (!axis && !known_axis(layouts, iter->axis)) return NULL;
      if (!counts(iter->axis, axis)) continue;
      tvms_node *reach = iter->stride;
      if (iter->extent) {
        tvms_node *steps = tvms_layouts_op(layouts, TVMS_NODE_SUB, iter->extent, one);
        reach = tvms_layouts_op(layouts, TVMS_NODE_MUL, steps, iter->stride);
      }
      span = tvms_layouts_op(layouts, TVMS_NODE_ADD, span, reach);
    }
  }
  return span ? tvms_analyzer_simplify(layouts->analyzer, span) : NULL;
}

// ---- Scopes ---------------------------------------------------------------------------------

static const char *const scopes[] = {"cluster", "cta", "warpgroup", "warp", "thread"};
enum { SCOPES = sizeof scopes / sizeof scopes[0] };

static int rank_of(const char *scope) {
  int rank = 0;
  while (strcmp(scopes[rank], scope) != 0) {
    rank++;
  }
  return rank;
}

// False after setting `why`.
static bool has_threads(tvms_layouts *layouts, tvms_list shard, bool *threads) {
  *threads = false;
  for (uint32_t i = 0; i < shard.len; i++) {
    tvms_sym axis = tvms_as_layout_iter(shard.items[i])->axis;
    if (!known_axis(layouts, axis)) return false;
    *threads = *threads || tvms_layout_axis_is_thread(axis);
  }
  return true;
}

bool tvms_layout_scopes(tvms_layouts *layouts, const tvms_node *tile, int *inner,
                        int *outer) {
  const tvms_tile_layout *layout = tvms_as_tile_layout((tvms_node *)tile);
  const tvms_list lists[] = {layout->shard, layout->replica, layout->offset};
  int within[SCOPES] = {-1, -1, -1, -1, -1}, links = 0, count = 0;
  bool threads;
  *inner = *outer = -1;
  if (!has_threads(layouts, layout->shard, &threads)) return false;
  if (!threads) return true;
  for (size_t k = 0; k < 3; k++) {
    for (uint32_t i = 0; i < lists[k].len; i++) {
      tvms_sym name = tvms_as_layout_iter(lists[k].items[i])->axis;
      if (!known_axis(layouts, name)) return false;
      const axis_row *row = axis_of(name);
      if (!*row->scope) continue;
      int sub = rank_of(row->subscope), scope = rank_of(row->scope);
      if (sub > *inner) *inner = sub;
      if (within[sub] < 0) count++;
      if (within[sub] >= 0 && within[sub] != scope) {
        layouts->why = "its thread axes number one scope within two others";
        return false;
      }
      within[sub] = scope;
    }
  }
  *outer = *inner;
  while (links <= SCOPES && within[*outer] >= 0) {
    *outer = within[*outer];
    links++;
  }
  if (links == count) return true;
  layouts->why = "the scopes of its thread axes do not form a chain";
  return false;
}

// ---- Parts in memory ------------------------------------------------------------------------

static tvms_list in_memory(tvms_layouts *layouts, tvms_list list) {
  tvms_list kept = {tvms_arena_array(&layouts->unit->arena, tvms_node *, list.len + 1),
                    0};
  for (uint32_t i = 0; i < list.len; i++) {
    if (!tvms_layout_axis_is_thread(tvms_as_layout_iter(list.items[i])->axis)) {
      kept.items[kept.len++] = list.items[i];
    }
  }
  return kept;
}

tvms_node *tvms_layout_in_memory(tvms_layouts *layouts, const tvms_node *tile) {
  const tvms_tile_layout *layout = tvms_as_tile_layout((tvms_node *)tile);
  return tvms_tile_layout_new(layouts->unit, in_memory(layouts, layout->shard),
                              in_memory(layouts, layout->replica),
                              in_memory(layouts, layout->offset));
}

bool tvms_layout_storage(tvms_layouts *layouts, const tvms_node *tile, tvms_node **size,
                         tvms_node **span) {
  tvms_node *held = tvms_layout_in_memory(layouts, tile);
  *size = tvms_layout_size(layouts, held, 0);
  *span = *size ? tvms_layout_span(layouts, held, 0) : NULL;
  return *span != NULL;
}

tvms_node *tvms_layout_row_major(tvms_unit *unit, tvms_list shape) {
  tvms_list none = {0}, shard = tvms_list_copy(unit, shape.items, shape.len);
  tvms_node *stride = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), 1, TVMS_NO_SPAN);
  for (uint32_t i = shape.len; i > 0 && stride; i--) {
    shard.items[i - 1] =
        tvms_layout_iter_new(unit, shape.items[i - 1], stride, TVMS_SYM_m);
    if (i == 1) break;
    stride = tvms_build_binary(unit, TVMS_NODE_MUL, stride, shape.items[i - 1],
                               TVMS_NO_SPAN);
  }
  return tvms_tile_layout_new(unit, shard, none, none);
}

// ---- Canonical form -------------------------------------------------------------------------

// Without extents of 1; one is left if there is nothing else.
static tvms_list without_units(tvms_layouts *layouts, tvms_list shard) {
  tvms_unit *unit = layouts->unit;
  tvms_list kept = {tvms_arena_array(&unit->arena, tvms_node *, shard.len + 1), 0};
  for (uint32_t i = 0; i < shard.len; i++) {
    if (!tvms_node_is_int(tvms_as_layout_iter(shard.items[i])->extent, 1)) {
      kept.items[kept.len++] = shard.items[i];
    }
  }
  if (!kept.len && shard.len) {
    tvms_node *one = tvms_layouts_int(layouts, 1);
    tvms_sym axis = tvms_as_layout_iter(shard.items[0])->axis;
    kept.items[kept.len++] = tvms_layout_iter_new(unit, one, one, axis);
  }
  return kept;
}

static tvms_list without_zeros(tvms_layouts *layouts, tvms_list offset) {
  tvms_list kept = {
      tvms_arena_array(&layouts->unit->arena, tvms_node *, offset.len + 1), 0};
  for (uint32_t i = 0; i < offset.len; i++) {
    if (tvms_node_is_int(tvms_as_layout_iter(offset.items[i])->stride, 0)) continue;
    kept.items[kept.len++] = offset.items[i];
  }
  return kept;
}

// True if `next` goes on where `iter` steps over: their strides make one.
static bool goes_on(tvms_layouts *layouts, const tvms_layout_iter *iter,
                    const tvms_layout_iter *next) {
  if (iter->axis != next->axis) return false;
  tvms_node *reach =
      tvms_layouts_op(layouts, TVMS_NODE_MUL, next->extent, next->stride);
  return reach && tvms_layouts_equal(layouts, reach, iter->stride);
}

static bool fused(tvms_layouts *layouts, tvms_list shard, tvms_list *result) {
  *result = (tvms_list){
      tvms_arena_array(&layouts->unit->arena, tvms_node *, shard.len + 1), 0};
  for (uint32_t at = 0; at < shard.len;) {
    const tvms_layout_iter *first = tvms_as_layout_iter(shard.items[at]);
    const tvms_layout_iter *last = first;
    tvms_node *extent = first->extent;
    uint32_t next = at + 1;
    while (next < shard.len
           && goes_on(layouts, last, tvms_as_layout_iter(shard.items[next]))) {
      last = tvms_as_layout_iter(shard.items[next++]);
      extent = tvms_layouts_op(layouts, TVMS_NODE_MUL, extent, last->extent);
    }
    if (!extent || layouts->why) return false;
    result->items[result->len++] =
        next == at + 1
            ? shard.items[at]
            : tvms_layout_iter_new(layouts->unit, extent, last->stride, first->axis);
    at = next;
  }
  return true;
}

tvms_node *tvms_layout_canonical(tvms_layouts *layouts, tvms_node *node) {
  if (node->kind == TVMS_NODE_COMPOSE_LAYOUT) {
    tvms_node *tile = tvms_as_compose_layout(node)->tile_layout;
    if (!tile) return node;
    tile = tvms_layout_canonical(layouts, tile);
    if (!tile) return NULL;
    // Up to 0.25 a swizzle alone is a layout of its own.
    bool alone =
        tvms_release_has(layouts->unit->dialect, TVMS_FACT_swizzles_are_layouts)
        && tvms_layout_is_trivial(tile);
    return tvms_layout_compose_with(layouts->unit, node, alone ? NULL : tile);
  }
  const tvms_tile_layout *layout = tvms_as_tile_layout(node);
  tvms_list shard = without_units(layouts, layout->shard);
  tvms_list offset = without_zeros(layouts, layout->offset);
  tvms_node *plain =
      tvms_tile_layout_new(layouts->unit, shard, layout->replica, offset);
  int inner, outer;
  if (!tvms_layout_scopes(layouts, plain, &inner, &outer)
      || !fused(layouts, shard, &shard)) {
    return NULL;
  }
  return tvms_tile_layout_new(layouts->unit, shard, layout->replica, offset);
}

// ---- Grouped form ---------------------------------------------------------------------------

typedef struct {
  tvms_layouts *layouts;
  tvms_list shape;
  uint32_t dim;
  uint32_t *ends;
  tvms_node *product;  // of the extents since the last dimension was full
  tvms_list shard;
} grouping;

static void push_iter(grouping *g, tvms_node *extent, tvms_node *stride,
                      tvms_sym axis) {
  g->shard.items[g->shard.len++] =
      tvms_layout_iter_new(g->layouts->unit, extent, stride, axis);
}

// Splits one iterator where dimensions end in it.
static bool group_iter(grouping *g, const tvms_layout_iter *iter) {
  tvms_layouts *layouts = g->layouts;
  tvms_node *extent = iter->extent;
  g->product = tvms_layouts_op(layouts, TVMS_NODE_MUL, g->product, extent);
  while (g->dim < g->shape.len
         && tvms_layouts_divides(layouts, g->shape.items[g->dim], g->product)) {
    tvms_node *rest = tvms_layouts_simple(layouts, TVMS_NODE_FLOOR_DIV, g->product,
                                          g->shape.items[g->dim]);
    if (!tvms_layouts_divides(layouts, rest, extent)) return false;
    tvms_node *part = tvms_layouts_simple(layouts, TVMS_NODE_FLOOR_DIV, extent, rest);
    tvms_node *stride = tvms_layouts_simple(layouts, TVMS_NODE_MUL, iter->stride, rest);
    if (!part || !stride) return false;
    push_iter(g, part, stride, iter->axis);
    g->product = extent = rest;
    g->ends[g->dim++] = g->shard.len;
  }
  if (!g->product) return false;
  extent = tvms_analyzer_simplify(layouts->analyzer, extent);
  if (tvms_node_is_int(extent, 1)) return true;
  if (g->dim == g->shape.len) return false;
  push_iter(g, extent, tvms_analyzer_simplify(layouts->analyzer, iter->stride),
            iter->axis);
  return true;
}

tvms_node *tvms_layout_group(tvms_layouts *layouts, const tvms_node *tile,
                             tvms_list shape, uint32_t *ends) {
  const tvms_tile_layout *layout = tvms_as_tile_layout((tvms_node *)tile);
  grouping g = {.layouts = layouts, .shape = shape, .ends = ends};
  g.product = tvms_layouts_int(layouts, 1);
  g.shard.items = tvms_arena_array(&layouts->unit->arena, tvms_node *,
                                   layout->shard.len + shape.len + 1);
  bool sound = true;
  for (uint32_t i = 0; sound && i < layout->shard.len; i++) {
    sound = group_iter(&g, tvms_as_layout_iter(layout->shard.items[i]));
  }
  if (!sound || g.dim < shape.len) {
    if (!layouts->why) layouts->why = "it does not follow the shape";
    return NULL;
  }
  return tvms_tile_layout_new(layouts->unit, g.shard, layout->replica, layout->offset);
}

// ---- Where coordinates go -------------------------------------------------------------------

bool tvms_layout_split_coord(tvms_layouts *layouts, tvms_node *coord, tvms_list extents,
                             tvms_node **parts) {
  for (uint32_t i = extents.len; i > 0; i--) {
    tvms_node *extent = extents.items[i - 1];
    parts[i - 1] =
        i == 1 ? coord : tvms_layouts_op(layouts, TVMS_NODE_FLOOR_MOD, coord, extent);
    if (i > 1) coord = tvms_layouts_op(layouts, TVMS_NODE_FLOOR_DIV, coord, extent);
    if (!parts[i - 1]) return false;
  }
  return true;
}

tvms_node *tvms_layout_flatten_coord(tvms_layouts *layouts, tvms_list coord,
                                     tvms_list shape) {
  tvms_node *flat = tvms_layouts_int(layouts, 0);
  for (uint32_t i = 0; i < coord.len; i++) {
    flat = tvms_layouts_op(layouts, TVMS_NODE_MUL, flat, shape.items[i]);
    flat = tvms_layouts_op(layouts, TVMS_NODE_ADD, flat, coord.items[i]);
  }
  return flat;
}

bool tvms_layout_apply(tvms_layouts *layouts, const tvms_node *tile, tvms_list coord,
                       tvms_list *result) {
  const tvms_tile_layout *layout = tvms_as_tile_layout((tvms_node *)tile);
  *result = (tvms_list){0};
  if (coord.len != layout->shard.len) {
    layouts->why = "it takes a coordinate for each iterator";
    return false;
  }
  for (uint32_t i = 0; i < coord.len; i++) {
    const tvms_layout_iter *iter = tvms_as_layout_iter(layout->shard.items[i]);
    tvms_node *term =
        tvms_layouts_op(layouts, TVMS_NODE_MUL, coord.items[i], iter->stride);
    if (!term) return false;
    bool first = true;
    for (uint32_t k = 0; k < result->len; k++) {
      if (tvms_as_layout_iter(result->items[k])->axis == iter->axis) first = false;
    }
    if (first) term = tvms_analyzer_simplify(layouts->analyzer, term);
    tvms_node *on_axis = tvms_layout_iter_new(layouts->unit, NULL, term, iter->axis);
    tvms_list one = {&on_axis, 1};
    if (!tvms_layouts_offsets(layouts, TVMS_NODE_ADD, *result, one, true, result)) {
      return false;
    }
  }
  return tvms_layouts_offsets(layouts, TVMS_NODE_ADD, *result, layout->offset, true,
                              result);
}
