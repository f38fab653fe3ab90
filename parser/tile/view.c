// Views of buffers (0.25 on): A.view(…), A.local(…), A.permute(…), A.rearrange(…). Each
// declares a buffer over the data of another, with a layout that shows the same elements.
#include "parser/tile/view.h"

#include "arith/analyzer.h"
#include "arith/layout_pack.h"
#include "ir/fold.h"
#include "parser/eval/attribute.h"
#include "parser/eval/convert.h"
#include "parser/eval/operator.h"
#include "parser/tile/rearrange.h"
#include "parser/tile/subview.h"
#include "parser/tir/attribute.h"
#include "parser/tir/buffer.h"
#include "parser/tir/buffer_form.h"
#include "parser/tir/call.h"
#include "parser/tir/convert.h"

tvms_eval_value tvms_view_report(tvms_reader *reader, tvms_ref ref, const char *why) {
  tvms_reader_report(reader, bad_view, ref, why);
  return tvms_reader_failed(reader);
}

// The form of a view: what it shares with its parent.
tvms_buffer_form tvms_view_form(const tvms_buffer *parent) {
  tvms_buffer_form form = {.dtype = parent->element,
                           .align = parent->align,
                           .layout = parent->layout,
                           .shape = parent->shape};
  form.scope = tvms_tir_pointer_scope(parent->data);
  if (form.scope == TVMS_SYM_tmem && parent->allocated_addr.len) {
    form.allocated_addr = (tvms_list){parent->allocated_addr.items, 1};
    return form;
  }
  form.data = parent->data;
  form.strides = parent->strides;
  form.elem_offset = parent->elem_offset;
  form.offset_factor = parent->offset_factor;
  return form;
}

tvms_eval_value tvms_view_declare(tvms_reader *reader, const tvms_buffer_form *form,
                                  tvms_ref ref) {
  tvms_node *buffer = tvms_tir_buffer_make(reader, form, ref);
  tvms_tir_emit_decl(reader, buffer, form->data, ref);
  return tvms_eval_value_node(buffer);
}

bool tvms_view_constant(const tvms_node *node, int64_t *value) {
  if (!node || node->kind != TVMS_NODE_INT_IMM) return false;
  *value = tvms_as_int_imm(node)->value;
  return true;
}

// ---- Layouts --------------------------------------------------------------------------------

// The tile layout in a layout, and that again around another one.
tvms_node *tvms_view_inner(tvms_node *layout) {
  return layout->kind == TVMS_NODE_COMPOSE_LAYOUT
             ? tvms_as_compose_layout(layout)->tile_layout
             : layout;
}

tvms_node *tvms_view_rewrap(tvms_reader *reader, const tvms_node *layout,
                            tvms_node *inner) {
  if (layout->kind != TVMS_NODE_COMPOSE_LAYOUT) return inner;
  return tvms_layout_compose_with(reader->unit, layout, inner);
}

// ---- view -----------------------------------------------------------------------------------

// A view has the layout of its parent, also where that is implied by the parent's shape.
static void imply_layout(tvms_reader *reader, const tvms_buffer *parent,
                         tvms_buffer_form *form) {
  if (!form->layout && !tvms_tir_of(reader)->s_tir) {
    form->layout = tvms_layout_row_major(reader->unit, parent->shape);
  }
}

static tvms_eval_value cast_view(tvms_reader *reader, const tvms_buffer *parent,
                                 tvms_dtype dtype, tvms_ref ref) {
  tvms_buffer_form form = tvms_view_form(parent);
  tvms_eval_value offset = tvms_eval_value_node(parent->elem_offset);
  // A truth value takes a byte of memory.
  int from = tvms_dtype_is_bool(parent->element) ? 8 : parent->element.bits;
  int to = tvms_dtype_is_bool(dtype) ? 8 : dtype.bits;
  bool wider = to > from;
  if (!from || !to || (wider ? to % from : from % to) || !parent->shape.len) {
    return tvms_view_report(reader, ref, "one dtype must be a multiple of the other");
  }
  int64_t ratio = wider ? to / from : from / to;
  tvms_surf_op op = wider ? TVMS_OP_FLOOR_DIV : TVMS_OP_MUL;
  form.dtype = dtype;
  form.shape = tvms_list_copy(reader->unit, parent->shape.items, parent->shape.len);
  tvms_node **last = &form.shape.items[form.shape.len - 1];
  tvms_eval_value dim = tvms_eval_binary(reader, op, tvms_eval_value_node(*last),
                                         tvms_eval_value_int(ratio), ref);
  *last = tvms_eval_to_expr(reader, dim, ref);
  if (!*last) return tvms_reader_failed(reader);
  if (form.data) {
    offset = tvms_eval_binary(reader, op, offset, tvms_eval_value_int(ratio), ref);
    form.elem_offset = tvms_eval_to_expr(reader, offset, ref);
  }
  imply_layout(reader, parent, &form);
  // TVM prints views of buffers without a layout, which it does not read.
  if (form.layout && form.layout->kind != TVMS_NODE_OBJECT_NONE) {
    tvms_layouts layouts = tvms_layouts_open(reader->unit);
    form.layout = wider ? tvms_layout_pack(&layouts, form.layout, ratio)
                        : tvms_layout_unpack(&layouts, form.layout, ratio);
    tvms_layouts_close(&layouts);
    if (!form.layout)
      return tvms_view_report(reader, ref, "the layout cannot be packed so");
  }
  return tvms_view_declare(reader, &form, ref);
}

static tvms_eval_value product(tvms_reader *reader, const tvms_eval_value *dims,
                               uint32_t count, uint32_t without, tvms_ref ref) {
  tvms_eval_value result = tvms_eval_value_int(1);
  for (uint32_t i = 0; i < count; i++) {
    if (i == without) continue;
    result = i == 0 || (i == 1 && without == 0)
                 ? dims[i]
                 : tvms_eval_binary(reader, TVMS_OP_MUL, result, dims[i], ref);
  }
  return result;
}

// `-1` for a dimension stands for what remains.
static void infer_dim(tvms_reader *reader, const tvms_buffer *parent,
                      tvms_eval_value *dims, uint32_t count, tvms_ref ref) {
  uint32_t at = count;
  for (uint32_t i = 0; i < count; i++) {
    if (dims[i].kind == TVMS_EVAL_INT && dims[i].as.i == -1) at = i;
  }
  if (at == count) return;
  tvms_eval_value *whole =
      tvms_arena_array(&reader->values, tvms_eval_value, parent->shape.len);
  for (uint32_t i = 0; i < parent->shape.len; i++) {
    whole[i] = tvms_eval_value_node(parent->shape.items[i]);
  }
  dims[at] =
      tvms_eval_binary(reader, TVMS_OP_FLOOR_DIV,
                       product(reader, whole, parent->shape.len, UINT32_MAX, ref),
                       product(reader, dims, count, at, ref), ref);
}

// The parameter `layout` of a view; `fallback` if it is not given.
static bool read_layout(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                        tvms_node **layout) {
  if (value.kind == TVMS_EVAL_NONE) return true;
  if (tvms_eval_value_node_of(value, TVMS_NODE_TILE_LAYOUT)
      || tvms_eval_value_node_of(value, TVMS_NODE_COMPOSE_LAYOUT)) {
    *layout = value.as.node;
    return true;
  }
  tvms_eval_report_wrong_type(reader, ref, "a layout", "T.TileLayout(…)", value);
  return false;
}

tvms_eval_value tvms_view_as(tvms_reader *reader, const tvms_buffer *parent,
                             tvms_eval_value *dims, uint32_t count,
                             tvms_eval_value layout, tvms_ref ref) {
  tvms_buffer_form form = tvms_view_form(parent);
  if (!read_layout(reader, layout, ref, &form.layout))
    return tvms_reader_failed(reader);
  if (layout.kind == TVMS_EVAL_NONE) infer_dim(reader, parent, dims, count, ref);
  imply_layout(reader, parent, &form);
  if (!tvms_eval_to_exprs(reader, tvms_eval_value_items(TVMS_EVAL_TUPLE, dims, count),
                          ref, &form.shape)) {
    return tvms_reader_failed(reader);
  }
  return tvms_view_declare(reader, &form, ref);
}

static tvms_eval_value view(tvms_reader *reader, tvms_node *node, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  const tvms_buffer *parent = tvms_as_buffer(node);
  if (!tvms_signature_bind_method(reader, "*shape, layout=None", "view", call, args)) {
    return tvms_reader_failed(reader);
  }
  tvms_eval_value first = args[0].len ? args[0].as.items[0] : TVMS_NOTHING;
  bool is_dtype = first.kind == TVMS_EVAL_STR || first.kind == TVMS_EVAL_DTYPE;
  if (args[0].len == 1 && is_dtype && args[1].kind == TVMS_EVAL_NONE) {
    tvms_dtype dtype;
    if (!tvms_eval_to_dtype(reader, first, call, &dtype))
      return tvms_reader_failed(reader);
    return cast_view(reader, parent, dtype, call);
  }
  tvms_eval_value *dims = tvms_eval_keep_items(reader, args[0].as.items, args[0].len);
  return tvms_view_as(reader, parent, dims, args[0].len, args[1], call);
}

// ---- local ----------------------------------------------------------------------------------

// How many elements a thread holds of a layout (`sized`), or how far they reach.
static tvms_node *local_extent(tvms_reader *reader, tvms_node *layout, bool sized) {
  tvms_node *inner = tvms_view_inner(layout);
  if (!inner) return NULL;  // a swizzle alone
  tvms_layouts layouts = tvms_layouts_open(reader->unit);
  tvms_node *held = tvms_layout_in_memory(&layouts, inner);
  tvms_node *extent =
      sized ? tvms_layout_size(&layouts, held, 0) : tvms_layout_span(&layouts, held, 0);
  tvms_layouts_close(&layouts);
  return extent;
}

static bool holds(tvms_reader *reader, tvms_list shape, tvms_node *extent,
                  tvms_ref ref) {
  tvms_node *total =
      tvms_int_imm_new(reader->unit, TVMS_DTYPE(INT, 32), 1, TVMS_NO_SPAN);
  for (uint32_t i = 0; total && i < shape.len; i++) {
    total = tvms_build_binary(reader->unit, TVMS_NODE_MUL, total, shape.items[i],
                              tvms_reader_span_of(reader, ref));
  }
  return total && tvms_arith_prove_equal(reader->unit, total, extent);
}

// The layout of what a thread holds; NULL if that is dense and `whole`, as a view without
// layout is.
static tvms_node *held_layout(tvms_reader *reader, tvms_node *layout, bool whole) {
  tvms_node *inner = tvms_view_inner(layout);
  if (!inner) return layout;
  tvms_layouts layouts = tvms_layouts_open(reader->unit);
  tvms_node *held = tvms_layout_in_memory(&layouts, inner);
  tvms_node *plain = tvms_layout_canonical(&layouts, held);
  bool dense = whole && layout == inner && plain && tvms_layout_is_trivial(plain);
  tvms_layouts_close(&layouts);
  return dense ? NULL : tvms_view_rewrap(reader, layout, held);
}

static tvms_eval_value local(tvms_reader *reader, tvms_node *node, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  const tvms_buffer *parent = tvms_as_buffer(node);
  if (!tvms_signature_bind_method(reader, "*shape, layout=None", "local", call, args)) {
    return tvms_reader_failed(reader);
  }
  tvms_buffer_form form = tvms_view_form(parent);
  tvms_node *layout = parent->layout;
  if (!layout && !tvms_tir_of(reader)->s_tir)
    layout = tvms_layout_row_major(reader->unit, parent->shape);
  if (layout && layout->kind == TVMS_NODE_OBJECT_NONE) layout = NULL;
  form.layout = NULL;
  if (!read_layout(reader, args[1], call, &form.layout))
    return tvms_reader_failed(reader);
  // Up to 0.25 the view keeps the layout, and only a shape that is not given follows it.
  bool old = tvms_release_has(reader->dialect, TVMS_FACT_views_keep_layouts);
  bool sized = form.layout || old;
  tvms_node *extent = layout ? local_extent(reader, layout, sized) : NULL;
  if (!extent && !(args[0].len && form.layout)) {
    return tvms_view_report(reader, call, "the layout does not tell how much there is");
  }
  form.shape = tvms_list_copy(reader->unit, &extent, 1);
  if (args[0].len && !tvms_eval_to_exprs(reader, args[0], call, &form.shape)) {
    return tvms_reader_failed(reader);
  }
  if (old && !form.layout) {
    form.layout = held_layout(reader, layout, holds(reader, form.shape, extent, call));
  }
  if (args[0].len && !sized && !holds(reader, form.shape, extent, call)) {
    return tvms_view_report(reader, call,
                            "a thread holds a different number of elements");
  }
  return tvms_view_declare(reader, &form, call);
}

// ---- permute --------------------------------------------------------------------------------

bool tvms_view_group(tvms_reader *reader, const tvms_node *tile, tvms_list shape,
                     tvms_list *parts, uint32_t *ends) {
  tvms_layouts layouts = tvms_layouts_open(reader->unit);
  tvms_node *grouped = tvms_layout_group(&layouts, tile, shape, ends);
  tvms_layouts_close(&layouts);
  if (!grouped) return false;
  *parts = tvms_as_tile_layout(grouped)->shard;
  return parts->len <= TVMS_VIEW_DIMS;
}

static tvms_node *permuted(tvms_reader *reader, tvms_node *layout, tvms_list shape,
                           const uint32_t *dims) {
  const tvms_tile_layout *tile = tvms_as_tile_layout(tvms_view_inner(layout));
  tvms_list parts;
  uint32_t ends[TVMS_VIEW_DIMS];
  if (shape.len > TVMS_VIEW_DIMS
      || !tvms_view_group(reader, &tile->head, shape, &parts, ends)) {
    return NULL;
  }
  tvms_node *ordered[TVMS_VIEW_DIMS];
  uint32_t count = 0;
  for (uint32_t i = 0; i < shape.len; i++) {
    uint32_t begin = dims[i] ? ends[dims[i] - 1] : 0;
    for (uint32_t k = begin; k < ends[dims[i]]; k++) {
      ordered[count++] = parts.items[k];
    }
  }
  tvms_list shard = tvms_list_copy(reader->unit, ordered, count);
  return tvms_view_rewrap(
      reader, layout,
      tvms_tile_layout_new(reader->unit, shard, tile->replica, tile->offset));
}

tvms_eval_value tvms_view_permute(tvms_reader *reader, const tvms_buffer *parent,
                                  const uint32_t *dims, tvms_ref ref) {
  tvms_buffer_form form = tvms_view_form(parent);
  uint32_t count = parent->shape.len;
  form.shape =
      (tvms_list){tvms_arena_array(&reader->unit->arena, tvms_node *, count), count};
  for (uint32_t i = 0; i < count; i++) {
    form.shape.items[i] = parent->shape.items[dims[i]];
  }
  tvms_node *layout = parent->layout;
  if (!layout && !tvms_tir_of(reader)->s_tir)
    layout = tvms_layout_row_major(reader->unit, parent->shape);
  if (!layout || layout->kind == TVMS_NODE_OBJECT_NONE) {
    return tvms_view_report(reader, ref, "the buffer has no layout");
  }
  form.layout = permuted(reader, layout, parent->shape, dims);
  if (!form.layout)
    return tvms_view_report(reader, ref, "the layout does not follow the shape");
  return tvms_view_declare(reader, &form, ref);
}

static tvms_eval_value permute(tvms_reader *reader, tvms_node *node, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  const tvms_buffer *parent = tvms_as_buffer(node);
  uint32_t dims[TVMS_VIEW_DIMS];
  uint64_t seen = 0;
  if (!tvms_signature_bind_method(reader, "*dims", "permute", call, args))
    return tvms_reader_failed(reader);
  bool sound = args[0].len == parent->shape.len && args[0].len <= TVMS_VIEW_DIMS;
  for (uint32_t i = 0; sound && i < args[0].len; i++) {
    int64_t dim;
    if (!tvms_eval_to_int(reader, args[0].as.items[i], call, &dim))
      return tvms_reader_failed(reader);
    sound = dim >= 0 && dim < parent->shape.len && !(seen >> dim & 1);
    if (sound) seen |= UINT64_C(1) << dim;
    dims[i] = (uint32_t)dim;
  }
  if (!sound)
    return tvms_view_report(reader, call, "each dimension must be given once");
  return tvms_view_permute(reader, parent, dims, call);
}

// ---- Methods -----------------------------------------------------------------------------------

bool tvms_view_has_method(const tvms_reader *reader, tvms_sym name) {
  static const tvms_sym methods[] = {
      TVMS_SYM_view, TVMS_SYM_local, TVMS_SYM_permute, TVMS_SYM_rearrange,
      TVMS_SYM_sub,  TVMS_SYM_tile,  TVMS_SYM_chunk,
  };
  for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
    if (methods[i] == name)
      return tvms_tir_has_attribute(reader, TVMS_NODE_BUFFER, name);
  }
  return false;
}

tvms_eval_value tvms_view_method(tvms_reader *reader, tvms_node *buffer, tvms_sym name,
                                 tvms_ref call) {
  switch (tvms_tir_of(reader) ? name : 0) {
  case TVMS_SYM_view: return view(reader, buffer, call);
  case TVMS_SYM_local: return local(reader, buffer, call);
  case TVMS_SYM_permute: return permute(reader, buffer, call);
  case TVMS_SYM_rearrange: return tvms_view_rearrange(reader, buffer, call);
  case TVMS_SYM_tile:
  case TVMS_SYM_chunk: return tvms_view_indexer(reader, buffer, name, call);
  default:
    return tvms_eval_report_no_attribute(reader, tvms_eval_value_node(buffer), name,
                                         call);
  }
}
