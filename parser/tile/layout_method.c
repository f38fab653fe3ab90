// Methods of layouts: layout.tile(…), layout.size(). What they compute stands in arith/layout.h and its like.
#include "parser/tile/layout_method.h"

#include "arith/layout.h"
#include "arith/layout_coord.h"
#include "arith/layout_pack.h"
#include "arith/layout_slice.h"
#include "arith/layout_tile.h"
#include "arith/layout_trainium.h"
#include "ir/fold.h"
#include "parser/eval/convert.h"
#include "parser/eval/iterate.h"
#include "parser/eval/operator.h"
#include "parser/tile/layout.h"
#include "parser/tir/convert.h"

// One call of a method: its receiver and arguments.
typedef struct {
  tvms_reader *reader;
  tvms_layouts layouts;
  tvms_node *layout;
  const tvms_eval_value *args;
  tvms_ref ref;
} method_call;

static tvms_eval_value refused(const method_call *m) {
  const char *why = m->layouts.why ? m->layouts.why : "it does not fit";
  tvms_reader_report(m->reader, bad_layout, m->ref, why);
  return tvms_reader_failed(m->reader);
}

// What an operation gave: a layout, none, or a refusal.
static tvms_eval_value result_of(const method_call *m,
                                 tvms_node *TVMS_NULLABLE layout) {
  if (layout) return tvms_eval_value_node(layout);
  return m->layouts.why ? refused(m) : TVMS_NOTHING;
}

static tvms_node *tile_of(tvms_node *layout) {
  return layout->kind == TVMS_NODE_COMPOSE_LAYOUT
             ? tvms_as_compose_layout(layout)->tile_layout
             : layout;
}

// ---- Arguments ------------------------------------------------------------------------------

static bool shape_at(method_call *m, uint32_t i, tvms_list *shape) {
  return tvms_eval_to_exprs(m->reader, m->args[i], m->ref, shape);
}

static bool is_layout(const tvms_node *node) {
  return node->kind == TVMS_NODE_TILE_LAYOUT || node->kind == TVMS_NODE_COMPOSE_LAYOUT;
}

// A layout, or (`tile`) a tile layout.
static tvms_node *layout_at(method_call *m, uint32_t i, bool tile) {
  tvms_eval_value value = m->args[i];
  tvms_node *node = value.kind == TVMS_EVAL_NODE ? value.as.node : NULL;
  if (node && is_layout(node) && (!tile || node->kind == TVMS_NODE_TILE_LAYOUT)) {
    return node;
  }
  tvms_eval_report_wrong_type(m->reader, m->ref, "a layout", "T.TileLayout(…)", value);
  return NULL;
}

static bool axis_at(method_call *m, uint32_t i, tvms_sym *axis) {
  *axis = 0;
  if (m->args[i].kind == TVMS_EVAL_NONE) return true;
  return tvms_tile_layout_axis(m->reader, m->args[i], m->ref, axis);
}

// ---- Layouts of layouts ---------------------------------------------------------------------

static tvms_eval_value canonicalize(method_call *m) {
  return result_of(m, tvms_layout_canonical(&m->layouts, m->layout));
}

typedef tvms_node *combine(tvms_layouts *, tvms_node *, tvms_node *, tvms_list,
                           tvms_list);

static tvms_eval_value combined(method_call *m, combine *operation, bool tile) {
  tvms_list first, second;
  tvms_node *other = layout_at(m, 0, tile);
  if (!other || !shape_at(m, 1, &first) || !shape_at(m, 2, &second)) {
    return tvms_reader_failed(m->reader);
  }
  return result_of(m, operation(&m->layouts, m->layout, other, first, second));
}

static tvms_eval_value tile(method_call *m) {
  return combined(m, tvms_layout_tile, true);
}

static tvms_eval_value direct_sum(method_call *m) {
  return combined(m, tvms_layout_direct_sum, true);
}

static tvms_eval_value is_tile_inner(method_call *m) {
  return combined(m, tvms_layout_outer_of, false);
}

static tvms_eval_value is_tile_outer(method_call *m) {
  return combined(m, tvms_layout_inner_of, false);
}

static tvms_node *left_of(tvms_layouts *layouts, tvms_node *layout, tvms_node *whole,
                          tvms_list whole_shape, tvms_list shape) {
  return tvms_layout_summand_of(layouts, layout, whole, whole_shape, shape, true);
}

static tvms_eval_value is_direct_sum_right(method_call *m) {
  return combined(m, left_of, false);
}

static tvms_node *right_of(tvms_layouts *layouts, tvms_node *layout, tvms_node *whole,
                           tvms_list whole_shape, tvms_list shape) {
  return tvms_layout_summand_of(layouts, layout, whole, whole_shape, shape, false);
}

static tvms_eval_value is_direct_sum_left(method_call *m) {
  return combined(m, right_of, false);
}

// Tiles row-major up to a larger shape.
static tvms_eval_value tile_to(method_call *m) {
  tvms_eval_items to = tvms_eval_items_of((tvms_eval_value *)&m->args[0]);
  tvms_eval_items from = tvms_eval_items_of((tvms_eval_value *)&m->args[1]);
  tvms_list outer, inner;
  tvms_eval_value *counts =
      tvms_arena_array(&m->reader->values, tvms_eval_value, to.len + 1);
  if (to.len > from.len) {
    m->layouts.why = "both shapes have as many dimensions";
    return refused(m);
  }
  for (uint32_t i = 0; i < to.len; i++) {
    counts[i] = tvms_eval_binary(m->reader, TVMS_OP_FLOOR_DIV, to.items[i],
                                 from.items[i], m->ref);
  }
  if (!tvms_eval_to_exprs(m->reader,
                          tvms_eval_value_items(TVMS_EVAL_TUPLE, counts, to.len),
                          m->ref, &outer)
      || !shape_at(m, 1, &inner)) {
    return tvms_reader_failed(m->reader);
  }
  return result_of(m, tvms_layout_tile(&m->layouts, m->layout,
                                       tvms_layout_row_major(m->reader->unit, outer),
                                       outer, inner));
}

// A range, or a pair of its ends.
static tvms_node *range_of(method_call *m, tvms_eval_value value) {
  tvms_node *range = tvms_eval_value_node_of(value, TVMS_NODE_RANGE);
  if (range) return range;
  if (!tvms_eval_value_is_sequence(value) || value.len != 2) {
    tvms_eval_report_wrong_type(m->reader, m->ref, "a range", "a pair (begin, end)",
                                value);
    return NULL;
  }
  tvms_node *begin = tvms_eval_to_expr(m->reader, value.as.items[0], m->ref);
  tvms_node *end =
      begin ? tvms_eval_to_expr(m->reader, value.as.items[1], m->ref) : NULL;
  tvms_node *extent =
      end ? tvms_build_binary(m->reader->unit, TVMS_NODE_SUB, end, begin,
                              tvms_reader_span_of(m->reader, m->ref))
          : NULL;
  return extent ? tvms_range_new(m->reader->unit, begin, extent, TVMS_NO_SPAN) : NULL;
}

static tvms_eval_value slice(method_call *m) {
  tvms_list shape, region;
  tvms_eval_items ranges;
  if (!shape_at(m, 0, &shape)
      || !tvms_eval_iterate(m->reader, m->args[1], m->ref, &ranges))
    return tvms_reader_failed(m->reader);
  if (ranges.len != shape.len) {
    m->layouts.why = "a region has a range for each dimension";
    return refused(m);
  }
  region.items = tvms_arena_array(&m->reader->unit->arena, tvms_node *, ranges.len + 1);
  region.len = ranges.len;
  for (uint32_t i = 0; i < ranges.len; i++) {
    region.items[i] = range_of(m, ranges.items[i]);
    if (!region.items[i]) return tvms_reader_failed(m->reader);
  }
  return result_of(m, tvms_layout_slice(&m->layouts, m->layout, shape, region));
}

static tvms_node *int32(tvms_reader *reader, int64_t value) {
  return tvms_build_literal_int(reader->unit, value, TVMS_NO_SPAN);
}

static tvms_eval_value unpack(method_call *m) {
  int64_t num;
  if (!tvms_eval_to_int(m->reader, m->args[0], m->ref, &num))
    return tvms_reader_failed(m->reader);
  return result_of(m, tvms_layout_unpack(&m->layouts, m->layout, num));
}

static tvms_eval_value pack(method_call *m) {
  int64_t num;
  if (!tvms_eval_to_int(m->reader, m->args[0], m->ref, &num))
    return tvms_reader_failed(m->reader);
  return result_of(m, tvms_layout_pack(&m->layouts, m->layout, num));
}

// ---- Iterators rearranged -------------------------------------------------------------------

// A layout like that of `m` with another tile layout inside.
static tvms_eval_value rewrapped(method_call *m, tvms_list shard, tvms_list replica,
                                 tvms_list offset) {
  tvms_node *tile = tvms_tile_layout_new(m->reader->unit, shard, replica, offset);
  if (m->layout->kind != TVMS_NODE_COMPOSE_LAYOUT) return tvms_eval_value_node(tile);
  return tvms_eval_value_node(
      tvms_layout_compose_with(m->reader->unit, m->layout, tile));
}

static const tvms_tile_layout *tile_in(method_call *m) {
  tvms_node *tile = tile_of(m->layout);
  if (!tile) m->layouts.why = "a swizzle alone has no iterators";
  return tile ? tvms_as_tile_layout(tile) : NULL;
}

static tvms_eval_value broadcast(method_call *m) {
  const tvms_tile_layout *tile = tile_in(m);
  int64_t position;
  tvms_sym axis;
  if (!tile) return refused(m);
  tvms_node *extent = tvms_eval_to_expr(m->reader, m->args[0], m->ref);
  if (!extent || !tvms_eval_to_int(m->reader, m->args[1], m->ref, &position)
      || !tvms_tile_layout_axis(m->reader, m->args[2], m->ref, &axis)) {
    return tvms_reader_failed(m->reader);
  }
  int64_t count = tile->shard.len;
  // As list.insert(): what is out of range goes to the nearest end.
  if (position < 0) position += count + 1;
  if (position < 0) position += count;
  position = position < 0 ? 0 : position > count ? count : position;
  tvms_list shard = {
      tvms_arena_array(&m->reader->unit->arena, tvms_node *, (size_t)count + 1), 0};
  for (int64_t i = 0; i <= count; i++) {
    shard.items[shard.len++] =
        i == position
            ? tvms_layout_iter_new(m->reader->unit, extent, int32(m->reader, 0), axis)
            : tile->shard.items[i - (i > position)];
  }
  return rewrapped(m, shard, tile->replica, tile->offset);
}

static tvms_eval_value storage(method_call *m) {
  tvms_node *inner = tile_of(m->layout);
  if (!inner) return tvms_eval_value_node(m->layout);
  const tvms_tile_layout *held =
      tvms_as_tile_layout(tvms_layout_in_memory(&m->layouts, inner));
  return rewrapped(m, held->shard, held->replica, held->offset);
}

static tvms_eval_value permuted(method_call *m, const int64_t *order, uint32_t count) {
  const tvms_tile_layout *tile = tvms_as_tile_layout(m->layout);
  tvms_list shard = {tvms_arena_array(&m->reader->unit->arena, tvms_node *, count + 1),
                     count};
  bool sound = count == tile->shard.len;
  for (uint32_t i = 0; sound && i < count; i++) {
    int64_t at = order[i] < 0 ? order[i] + count : order[i];
    sound = at >= 0 && at < count;
    if (sound) shard.items[i] = tile->shard.items[at];
  }
  if (sound) return rewrapped(m, shard, tile->replica, tile->offset);
  m->layouts.why = "an order has a number for each iterator";
  return refused(m);
}

static bool ints_at(method_call *m, uint32_t i, int64_t **ints, uint32_t *count) {
  tvms_eval_items items;
  if (!tvms_eval_iterate(m->reader, m->args[i], m->ref, &items)) return false;
  *ints = tvms_arena_array(&m->reader->values, int64_t, items.len + 1);
  *count = items.len;
  for (uint32_t k = 0; k < items.len; k++) {
    if (!tvms_eval_to_int(m->reader, items.items[k], m->ref, &(*ints)[k])) return false;
  }
  return true;
}

static tvms_eval_value permute_dims(method_call *m) {
  int64_t *order;
  uint32_t count;
  if (!ints_at(m, 0, &order, &count)) return tvms_reader_failed(m->reader);
  return permuted(m, order, count);
}

// Groups are the iterators between two separators.
static tvms_eval_value permute_by_groups(method_call *m) {
  int64_t *ends, *order;
  uint32_t end_count, count, total = 0;
  if (!ints_at(m, 0, &ends, &end_count) || !ints_at(m, 1, &order, &count)) {
    return tvms_reader_failed(m->reader);
  }
  uint32_t limit = tvms_as_tile_layout(m->layout)->shard.len;
  int64_t *flat = tvms_arena_array(&m->reader->values, int64_t, limit + 1);
  bool sound = end_count == count + 1;
  for (uint32_t i = 0; sound && i < count; i++) {
    sound = order[i] >= 0 && order[i] < count;
    for (uint32_t k = 0; sound && k < i; k++) {
      sound = order[k] != order[i];
    }
    for (int64_t k = sound ? ends[order[i]] : 0; sound && k < ends[order[i] + 1]; k++) {
      sound = total < limit;
      if (sound) flat[total++] = k;
    }
  }
  if (sound) return permuted(m, flat, total);
  m->layouts.why = "an order has a number for each group";
  return refused(m);
}

static tvms_eval_value to_psum(method_call *m) {
  tvms_node *layout = tvms_layout_to_psum(m->reader->unit, m->layout);
  if (!layout) m->layouts.why = "it does not fit the banks of psum";
  return result_of(m, layout);
}

// ---- Groups ---------------------------------------------------------------------------------

static tvms_eval_value ends_value(tvms_reader *reader, const uint32_t *ends,
                                  uint32_t rank) {
  tvms_eval_value *items = tvms_arena_array(&reader->values, tvms_eval_value, rank + 1);
  items[0] = tvms_eval_value_int(0);
  for (uint32_t i = 0; i < rank; i++) {
    items[i + 1] = tvms_eval_value_int(ends[i]);
  }
  return tvms_eval_value_items(TVMS_EVAL_LIST, items, rank + 1);
}

static tvms_eval_value group(method_call *m) {
  tvms_list shape;
  if (!shape_at(m, 0, &shape)) return tvms_reader_failed(m->reader);
  uint32_t *ends = tvms_arena_array(&m->reader->values, uint32_t, shape.len + 1);
  tvms_node *grouped = tvms_layout_group(&m->layouts, m->layout, shape, ends);
  if (!grouped) return refused(m);
  tvms_eval_value pair[] = {tvms_eval_value_node(grouped),
                            ends_value(m->reader, ends, shape.len)};
  return tvms_eval_value_items(TVMS_EVAL_TUPLE,
                               tvms_eval_keep_items(m->reader, pair, 2), 2);
}

// ---- Questions ------------------------------------------------------------------------------

static tvms_eval_value extent_of(method_call *m, bool span) {
  tvms_sym axis;
  if (!axis_at(m, 0, &axis)) return tvms_reader_failed(m->reader);
  tvms_node *tile = tile_of(m->layout);
  if (axis && m->layout->kind == TVMS_NODE_COMPOSE_LAYOUT) {
    m->layouts.why = "a swizzle has no axes";
    return refused(m);
  }
  if (!tile) {
    const tvms_compose_layout *swizzle = tvms_as_compose_layout(m->layout);
    int64_t bits = swizzle->per_element + swizzle->swizzle_len + swizzle->atom_len;
    return tvms_eval_value_node(int32(m->reader, bits < 31 ? INT64_C(1) << bits : 0));
  }
  tvms_node *extent = span ? tvms_layout_span(&m->layouts, tile, axis)
                           : tvms_layout_size(&m->layouts, tile, axis);
  return extent ? tvms_eval_value_node(extent) : refused(m);
}

static tvms_eval_value size(method_call *m) {
  return extent_of(m, false);
}

static tvms_eval_value span(method_call *m) {
  return extent_of(m, true);
}

static tvms_eval_value is_trivial(method_call *m) {
  if (m->layout->kind == TVMS_NODE_COMPOSE_LAYOUT) return tvms_eval_value_bool(false);
  tvms_node *plain = tvms_layout_canonical(&m->layouts, m->layout);
  return plain ? tvms_eval_value_bool(tvms_layout_is_trivial(plain)) : refused(m);
}

static tvms_eval_value is_swizzle(method_call *m) {
  if (m->layout->kind != TVMS_NODE_COMPOSE_LAYOUT) return tvms_eval_value_bool(false);
  tvms_node *tile = tile_of(m->layout);
  if (!tile || tvms_release_has(m->reader->dialect, TVMS_FACT_swizzles_are_layouts))
    return tvms_eval_value_bool(!tile);
  tvms_node *plain = tvms_layout_canonical(&m->layouts, tile);
  return plain ? tvms_eval_value_bool(tvms_layout_is_trivial(plain)) : refused(m);
}

static tvms_eval_value is_trainium(method_call *m) {
  if (m->layout->kind == TVMS_NODE_COMPOSE_LAYOUT) return tvms_eval_value_bool(false);
  tvms_list shard = tvms_as_tile_layout(m->layout)->shard;
  bool other = false;
  for (uint32_t i = 0; i < shard.len; i++) {
    tvms_sym axis = tvms_as_layout_iter(shard.items[i])->axis;
    bool own = axis == TVMS_SYM_F || axis == TVMS_SYM_P || axis == TVMS_SYM_Bank;
    other = other || (!own && !tvms_layout_axis_is_thread(axis));
  }
  return tvms_eval_value_bool(!other);
}

static tvms_eval_value verify_well_formed(method_call *m) {
  tvms_node *tile = tile_of(m->layout);
  int inner, outer;
  bool sound = !tile || tvms_layout_scopes(&m->layouts, tile, &inner, &outer);
  return sound ? tvms_eval_value_bool(true) : refused(m);
}

static tvms_eval_value get_scope(method_call *m) {
  int inner, outer;
  if (!tvms_layout_scopes(&m->layouts, m->layout, &inner, &outer)) return refused(m);
  if (inner < 0) return TVMS_NOTHING;
  tvms_reader_report(m->reader, unsupported, m->ref, "a scope of threads as a value");
  return tvms_reader_failed(m->reader);
}

// ---- Where coordinates go -------------------------------------------------------------------

static tvms_eval_value axes_value(tvms_reader *reader, tvms_list terms) {
  tvms_eval_value *items =
      tvms_arena_array(&reader->values, tvms_eval_value, 2 * terms.len + 1);
  for (uint32_t i = 0; i < terms.len; i++) {
    const tvms_layout_iter *term = tvms_as_layout_iter(terms.items[i]);
    const tvms_name *name = tvms_interner_name(&reader->context->names, term->axis);
    items[2 * i] = tvms_eval_value_text(name->text, name->len);
    items[2 * i + 1] = tvms_eval_value_node(term->stride);
  }
  return tvms_eval_value_items(TVMS_EVAL_DICT, items, 2 * terms.len);
}

static tvms_eval_value apply(method_call *m) {
  tvms_list coord, shape = {0}, result;
  tvms_node *tile = tile_of(m->layout);
  if (m->layout->kind == TVMS_NODE_COMPOSE_LAYOUT) {
    tvms_reader_report(m->reader, unsupported, m->ref,
                       "where a swizzle maps a coordinate");
    return tvms_reader_failed(m->reader);
  }
  if (!shape_at(m, 0, &coord)) return tvms_reader_failed(m->reader);
  bool shaped = m->args[1].kind != TVMS_EVAL_NONE;
  if (shaped && !shape_at(m, 1, &shape)) return tvms_reader_failed(m->reader);
  // Before 0.27 one coordinate has no shape.
  bool linear = coord.len == 1
                && (!shaped
                    || tvms_release_has(m->reader->dialect,
                                        TVMS_FACT_single_coordinates_are_linear));
  if (!linear && shaped && coord.len != shape.len) {
    m->layouts.why = "a coordinate has a number for each dimension";
    return refused(m);
  }
  if (linear) {
    tvms_list extents = tvms_layout_extents(&m->layouts, tile);
    tvms_list parts = tvms_list_copy(m->reader->unit, extents.items, extents.len);
    if (!tvms_layout_split_coord(&m->layouts, coord.items[0], extents, parts.items))
      return refused(m);
    coord = parts;
  } else if (shaped
             && !tvms_layout_spread_coord(&m->layouts, &tile, coord, shape, &coord)) {
    return refused(m);
  }
  if (!tvms_layout_apply(&m->layouts, tile, coord, &result)) return refused(m);
  return axes_value(m->reader, result);
}

static tvms_eval_value apply_to_shape(method_call *m) {
  tvms_list coord, shape, parts;
  tvms_node *tile = tile_of(m->layout);
  if (!shape_at(m, 0, &coord) || !shape_at(m, 1, &shape))
    return tvms_reader_failed(m->reader);
  if (m->layout != tile || coord.len != shape.len) {
    m->layouts.why = "a coordinate has a number for each dimension";
    return refused(m);
  }
  if (!tvms_layout_spread_coord(&m->layouts, &tile, coord, shape, &parts))
    return refused(m);
  tvms_eval_value *items =
      tvms_arena_array(&m->reader->values, tvms_eval_value, parts.len + 1);
  for (uint32_t i = 0; i < parts.len; i++) {
    items[i] = tvms_eval_value_node(parts.items[i]);
  }
  return tvms_eval_value_items(TVMS_EVAL_LIST, items, parts.len);
}

// ---- The table ------------------------------------------------------------------------------

typedef struct {
  tvms_sym name;
  bool tile;  // only tile layouts have it
  const char *signature;
  tvms_eval_value (*call)(method_call *);
} method_row;

static const method_row methods[] = {
    {TVMS_SYM_canonicalize, false, "", canonicalize},
    {TVMS_SYM_tile, false, "outer, outer_shape, inner_shape", tile},
    {TVMS_SYM_tile_to, false, "to_shape, current_shape", tile_to},
    {TVMS_SYM_direct_sum, false, "left, left_shape, right_shape", direct_sum},
    {TVMS_SYM_is_tile_inner, false, "tile_layout, tiled_shape, inner_shape",
     is_tile_inner},
    {TVMS_SYM_is_tile_outer, false, "tile_layout, tiled_shape, outer_shape",
     is_tile_outer},
    {TVMS_SYM_is_direct_sum_right, false, "sum_layout, interleaved_shape, right_shape",
     is_direct_sum_right},
    {TVMS_SYM_is_direct_sum_left, false, "sum_layout, interleaved_shape, left_shape",
     is_direct_sum_left},
    {TVMS_SYM_slice, false, "shape, region", slice},
    {TVMS_SYM_unpack, false, "num", unpack},
    {TVMS_SYM_pack, false, "num", pack},
    {TVMS_SYM_broadcast, false, "num, position=-1, axis='m'", broadcast},
    {TVMS_SYM_storage, false, "", storage},
    {TVMS_SYM_size, false, "axis_name=None", size},
    {TVMS_SYM_span, false, "axis_name=None", span},
    {TVMS_SYM_is_trivial, false, "", is_trivial},
    {TVMS_SYM_is_swizzle, false, "", is_swizzle},
    {TVMS_SYM_is_trainium, false, "", is_trainium},
    {TVMS_SYM_verify_well_formed, false, "", verify_well_formed},
    {TVMS_SYM_apply, false, "*coord, shape=None", apply},
    {TVMS_SYM_apply_to_shape, false, "coord, input_shape", apply_to_shape},
    {TVMS_SYM_permute_dims, true, "perm", permute_dims},
    {TVMS_SYM_permute_by_groups, true, "seps, perm", permute_by_groups},
    {TVMS_SYM_group, true, "shape", group},
    {TVMS_SYM_to_psum, true, "", to_psum},
    {TVMS_SYM_get_scope, true, "", get_scope},
};

static const method_row *method_named(const tvms_node *layout, tvms_sym name) {
  for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
    if (methods[i].name != name) continue;
    bool has = !methods[i].tile || layout->kind == TVMS_NODE_TILE_LAYOUT;
    return has ? &methods[i] : NULL;
  }
  return NULL;
}

bool tvms_tile_layout_has_method(const tvms_node *layout, tvms_sym name) {
  return method_named(layout, name) != NULL;
}

tvms_eval_value tvms_tile_layout_method(tvms_reader *reader, tvms_node *layout,
                                        tvms_sym name, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  const method_row *row = method_named(layout, name);
  if (!tvms_signature_bind_method(reader, row->signature,
                                  tvms_symbol_text(reader->context, name), call,
                                  args)) {
    return tvms_reader_failed(reader);
  }
  method_call m = {.reader = reader, .layout = layout, .args = args, .ref = call};
  m.layouts = tvms_layouts_open(reader->unit);
  tvms_eval_value result = row->call(&m);
  tvms_layouts_close(&m.layouts);
  return result;
}
