// Views of parts of buffers (0.25 on): A.sub[…], A.tile(…)[…], A.chunk(…)[…].
#include "parser/tile/subview.h"

#include "arith/layout.h"
#include "ir/fold.h"
#include "parser/eval/convert.h"
#include "parser/eval/operator.h"
#include "parser/eval/subscript.h"
#include "parser/tile/view.h"
#include "parser/tir/access.h"
#include "parser/tir/convert.h"

static bool constant(const tvms_node *node, int64_t *value) {
  return tvms_view_constant(node, value);
}

// ---- One dimension --------------------------------------------------------------------------

// A buffer's layout, its parts by dimension.
typedef struct {
  const tvms_buffer *buffer;
  tvms_node *layout;
  tvms_node *parts[TVMS_VIEW_DIMS];
  uint32_t ends[TVMS_VIEW_DIMS];
  uint32_t begin, end;  // the parts of the dimension at hand
} grouped;

static bool take_apart(tvms_reader *reader, tvms_node *node, uint32_t dim,
                       grouped *group) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  group->buffer = buffer;
  group->layout = buffer->layout;
  if (!group->layout && !tvms_tir_of(reader)->s_tir) {
    group->layout = tvms_layout_row_major(reader->unit, buffer->shape);
  }
  if (!group->layout || group->layout->kind == TVMS_NODE_OBJECT_NONE) return false;
  if (dim >= buffer->shape.len || buffer->shape.len > TVMS_VIEW_DIMS) return false;
  const tvms_tile_layout *tile = tvms_as_tile_layout(tvms_view_inner(group->layout));
  tvms_list parts;
  if (!tvms_view_group(reader, &tile->head, buffer->shape, &parts, group->ends)) {
    return false;
  }
  for (uint32_t i = 0; i < parts.len; i++) {
    group->parts[i] = parts.items[i];
  }
  group->begin = dim ? group->ends[dim - 1] : 0;
  group->end = group->ends[dim];
  return true;
}

// Whether an offset may go outside a swizzle.
static bool commutes(const tvms_node *layout, tvms_eval_value offset) {
  if (layout->kind != TVMS_NODE_COMPOSE_LAYOUT) return true;
  const tvms_compose_layout *swizzle = tvms_as_compose_layout((tvms_node *)layout);
  if (swizzle->swizzle_len == 0) return true;
  int64_t bits = swizzle->per_element + swizzle->atom_len + swizzle->swizzle_len;
  if (bits < 0 || bits > 62) return false;
  int64_t value, period = INT64_C(1) << bits;
  if (offset.kind == TVMS_EVAL_INT) return offset.as.i % period == 0;
  return offset.kind == TVMS_EVAL_NODE && constant(offset.as.node, &value)
         && value % period == 0;
}

// An offset that does not go outside a swizzle is one of the layout inside of it, in memory.
static bool keep_inside(tvms_reader *reader, tvms_tile_layout *tile,
                        tvms_eval_value offset, tvms_ref ref) {
  tvms_unit *unit = reader->unit;
  tvms_node **items = tvms_arena_array(&unit->arena, tvms_node *, tile->offset.len + 1);
  uint32_t at = tile->offset.len;
  for (uint32_t i = 0; i < tile->offset.len; i++) {
    items[i] = tile->offset.items[i];
    if (tvms_as_layout_iter(items[i])->axis == TVMS_SYM_m) at = i;
  }
  if (at < tile->offset.len) {
    tvms_node *old = tvms_as_layout_iter(items[at])->stride;
    offset =
        tvms_eval_binary(reader, TVMS_OP_ADD, tvms_eval_value_node(old), offset, ref);
  }
  tvms_node *node = tvms_eval_to_expr(reader, offset, ref);
  if (!node) return false;
  items[at] = tvms_layout_iter_new(unit, NULL, node, TVMS_SYM_m);
  tile->offset = (tvms_list){items, at == tile->offset.len ? at + 1 : tile->offset.len};
  return true;
}

// Declares the view with `parts` for its layout, `offset` elements further on.
static tvms_eval_value rebuild(tvms_reader *reader, const grouped *group,
                               tvms_list shape, tvms_node **parts, uint32_t count,
                               tvms_eval_value offset, tvms_ref ref) {
  const tvms_tile_layout *old = tvms_as_tile_layout(tvms_view_inner(group->layout));
  tvms_buffer_form form = tvms_view_form(group->buffer);
  tvms_tile_layout *tile = tvms_node_make(reader->unit, TILE_LAYOUT, TVMS_NO_SPAN);
  tile->shard = tvms_list_copy(reader->unit, parts, count);
  tile->replica = old->replica;
  tile->offset = old->offset;
  form.shape = shape;
  if (!form.data) {  // tensor memory: columns of 32 bits
    tvms_eval_value bits =
        tvms_eval_binary(reader, TVMS_OP_MUL, offset,
                         tvms_eval_value_int(group->buffer->element.bits), ref);
    offset =
        tvms_eval_binary(reader, TVMS_OP_FLOOR_DIV, bits, tvms_eval_value_int(32), ref);
    tvms_eval_value address = tvms_eval_binary(
        reader, TVMS_OP_ADD, tvms_eval_value_node(form.allocated_addr.items[0]), offset,
        ref);
    tvms_node *node = tvms_eval_to_expr(reader, address, ref);
    if (!node) return tvms_reader_failed(reader);
    form.allocated_addr = tvms_list_copy(reader->unit, &node, 1);
  } else if (!commutes(group->layout, offset)
             && tvms_release_has(reader->dialect, TVMS_FACT_views_swizzle_offsets)) {
    if (!keep_inside(reader, tile, offset, ref)) return tvms_reader_failed(reader);
  } else if (!commutes(group->layout, offset)) {
    return tvms_view_report(reader, ref, "the offset does not fit the swizzle");
  } else {
    tvms_eval_value at = tvms_eval_binary(
        reader, TVMS_OP_ADD, tvms_eval_value_node(form.elem_offset), offset, ref);
    form.elem_offset = tvms_eval_to_expr(reader, at, ref);
    if (!form.elem_offset) return tvms_reader_failed(reader);
  }
  form.layout = tvms_view_rewrap(reader, group->layout, &tile->head);
  return tvms_view_declare(reader, &form, ref);
}

static tvms_eval_value times_stride(tvms_reader *reader, tvms_eval_value index,
                                    const tvms_node *part, tvms_ref ref) {
  const tvms_layout_iter *iter = tvms_as_layout_iter((tvms_node *)part);
  return tvms_eval_binary(reader, TVMS_OP_MUL, index,
                          tvms_eval_value_node(iter->stride), ref);
}

// The offset of `index` in a dimension made of several parts.
static tvms_eval_value offset_in(tvms_reader *reader, const grouped *group,
                                 tvms_eval_value index, tvms_ref ref) {
  if (group->end == group->begin + 1) {
    return times_stride(reader, index, group->parts[group->begin], ref);
  }
  tvms_eval_value total = TVMS_NOTHING;
  for (uint32_t i = group->begin; i < group->end; i++) {
    int64_t inner = 1;
    for (uint32_t k = i + 1; k < group->end; k++) {
      int64_t extent;
      if (!constant(tvms_as_layout_iter(group->parts[k])->extent, &extent)) {
        return tvms_view_report(reader, ref, "the layout is symbolic");
      }
      inner *= extent;
    }
    tvms_eval_value at = index;
    if (inner > 1) {
      at = tvms_eval_binary(reader, TVMS_OP_FLOOR_DIV, index,
                            tvms_eval_value_int(inner), ref);
      index =
          tvms_eval_binary(reader, TVMS_OP_MOD, index, tvms_eval_value_int(inner), ref);
    }
    tvms_eval_value term = times_stride(reader, at, group->parts[i], ref);
    total = total.kind == TVMS_EVAL_NONE
                ? term
                : tvms_eval_binary(reader, TVMS_OP_ADD, total, term, ref);
  }
  return total;
}

// The buffer without dimension `dim`, at `index` of it.
static tvms_eval_value drop_dim(tvms_reader *reader, tvms_node *node, uint32_t dim,
                                tvms_eval_value index, tvms_ref ref) {
  grouped group;
  if (!take_apart(reader, node, dim, &group)) {
    return tvms_view_report(reader, ref, "the layout does not follow the shape");
  }
  int64_t extent;
  if (index.kind == TVMS_EVAL_INT && constant(group.buffer->shape.items[dim], &extent)
      && (index.as.i < 0 || index.as.i >= extent)) {
    tvms_eval_report_index(reader, ref,
                           group.buffer->shape.items[dim] ? (uint32_t)extent : 0);
    return tvms_reader_failed(reader);
  }
  tvms_eval_value offset = offset_in(reader, &group, index, ref);
  if (!tvms_eval_value_is_known(offset)) return offset;
  tvms_node *parts[TVMS_VIEW_DIMS], *shape[TVMS_VIEW_DIMS];
  uint32_t count = 0, rank = 0;
  uint32_t all = group.ends[group.buffer->shape.len - 1];
  for (uint32_t i = 0; i < all; i++) {
    if (i < group.begin || i >= group.end) parts[count++] = group.parts[i];
  }
  for (uint32_t i = 0; i < group.buffer->shape.len; i++) {
    if (i != dim) shape[rank++] = group.buffer->shape.items[i];
  }
  return rebuild(reader, &group, tvms_list_copy(reader->unit, shape, rank), parts,
                 count, offset, ref);
}

// `length` elements of dimension `dim` from `start` on.
static tvms_eval_value narrow_dim(tvms_reader *reader, tvms_node *node, uint32_t dim,
                                  tvms_eval_value start, tvms_eval_value length,
                                  tvms_ref ref) {
  grouped group;
  if (!take_apart(reader, node, dim, &group)) {
    return tvms_view_report(reader, ref, "the layout does not follow the shape");
  }
  int64_t inner = 1;
  for (uint32_t i = group.begin + 1; i < group.end; i++) {
    int64_t extent;
    if (!constant(tvms_as_layout_iter(group.parts[i])->extent, &extent)) {
      return tvms_view_report(reader, ref, "the layout is symbolic");
    }
    inner *= extent;
  }
  tvms_node *size = tvms_eval_to_expr(reader, length, ref);
  int64_t first, many, extent;
  if (!size) return tvms_reader_failed(reader);
  bool known = start.kind == TVMS_EVAL_INT && constant(size, &many);
  first = known ? start.as.i : 0;
  bool outside = known && constant(group.buffer->shape.items[dim], &extent)
                 && (first < 0 || many < 1 || first + many > extent);
  if (outside) return tvms_view_report(reader, ref, "the range exceeds the dimension");
  if (inner > 1 && (!known || first % inner || many % inner)) {
    return tvms_view_report(reader, ref, "the range does not follow the layout");
  }
  const tvms_layout_iter *outer = tvms_as_layout_iter(group.parts[group.begin]);
  if (inner > 1) start = tvms_eval_value_int(first / inner);
  tvms_eval_value offset = times_stride(reader, start, group.parts[group.begin], ref);
  tvms_node *extent_node = inner > 1
                               ? tvms_int_imm_new(reader->unit, TVMS_DTYPE(INT, 32),
                                                  many / inner, TVMS_NO_SPAN)
                               : size;
  group.parts[group.begin] =
      tvms_layout_iter_new(reader->unit, extent_node, outer->stride, outer->axis);
  tvms_list shape =
      tvms_list_copy(reader->unit, group.buffer->shape.items, group.buffer->shape.len);
  shape.items[dim] = size;
  return rebuild(reader, &group, shape, group.parts, group.ends[shape.len - 1], offset,
                 ref);
}

// A view in which `count` dims stand in the place of `gone` ones from `dim` on.
static tvms_eval_value reshape_at(tvms_reader *reader, tvms_node *node, uint32_t dim,
                                  uint32_t gone, const tvms_eval_value *dims,
                                  uint32_t count, tvms_ref ref) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  uint32_t rank = buffer->shape.len - gone + count, at = 0;
  tvms_eval_value *shape = tvms_arena_array(&reader->values, tvms_eval_value, rank);
  for (uint32_t i = 0; i < dim; i++) {
    shape[at++] = tvms_eval_value_node(buffer->shape.items[i]);
  }
  for (uint32_t i = 0; i < count; i++) {
    shape[at++] = dims[i];
  }
  for (uint32_t i = dim + gone; i < buffer->shape.len; i++) {
    shape[at++] = tvms_eval_value_node(buffer->shape.items[i]);
  }
  return tvms_view_as(reader, buffer, shape, rank, TVMS_NOTHING, ref);
}

// ---- A.sub[…] -------------------------------------------------------------------------------

static bool is_whole(tvms_eval_value pick) {
  return pick.kind == TVMS_EVAL_SLICE && pick.as.items[0].kind == TVMS_EVAL_NONE
         && pick.as.items[1].kind == TVMS_EVAL_NONE
         && pick.as.items[2].kind == TVMS_EVAL_NONE;
}

// Every `step`-th element: a view that splits the dimension, and one index of it.
static tvms_eval_value stepped(tvms_reader *reader, tvms_node *node, uint32_t dim,
                               tvms_eval_value slice, int64_t step, tvms_ref ref) {
  tvms_eval_value start = slice.as.items[0];
  int64_t extent;
  if (step < 1 || slice.as.items[1].kind != TVMS_EVAL_NONE
      || !constant(tvms_as_buffer(node)->shape.items[dim], &extent) || extent % step) {
    return tvms_view_report(reader, ref, "the step does not divide the dimension");
  }
  if (start.kind == TVMS_EVAL_NONE) start = tvms_eval_value_int(0);
  tvms_eval_value dims[] = {tvms_eval_value_int(extent / step),
                            tvms_eval_value_int(step)};
  tvms_eval_value split = reshape_at(reader, node, dim, 1, dims, 2, ref);
  if (!tvms_eval_value_is_known(split)) return split;
  return drop_dim(reader, split.as.node, dim + 1, start, ref);
}

static tvms_eval_value sub_slice(tvms_reader *reader, tvms_node *node, uint32_t dim,
                                 tvms_eval_value slice, tvms_ref ref) {
  tvms_eval_value start = slice.as.items[0], stop = slice.as.items[1];
  tvms_eval_value step = slice.as.items[2];
  bool plain =
      step.kind == TVMS_EVAL_NONE || (step.kind == TVMS_EVAL_INT && step.as.i == 1);
  if (!plain) {
    int64_t count;
    if (!tvms_eval_to_int(reader, step, ref, &count)) return tvms_reader_failed(reader);
    return stepped(reader, node, dim, slice, count, ref);
  }
  if (start.kind == TVMS_EVAL_NONE) start = tvms_eval_value_int(0);
  if (stop.kind == TVMS_EVAL_NONE) {
    stop = tvms_eval_value_node(tvms_as_buffer(node)->shape.items[dim]);
  }
  tvms_eval_value length = tvms_eval_binary(reader, TVMS_OP_SUB, stop, start, ref);
  return narrow_dim(reader, node, dim, start, length, ref);
}

static tvms_eval_value sub_view(tvms_reader *reader, tvms_node *node,
                                tvms_eval_items picks, tvms_ref ref) {
  uint32_t dim = 0;
  for (uint32_t i = 0; i < picks.len; i++) {
    tvms_eval_value pick = picks.items[i];
    if (dim >= tvms_as_buffer(node)->shape.len) {
      return tvms_view_report(reader, ref, "there are more indices than dimensions");
    }
    if (is_whole(pick)) {
      dim++;
      continue;
    }
    bool slice = pick.kind == TVMS_EVAL_SLICE;
    tvms_eval_value view = slice ? sub_slice(reader, node, dim, pick, ref)
                                 : drop_dim(reader, node, dim, pick, ref);
    if (!tvms_eval_value_is_known(view)) return view;
    node = view.as.node;
    if (slice) dim++;
  }
  return tvms_eval_value_node(node);
}

// ---- A.tile((dim, factors), …)[…] -----------------------------------------------------------

static tvms_eval_value tile_dim(tvms_reader *reader, tvms_node *node, uint32_t dim,
                                tvms_eval_value factors, const tvms_eval_value *picks,
                                tvms_ref ref) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < factors.len; i++) {
    bool slice = picks[i].kind == TVMS_EVAL_SLICE;
    if (slice && !is_whole(picks[i])) {
      return tvms_view_report(reader, ref, "a factor is kept whole, or indexed");
    }
    kept += slice;
  }
  if (kept == factors.len) return tvms_view_report(reader, ref, "no factor is indexed");
  tvms_eval_value view =
      reshape_at(reader, node, dim, 1, factors.as.items, factors.len, ref);
  for (uint32_t i = factors.len; i > 0 && tvms_eval_value_is_known(view); i--) {
    if (picks[i - 1].kind == TVMS_EVAL_SLICE) continue;
    view = drop_dim(reader, view.as.node, dim + i - 1, picks[i - 1], ref);
  }
  if (kept < 2 || !tvms_eval_value_is_known(view)) return view;
  tvms_eval_value rest = tvms_eval_value_int(-1);
  return reshape_at(reader, view.as.node, dim, kept, &rest, 1, ref);
}

static bool read_spec(tvms_reader *reader, const tvms_buffer *buffer,
                      tvms_eval_value spec, tvms_ref ref, uint32_t *dim,
                      tvms_eval_value *factors) {
  int64_t index;
  bool pair = tvms_eval_value_is_sequence(spec) && spec.len == 2
              && tvms_eval_value_is_sequence(spec.as.items[1]) && spec.as.items[1].len;
  if (!pair) {
    tvms_view_report(reader, ref, "tile takes a dimension and its factors");
    return false;
  }
  if (!tvms_eval_to_int(reader, spec.as.items[0], ref, &index)) return false;
  if (index < 0) index += buffer->shape.len;
  if (index < 0 || index >= buffer->shape.len) {
    tvms_view_report(reader, ref, "there is no such dimension");
    return false;
  }
  *dim = (uint32_t)index;
  *factors = spec.as.items[1];
  return true;
}

// The dimensions are tiled from the last to the first, so that the others keep their place.
static tvms_eval_value tile_view(tvms_reader *reader, tvms_node *node,
                                 tvms_eval_value specs, tvms_eval_items picks,
                                 tvms_ref ref) {
  uint32_t dims[TVMS_VIEW_DIMS], begins[TVMS_VIEW_DIMS], at = 0;
  tvms_eval_value factors[TVMS_VIEW_DIMS];
  if (specs.len > TVMS_VIEW_DIMS)
    return tvms_view_report(reader, ref, "too many factors");
  for (uint32_t i = 0; i < specs.len; i++) {
    if (!read_spec(reader, tvms_as_buffer(node), specs.as.items[i], ref, &dims[i],
                   &factors[i])) {
      return tvms_reader_failed(reader);
    }
    begins[i] = at;
    at += factors[i].len;
  }
  if (at != picks.len) {
    return tvms_view_report(reader, ref, "each factor takes one index");
  }
  tvms_eval_value view = tvms_eval_value_node(node);
  for (uint32_t dim = tvms_as_buffer(node)->shape.len; dim > 0; dim--) {
    for (uint32_t i = 0; i < specs.len && tvms_eval_value_is_known(view); i++) {
      if (dims[i] != dim - 1) continue;
      view = tile_dim(reader, view.as.node, dims[i], factors[i],
                      picks.items + begins[i], ref);
    }
  }
  return view;
}

// ---- A.chunk(counts)[…] ---------------------------------------------------------------------

static tvms_eval_value chunk_view(tvms_reader *reader, tvms_node *node,
                                  tvms_eval_value counts, tvms_eval_items picks,
                                  tvms_ref ref) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  if (picks.len > counts.len || counts.len != buffer->shape.len) {
    return tvms_view_report(reader, ref, "chunk takes a count for each dimension");
  }
  tvms_eval_value *indices = tvms_eval_keep_items(reader, picks.items, picks.len);
  for (uint32_t i = 0; i < picks.len; i++) {
    tvms_eval_value count = counts.as.items[i];
    if (count.kind == TVMS_EVAL_NONE) continue;
    tvms_eval_value size =
        tvms_eval_binary(reader, TVMS_OP_FLOOR_DIV,
                         tvms_eval_value_node(buffer->shape.items[i]), count, ref);
    tvms_eval_value next = tvms_eval_binary(reader, TVMS_OP_ADD, picks.items[i],
                                            tvms_eval_value_int(1), ref);
    tvms_eval_value slice[] = {
        tvms_eval_binary(reader, TVMS_OP_MUL, picks.items[i], size, ref),
        tvms_eval_binary(reader, TVMS_OP_MUL, next, size, ref), TVMS_NOTHING};
    indices[i] = tvms_eval_value_items(TVMS_EVAL_SLICE,
                                       tvms_eval_keep_items(reader, slice, 3), 3);
  }
  return tvms_tir_buffer_subscript(
      reader, node, tvms_eval_value_items(TVMS_EVAL_TUPLE, indices, picks.len), ref);
}

// ---- Indexers -------------------------------------------------------------------------------

tvms_eval_value tvms_view_indexer(tvms_reader *reader, tvms_node *buffer, tvms_sym name,
                                  tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  if (!tvms_signature_bind_method(
          reader, "*specs", tvms_symbol_text(reader->context, name), call, args)) {
    return tvms_reader_failed(reader);
  }
  if (!args[0].len) {
    return tvms_view_report(reader, call, "one count per dimension is required");
  }
  tvms_eval_value specs = args[0];
  if (name == TVMS_SYM_chunk) {
    specs = specs.as.items[0];
  } else if (specs.as.items[0].kind == TVMS_EVAL_INT) {
    specs = tvms_eval_value_items(TVMS_EVAL_TUPLE,
                                  tvms_eval_keep_items(reader, &specs, 1), 1);
  }
  if (!tvms_eval_value_is_sequence(specs)) {
    return tvms_view_report(reader, call, "one count per dimension is required");
  }
  tvms_eval_value parts[] = {tvms_eval_value_node(buffer), specs};
  tvms_method *method = tvms_arena_new(&reader->values, tvms_method);
  method->receiver = tvms_arena_new(&reader->values, tvms_eval_value);
  *method->receiver =
      tvms_eval_value_items(TVMS_EVAL_TUPLE, tvms_eval_keep_items(reader, parts, 2), 2);
  method->name = name;
  return (tvms_eval_value){.kind = TVMS_EVAL_INDEXER, .as.method = method};
}

// The index of a view as its items; false if one of them is unknown.
static bool picks_of(tvms_eval_value *index, tvms_eval_items *picks) {
  *picks = tvms_eval_items_of(index);
  for (uint32_t i = 0; i < picks->len; i++) {
    if (!tvms_eval_value_is_known(picks->items[i])) return false;
  }
  return true;
}

tvms_eval_value tvms_view_indexed(tvms_reader *reader, tvms_eval_value object,
                                  tvms_eval_value index, tvms_ref ref) {
  const tvms_method *method = object.as.method;
  const tvms_eval_value *parts = method->receiver->as.items;
  tvms_eval_items picks;
  if (!picks_of(&index, &picks)) return tvms_reader_failed(reader);
  if (!tvms_tir_of(reader)) return tvms_eval_report_no_subscript(reader, object, ref);
  return method->name == TVMS_SYM_tile
             ? tile_view(reader, parts[0].as.node, parts[1], picks, ref)
             : chunk_view(reader, parts[0].as.node, parts[1], picks, ref);
}

tvms_eval_value tvms_view_subscript(tvms_reader *reader, tvms_eval_value method,
                                    tvms_eval_value index, tvms_ref ref) {
  const tvms_method *bound = method.as.method;
  tvms_eval_items picks;
  if (!picks_of(&index, &picks)) return tvms_reader_failed(reader);
  if (tvms_tir_of(reader) && bound->name == TVMS_SYM_sub)
    return sub_view(reader, bound->receiver->as.node, picks, ref);
  return tvms_eval_report_no_subscript(reader, method, ref);
}
