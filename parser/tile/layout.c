// Layouts of 0.25 on: T.TileLayout(T.S[(8, 4):(4 @ Axis.laneid, 1)] + T.R[2:1]).
#include "parser/tile/layout.h"

#include "arith/layout.h"
#include "ir/fold.h"
#include "parser/eval/convert.h"
#include "parser/eval/iterate.h"
#include "parser/eval/subscript.h"
#include "parser/tile/handlers.h"
#include "parser/tir/convert.h"

typedef enum {
  PART_EMPTY_SHARD,    // T.S
  PART_EMPTY_REPLICA,  // T.R
  PART_SPEC,           // T.S[…] + T.R[…] + offset
  PART_ON_AXIS,        // `4 @ Axis.laneid`: the only item of `offset`
  PART_OFFSET,         // a sum of these
} spec_state;

// A layout that the text is still writing.
//
// A layout says where the elements of a buffer lie: on which threads, and where in memory
// (arith/layout.h). The text puts it together from parts with operators of Python, and no part
// alone is a layout, so each step is a value of its own (TVMS_EVAL_LAYOUT):
//
//   T.S                              PART_EMPTY_SHARD
//   4 @ Axis.laneid                  PART_ON_AXIS: one term of `offset`, a stride on an axis
//   T.S[(8, 4) : (4 @ Axis.laneid, 1)]           PART_SPEC: two iterators in `shard`
//   … + T.R[2 : 32 @ Axis.laneid]                the same, one in `replica`
//   … + 16                                       the same, a term of `offset` on memory
//   T.TileLayout(…)                  the TILE_LAYOUT, a node
//
// A step makes a new spec; none is changed once it is a value, because a name may hold it. In a
// PART_SPEC the three lists hold LAYOUT_ITER nodes; those of `offset` have no extent. A number
// without an axis is one on memory, axis m. The operators are those of TVM's class _LayoutSpec
// and its like (python/tvm/tirx/layout.py).
typedef struct {
  spec_state state;
  tvms_list shard, replica, offset;
} layout_spec;

static layout_spec *layout_of(tvms_eval_value value) {
  return value.as.object;
}

static layout_spec *spec_new(tvms_reader *reader, spec_state state) {
  layout_spec *spec = tvms_arena_new(&reader->values, layout_spec);
  spec->state = state;
  return spec;
}

static tvms_eval_value spec_value(layout_spec *spec) {
  return (tvms_eval_value){.kind = TVMS_EVAL_LAYOUT, .as.object = spec};
}

static tvms_node *layout_iter(tvms_reader *reader, tvms_node *extent, tvms_node *stride,
                              tvms_sym axis) {
  return tvms_layout_iter_new(reader->unit, extent, stride, axis ? axis : TVMS_SYM_m);
}

// ---- Row-major ------------------------------------------------------------------------------

static tvms_node *one(tvms_reader *reader) {
  return tvms_int_imm_new(reader->unit, TVMS_DTYPE(INT, 32), 1, TVMS_NO_SPAN);
}

// Strides of a dense tensor: products of the extents to the right.
static void dense_strides(tvms_reader *reader, tvms_list extents, tvms_node **strides) {
  tvms_node *stride = one(reader);
  for (uint32_t i = extents.len; i > 0; i--) {
    strides[i - 1] = stride;
    if (i == 1 || !stride) continue;
    stride = tvms_build_binary(reader->unit, TVMS_NODE_MUL, stride,
                               extents.items[i - 1], TVMS_NO_SPAN);
  }
}

// ---- T.S[…], T.R[…] -------------------------------------------------------------------------

tvms_eval_value tvms_call_layout_part(tvms_reader *reader, const tvms_call_args *call) {
  bool shard = call->row->name == TVMS_SYM_S;
  return spec_value(spec_new(reader, shard ? PART_EMPTY_SHARD : PART_EMPTY_REPLICA));
}

static const layout_spec *spec_of(tvms_eval_value value, spec_state state) {
  bool is = value.kind == TVMS_EVAL_LAYOUT && layout_of(value)->state == state;
  return is ? layout_of(value) : NULL;
}

static tvms_eval_value axis_value(tvms_sym axis) {
  return (tvms_eval_value){.kind = TVMS_EVAL_AXIS, .as.sym = axis};
}

bool tvms_tile_layout_axis(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                           tvms_sym *axis) {
  if (value.kind == TVMS_EVAL_AXIS) {
    *axis = value.as.sym;
    return true;
  }
  if (value.kind == TVMS_EVAL_STR) {
    *axis = tvms_symbol_intern(reader->context, value.as.text, value.len);
    return true;
  }
  tvms_eval_report_wrong_type(reader, ref, "an axis", "Axis.name or a string", value);
  return false;
}

// A stride: a number, `number @ axis`, the name of an axis, or a pair of both.
static bool stride_of(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                      tvms_node **stride, tvms_sym *axis) {
  const layout_spec *on_axis = spec_of(value, PART_ON_AXIS);
  *axis = TVMS_SYM_m;
  if (on_axis) {
    const tvms_layout_iter *iter = tvms_as_layout_iter(on_axis->offset.items[0]);
    *stride = iter->stride;
    *axis = iter->axis;
    return true;
  }
  if (value.kind == TVMS_EVAL_STR) {
    *stride = one(reader);
    return tvms_tile_layout_axis(reader, value, ref, axis);
  }
  if (value.kind == TVMS_EVAL_TUPLE && value.len == 2) {
    *stride = tvms_eval_to_expr(reader, value.as.items[0], ref);
    return *stride && tvms_tile_layout_axis(reader, value.as.items[1], ref, axis);
  }
  *stride = tvms_eval_to_expr(reader, value, ref);
  return *stride != NULL;
}

// Extents with their strides; without strides they are dense. What has no partner does
// not count.
static bool iters_of(tvms_reader *reader, tvms_eval_value extents,
                     tvms_eval_value strides, tvms_ref ref, tvms_list *iters) {
  tvms_eval_items sizes = tvms_eval_items_of(&extents);
  tvms_eval_items steps = tvms_eval_items_of(&strides);
  bool dense = strides.kind == TVMS_EVAL_NONE;
  if (!dense && steps.len < sizes.len) sizes.len = steps.len;
  tvms_list list;
  if (!tvms_eval_to_exprs(
          reader, tvms_eval_value_items(TVMS_EVAL_TUPLE, sizes.items, sizes.len), ref,
          &list)) {
    return false;
  }
  tvms_node **made = tvms_arena_array(&reader->values, tvms_node *, sizes.len);
  iters->items = tvms_arena_array(&reader->unit->arena, tvms_node *, sizes.len);
  iters->len = sizes.len;
  if (dense) dense_strides(reader, list, made);
  for (uint32_t i = 0; i < sizes.len; i++) {
    tvms_sym axis = 0;
    if (!dense && !stride_of(reader, steps.items[i], ref, &made[i], &axis))
      return false;
    iters->items[i] = layout_iter(reader, list.items[i], made[i], axis);
  }
  return true;
}

tvms_eval_value tvms_tile_layout_subscript(tvms_reader *reader, tvms_eval_value part,
                                           tvms_eval_value index, tvms_ref ref) {
  bool empty = part.kind == TVMS_EVAL_LAYOUT
               && (layout_of(part)->state == PART_EMPTY_SHARD
                   || layout_of(part)->state == PART_EMPTY_REPLICA);
  if (!empty) {
    return tvms_eval_report_no_subscript(reader, part, ref);
  }
  tvms_eval_value extents = index, strides = TVMS_NOTHING;
  if (index.kind == TVMS_EVAL_SLICE) {
    extents = index.as.items[0];
    strides = index.as.items[1];
  }
  layout_spec *spec = spec_new(reader, PART_SPEC);
  bool shard = layout_of(part)->state == PART_EMPTY_SHARD;
  if (!iters_of(reader, extents, strides, ref, shard ? &spec->shard : &spec->replica)) {
    return tvms_reader_failed(reader);
  }
  return spec_value(spec);
}

// ---- `stride @ axis`, `spec + spec` ---------------------------------------------------------

static tvms_eval_value at_axis(tvms_reader *reader, tvms_eval_value stride,
                               tvms_sym axis, tvms_ref ref) {
  layout_spec *spec = spec_new(reader, PART_ON_AXIS);
  tvms_node *node = tvms_eval_to_expr(reader, stride, ref);
  if (!node) return tvms_reader_failed(reader);
  tvms_node *iter = layout_iter(reader, NULL, node, axis);
  spec->offset = tvms_list_copy(reader->unit, &iter, 1);
  return spec_value(spec);
}

// The offset that a summand is: of an axis, a sum, or a number on the memory axis.
static bool offset_of(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                      tvms_list *offset) {
  if (value.kind == TVMS_EVAL_LAYOUT) {
    *offset = layout_of(value)->offset;
    return true;
  }
  tvms_node *node = tvms_eval_to_expr(reader, value, ref);
  if (!node) return false;
  tvms_node *iter = layout_iter(reader, NULL, node, TVMS_SYM_m);
  *offset = tvms_list_copy(reader->unit, &iter, 1);
  return true;
}

static bool add_offsets(tvms_reader *reader, tvms_eval_value a, tvms_eval_value b,
                        tvms_ref ref, tvms_list *sum) {
  tvms_list left, right;
  if (!offset_of(reader, a, ref, &left) || !offset_of(reader, b, ref, &right)) {
    return false;
  }
  sum->items =
      tvms_arena_array(&reader->unit->arena, tvms_node *, left.len + right.len + 1);
  sum->len = left.len;
  for (uint32_t i = 0; i < left.len; i++) {
    sum->items[i] = left.items[i];
  }
  for (uint32_t i = 0; i < right.len; i++) {
    const tvms_layout_iter *term = tvms_as_layout_iter(right.items[i]);
    uint32_t at = 0;
    while (at < sum->len && tvms_as_layout_iter(sum->items[at])->axis != term->axis) {
      at++;
    }
    tvms_node *total = term->stride;
    if (at < sum->len) {
      total = tvms_build_binary(reader->unit, TVMS_NODE_ADD,
                                tvms_as_layout_iter(sum->items[at])->stride, total,
                                tvms_reader_span_of(reader, ref));
    }
    if (!total) return false;
    sum->items[at] = layout_iter(reader, NULL, total, term->axis);
    if (at == sum->len) sum->len++;
  }
  return true;
}

// Of two specs the first shard and the last replica count.
static tvms_eval_value add_specs(tvms_reader *reader, tvms_eval_value a,
                                 tvms_eval_value b, tvms_ref ref) {
  const layout_spec *left = spec_of(a, PART_SPEC), *right = spec_of(b, PART_SPEC);
  layout_spec *spec = spec_new(reader, left || right ? PART_SPEC : PART_OFFSET);
  // `3 + 4 @ Axis.tx` asks the right one to add the left one.
  bool swapped = !right && a.kind != TVMS_EVAL_LAYOUT;
  if (!add_offsets(reader, swapped ? b : a, swapped ? a : b, ref, &spec->offset)) {
    return tvms_reader_failed(reader);
  }
  if (left || right) {
    spec->shard = left && left->shard.len ? left->shard
                  : right                 ? right->shard
                                          : (tvms_list){0};
    spec->replica = right && right->replica.len ? right->replica
                    : left                      ? left->replica
                                                : (tvms_list){0};
  }
  return spec_value(spec);
}

static bool is_summand(tvms_eval_value value) {
  if (value.kind != TVMS_EVAL_LAYOUT) return value.kind != TVMS_EVAL_AXIS;
  return layout_of(value)->state >= PART_SPEC;
}

tvms_eval_value tvms_tile_layout_operator(tvms_reader *reader, tvms_surf_op op,
                                          tvms_eval_value a, tvms_eval_value b,
                                          tvms_ref ref) {
  if (op == TVMS_OP_MATMUL && b.kind == TVMS_EVAL_AXIS) {
    return at_axis(reader, a, b.as.sym, ref);
  }
  bool same = a.kind == TVMS_EVAL_AXIS && b.kind == TVMS_EVAL_AXIS;
  if (same && (op == TVMS_OP_EQ || op == TVMS_OP_NE || op == TVMS_OP_IS)) {
    return tvms_eval_value_bool((a.as.sym == b.as.sym) == (op != TVMS_OP_NE));
  }
  // An offset before a spec asks nobody who knows specs.
  bool offset_first =
      spec_of(b, PART_SPEC) && a.kind == TVMS_EVAL_LAYOUT && !spec_of(a, PART_SPEC);
  if (op != TVMS_OP_ADD || !is_summand(a) || !is_summand(b) || offset_first) {
    tvms_reader_report(reader, bad_operands, ref, tvms_surface_operator_text(op),
                       tvms_eval_describe(reader, a), tvms_eval_describe(reader, b));
    return tvms_reader_failed(reader);
  }
  return add_specs(reader, a, b, ref);
}

// ---- Layouts --------------------------------------------------------------------------------

tvms_eval_value tvms_call_TileLayout(tvms_reader *reader, const tvms_call_args *call) {
  tvms_eval_value value = call->args[0];
  if (!spec_of(value, PART_SPEC)) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "the argument of T.TileLayout",
                                "T.S[…]", value);
    return tvms_reader_failed(reader);
  }
  layout_spec spec = *layout_of(value);
  tvms_tile_layout *layout =
      tvms_node_make(reader->unit, TILE_LAYOUT, tvms_reader_span_of(reader, call->ref));
  layout->shard = spec.shard;
  layout->replica = spec.replica;
  layout->offset = spec.offset;
  return tvms_eval_value_node(&layout->head);
}

// A swizzle moves whole atoms, and the axes of a layout belong together.
static tvms_eval_value checked_swizzle(tvms_reader *reader, tvms_compose_layout *layout,
                                       tvms_ref ref) {
  const char *why = NULL;
  if (layout->per_element < 0 || layout->swizzle_len < 0
      || layout->atom_len < layout->swizzle_len) {
    why = "the atom of a swizzle must be at least as long as the swizzle";
  } else if (layout->tile_layout) {
    tvms_layouts layouts = tvms_layouts_open(reader->unit);
    int inner, outer;
    bool sound = tvms_layout_scopes(&layouts, layout->tile_layout, &inner, &outer);
    if (!sound) why = layouts.why;
    tvms_layouts_close(&layouts);
  }
  if (!why) return tvms_eval_value_node(&layout->head);
  tvms_reader_report(reader, bad_layout, ref, why);
  return tvms_reader_failed(reader);
}

// Up to 0.25: a swizzle and the tile layout it is composed with.
static tvms_eval_value composed(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *swizzle = tvms_eval_value_node_of(call->args[0], TVMS_NODE_COMPOSE_LAYOUT);
  tvms_node *tile = tvms_eval_value_node_of(call->args[1], TVMS_NODE_TILE_LAYOUT);
  bool bare = swizzle && !tvms_as_compose_layout(swizzle)->tile_layout;
  if (!bare || !tile) {
    tvms_eval_report_wrong_type(reader, call->refs[bare], "a part of this",
                                bare ? "T.TileLayout(…)" : "T.SwizzleLayout(…)",
                                call->args[bare]);
    return tvms_reader_failed(reader);
  }
  tvms_node *layout = tvms_layout_compose_with(reader->unit, swizzle, tile);
  return checked_swizzle(reader, tvms_as_compose_layout(layout), call->ref);
}

static bool read_swizzle(tvms_reader *reader, const tvms_call_args *call,
                         uint32_t inner_at, tvms_compose_layout *layout) {
  bool inner = true;
  bool sound =
      tvms_eval_to_int(reader, call->args[0], call->refs[0], &layout->per_element)
      && tvms_eval_to_int(reader, call->args[1], call->refs[1], &layout->swizzle_len)
      && tvms_eval_to_int(reader, call->args[2], call->refs[2], &layout->atom_len)
      && tvms_eval_to_flag(reader, call->args[inner_at], call->refs[inner_at], &inner);
  layout->swizzle_inner = inner;
  return sound;
}

tvms_eval_value tvms_call_ComposeLayout(tvms_reader *reader,
                                        const tvms_call_args *call) {
  if (tvms_release_has(reader->dialect, TVMS_FACT_swizzles_are_layouts))
    return composed(reader, call);
  tvms_compose_layout *layout = tvms_node_make(reader->unit, COMPOSE_LAYOUT,
                                               tvms_reader_span_of(reader, call->ref));
  layout->tile_layout = tvms_eval_value_node_of(call->args[3], TVMS_NODE_TILE_LAYOUT);
  if (!layout->tile_layout) {
    tvms_eval_report_wrong_type(reader, call->refs[3], "tile_layout", "T.TileLayout(…)",
                                call->args[3]);
    return tvms_reader_failed(reader);
  }
  if (!read_swizzle(reader, call, 4, layout)) return tvms_reader_failed(reader);
  return checked_swizzle(reader, layout, call->ref);
}

tvms_eval_value tvms_call_SwizzleLayout(tvms_reader *reader,
                                        const tvms_call_args *call) {
  tvms_compose_layout *layout = tvms_node_make(reader->unit, COMPOSE_LAYOUT,
                                               tvms_reader_span_of(reader, call->ref));
  if (!read_swizzle(reader, call, 3, layout)) return tvms_reader_failed(reader);
  return checked_swizzle(reader, layout, call->ref);
}

tvms_eval_value tvms_call_layout_iter(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *extent = tvms_eval_to_expr(reader, call->args[0], call->refs[0]);
  tvms_node *stride =
      extent ? tvms_eval_to_expr(reader, call->args[1], call->refs[1]) : NULL;
  tvms_sym axis;
  if (!stride || !tvms_tile_layout_axis(reader, call->args[2], call->refs[2], &axis)) {
    return tvms_reader_failed(reader);
  }
  return tvms_eval_value_node(layout_iter(reader, extent, stride, axis));
}

// Axis.get("name").
tvms_eval_value tvms_call_axis_named(tvms_reader *reader, const tvms_call_args *call) {
  tvms_sym axis;
  if (!tvms_tile_layout_axis(reader, call->args[0], call->refs[0], &axis)) {
    return tvms_reader_failed(reader);
  }
  return axis_value(axis);
}

// T.TileLayout.from_iters([T.Iter(8, 1, "m")], offset={"m": 3}).
static bool read_iters(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                       tvms_list *iters) {
  tvms_eval_items items = {0};
  bool given = value.kind != TVMS_EVAL_NONE;
  if (given && !tvms_eval_iterate(reader, value, ref, &items)) return false;
  *iters = (tvms_list){
      tvms_arena_array(&reader->unit->arena, tvms_node *, items.len + 1), items.len};
  for (uint32_t i = 0; i < items.len; i++) {
    iters->items[i] = tvms_eval_value_node_of(items.items[i], TVMS_NODE_LAYOUT_ITER);
    if (iters->items[i]) continue;
    tvms_eval_report_wrong_type(reader, ref, "a part of a layout", "T.Iter(…)",
                                items.items[i]);
    return false;
  }
  return true;
}

static bool read_offsets(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                         tvms_list *offset) {
  *offset = (tvms_list){0};
  if (value.kind == TVMS_EVAL_NONE) return true;
  if (value.kind != TVMS_EVAL_DICT) {
    tvms_eval_report_wrong_type(reader, ref, "the offset", "a dict of axes", value);
    return false;
  }
  offset->items =
      tvms_arena_array(&reader->unit->arena, tvms_node *, value.len / 2 + 1);
  for (uint32_t i = 0; i < value.len; i += 2) {
    tvms_sym axis;
    tvms_node *term = tvms_eval_to_expr(reader, value.as.items[i + 1], ref);
    if (!term || !tvms_tile_layout_axis(reader, value.as.items[i], ref, &axis))
      return false;
    offset->items[offset->len++] = layout_iter(reader, NULL, term, axis);
  }
  return true;
}

tvms_eval_value tvms_call_layout_from_iters(tvms_reader *reader,
                                            const tvms_call_args *call) {
  tvms_list shard, replica, offset;
  if (!read_iters(reader, call->args[0], call->refs[0], &shard)
      || !read_iters(reader, call->args[1], call->refs[1], &replica)
      || !read_offsets(reader, call->args[2], call->refs[2], &offset)) {
    return tvms_reader_failed(reader);
  }
  return tvms_eval_value_node(
      tvms_tile_layout_new(reader->unit, shard, replica, offset));
}
