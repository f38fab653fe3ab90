// Layouts of 0.25 on: T.TileLayout(T.S[(8, 4):(4 @ Axis.laneid, 1)] + T.R[2:1]).
#include "parser/tir_layout.h"

#include "ir/fold.h"
#include "ir/object.h"
#include "parser/eval_internal.h"
#include "parser/tir_stmt.h"

#include <string.h>

typedef enum {
  PART_EMPTY_SHARD,
  PART_EMPTY_REPLICA,
  PART_SPEC,
  PART_STRIDE,
} spec_state;

// A spec under construction: the parts written so far.
struct tvms_layout_spec {
  spec_state state;
  tvms_list shard, replica, offset;
  tvms_node *stride;  // STRIDE: `4 @ Axis.laneid`
  tvms_sym axis;
};

static tvms_layout_spec *spec_new(tvms_reader *reader, spec_state state) {
  tvms_layout_spec *spec = tvms_arena_new(&reader->values, tvms_layout_spec);
  spec->state = state;
  return spec;
}

static tvms_value spec_value(tvms_layout_spec *spec) {
  return (tvms_value){.kind = TVMS_VALUE_LAYOUT, .as.layout = spec};
}

static tvms_node *layout_iter(tvms_reader *reader, tvms_node *extent, tvms_node *stride,
                              tvms_sym axis) {
  tvms_layout_iter *iter = tvms_make(reader->unit, LAYOUT_ITER, TVMS_NO_SPAN);
  iter->extent = extent;
  iter->stride = stride;
  iter->axis = axis ? axis : TVMS_SYM_m;
  return &iter->head;
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

tvms_node *tvms_row_major(tvms_reader *reader, tvms_list shape) {
  tvms_tile_layout *layout = tvms_make(reader->unit, TILE_LAYOUT, TVMS_NO_SPAN);
  tvms_node **strides = tvms_arena_array(&reader->values, tvms_node *, shape.len);
  tvms_node **iters = tvms_arena_array(&reader->unit->arena, tvms_node *, shape.len);
  dense_strides(reader, shape, strides);
  for (uint32_t i = 0; i < shape.len; i++) {
    iters[i] = layout_iter(reader, shape.items[i], strides[i], 0);
  }
  layout->shard = (tvms_list){iters, shape.len};
  return &layout->head;
}

// ---- Trainium -------------------------------------------------------------------------------

enum { PARTITIONS = 128, BANK_ELEMENTS = 512, MOST_DIMS = 16 };

typedef struct {
  tvms_reader *reader;
  tvms_node *iters[2 * MOST_DIMS];
  uint32_t count;
} iter_list;

static void push_iter(iter_list *list, int64_t extent, int64_t stride,
                      const char *axis) {
  tvms_unit *unit = list->reader->unit;
  tvms_sym name = tvms_symbol(list->reader->context, axis, strlen(axis));
  list->iters[list->count++] = layout_iter(
      list->reader, tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), extent, TVMS_NO_SPAN),
      tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), stride, TVMS_NO_SPAN), name);
}

// A free dimension; in psum banks of 512 elements come first. False if they do not fit.
static bool push_free(iter_list *list, int64_t extent, int64_t stride, bool psum) {
  if (!psum) {
    push_iter(list, extent, stride, "F");
    return true;
  }
  if (stride % BANK_ELEMENTS == 0) {
    push_iter(list, extent, stride / BANK_ELEMENTS, "Bank");
    return true;
  }
  if (stride == 0 || BANK_ELEMENTS % stride != 0) return false;
  int64_t in_bank = BANK_ELEMENTS / stride;
  if (extent < in_bank) {
    push_iter(list, extent, stride, "F");
    return true;
  }
  if (extent % in_bank != 0) return false;
  push_iter(list, extent / in_bank, 1, "Bank");
  push_iter(list, in_bank, stride, "F");
  return true;
}

// "PF", "FPF" …: which dimensions lie across partitions, and which along them.
static tvms_node *trainium_layout(tvms_reader *reader, const char *axes,
                                  tvms_list shape, bool psum) {
  iter_list list = {.reader = reader};
  int64_t dims[MOST_DIMS], free = 1, across = 1;
  uint32_t partitioned = 0;
  if (strlen(axes) != shape.len || shape.len > MOST_DIMS) return NULL;
  for (uint32_t i = 0; i < shape.len; i++) {
    if (shape.items[i]->kind != TVMS_NODE_INT_IMM) return NULL;
    if (axes[i] != 'P' && axes[i] != 'F') return NULL;
    dims[i] = tvms_as_int_imm(shape.items[i])->value;
    if (axes[i] == 'F') free *= dims[i];
    if (axes[i] == 'P') across *= dims[i];
    partitioned += axes[i] == 'P';
  }
  bool split = partitioned == 1 && across > PARTITIONS;
  if (across > PARTITIONS && (!split || across % PARTITIONS != 0)) return NULL;
  int64_t outermost = free;
  for (uint32_t i = 0; i < shape.len; i++) {
    if (axes[i] == 'F') {
      free /= dims[i] ? dims[i] : 1;
      if (!push_free(&list, dims[i], free, psum)) return NULL;
    } else if (split) {
      if (!push_free(&list, across / PARTITIONS, outermost, psum)) return NULL;
      push_iter(&list, PARTITIONS, 1, "P");
    } else {
      across /= dims[i] ? dims[i] : 1;
      push_iter(&list, dims[i], across, "P");
    }
  }
  tvms_tile_layout *layout = tvms_make(reader->unit, TILE_LAYOUT, TVMS_NO_SPAN);
  layout->shard = tvms_list_copy(reader->unit, list.iters, list.count);
  return &layout->head;
}

// ---- T.S[…], T.R[…] -------------------------------------------------------------------------

tvms_value tvms_call_layout_part(tvms_reader *reader, const tvms_call_args *call) {
  bool shard = call->row->name == TVMS_SYM_S;
  return spec_value(spec_new(reader, shard ? PART_EMPTY_SHARD : PART_EMPTY_REPLICA));
}

// A stride: a number, or `number @ axis`.
static bool stride_of(tvms_reader *reader, tvms_value value, tvms_ref ref,
                      tvms_node **stride, tvms_sym *axis) {
  *axis = 0;
  if (value.kind == TVMS_VALUE_LAYOUT && value.as.layout->state == PART_STRIDE) {
    *stride = value.as.layout->stride;
    *axis = value.as.layout->axis;
    return true;
  }
  *stride = tvms_to_expr(reader, value, ref);
  return *stride != NULL;
}

// Extents with their strides; without strides they are dense.
static bool iters_of(tvms_reader *reader, tvms_value extents, tvms_value strides,
                     tvms_ref ref, tvms_list *iters) {
  tvms_items sizes = tvms_items_of(&extents);
  tvms_items steps = tvms_items_of(&strides);
  bool dense = strides.kind == TVMS_VALUE_NONE;
  if (!dense && steps.len != sizes.len) {
    tvms_complain(reader, cannot_unpack, ref, sizes.len, steps.len);
    return false;
  }
  tvms_list list;
  if (!tvms_to_exprs(reader, tvms_value_items(TVMS_VALUE_TUPLE, sizes.items, sizes.len),
                     ref, &list)) {
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

tvms_value tvms_layout_subscript(tvms_reader *reader, tvms_value part, tvms_value index,
                                 tvms_ref ref) {
  bool empty = part.kind == TVMS_VALUE_LAYOUT
               && (part.as.layout->state == PART_EMPTY_SHARD
                   || part.as.layout->state == PART_EMPTY_REPLICA);
  if (!empty) {
    tvms_complain(reader, no_subscript, ref, tvms_describe_value(reader, part));
    return tvms_failed(reader);
  }
  tvms_value extents = index, strides = TVMS_NOTHING;
  if (index.kind == TVMS_VALUE_SLICE) {
    extents = index.as.items[0];
    strides = index.as.items[1];
  }
  tvms_layout_spec *spec = spec_new(reader, PART_SPEC);
  bool shard = part.as.layout->state == PART_EMPTY_SHARD;
  if (!iters_of(reader, extents, strides, ref, shard ? &spec->shard : &spec->replica)) {
    return tvms_failed(reader);
  }
  return spec_value(spec);
}

// ---- `stride @ axis`, `spec + spec` ---------------------------------------------------------

static tvms_value at_axis(tvms_reader *reader, tvms_value stride, tvms_sym axis,
                          tvms_ref ref) {
  tvms_layout_spec *spec = spec_new(reader, PART_STRIDE);
  spec->stride = tvms_to_expr(reader, stride, ref);
  spec->axis = axis;
  return spec->stride ? spec_value(spec) : tvms_failed(reader);
}

static tvms_list join(tvms_reader *reader, tvms_list a, tvms_list b) {
  if (!b.len) return a;
  tvms_list joined = {
      tvms_arena_array(&reader->unit->arena, tvms_node *, a.len + b.len),
      a.len + b.len};
  if (a.len) memcpy(joined.items, a.items, a.len * sizeof *a.items);
  memcpy(joined.items + a.len, b.items, b.len * sizeof *b.items);
  return joined;
}

// A summand that is no spec: an offset, `3 @ Axis.tx` or a number on the axis m.
static bool as_spec(tvms_reader *reader, tvms_value value, tvms_ref ref,
                    tvms_layout_spec *spec) {
  if (value.kind == TVMS_VALUE_LAYOUT && value.as.layout->state == PART_SPEC) {
    *spec = *value.as.layout;
    return true;
  }
  tvms_sym axis;
  tvms_node *stride;
  *spec = (tvms_layout_spec){.state = PART_SPEC};
  if (!stride_of(reader, value, ref, &stride, &axis)) return false;
  tvms_node *iter = layout_iter(reader, NULL, stride, axis);
  spec->offset = tvms_list_copy(reader->unit, &iter, 1);
  return true;
}

tvms_value tvms_layout_operator(tvms_reader *reader, tvms_surf_op op, tvms_value a,
                                tvms_value b, tvms_ref ref) {
  if (op == TVMS_OP_MATMUL && b.kind == TVMS_VALUE_AXIS) {
    return at_axis(reader, a, b.as.sym, ref);
  }
  tvms_layout_spec left, right;
  if (op != TVMS_OP_ADD) {
    tvms_complain(reader, bad_operands, ref, tvms_operator_spelling(op),
                  tvms_describe_value(reader, a), tvms_describe_value(reader, b));
    return tvms_failed(reader);
  }
  if (!as_spec(reader, a, ref, &left) || !as_spec(reader, b, ref, &right)) {
    return tvms_failed(reader);
  }
  tvms_layout_spec *spec = spec_new(reader, PART_SPEC);
  spec->shard = join(reader, left.shard, right.shard);
  spec->replica = join(reader, left.replica, right.replica);
  spec->offset = join(reader, left.offset, right.offset);
  return spec_value(spec);
}

// ---- Layouts --------------------------------------------------------------------------------

tvms_value tvms_call_TileLayout(tvms_reader *reader, const tvms_call_args *call) {
  tvms_value value = call->args[0];
  if (value.kind != TVMS_VALUE_LAYOUT || value.as.layout->state != PART_SPEC) {
    tvms_wrong_type(reader, call->refs[0], "what T.TileLayout takes", "T.S[…]", value);
    return tvms_failed(reader);
  }
  tvms_layout_spec spec = *value.as.layout;
  tvms_tile_layout *layout =
      tvms_make(reader->unit, TILE_LAYOUT, tvms_span_of(reader, call->ref));
  layout->shard = spec.shard;
  layout->replica = spec.replica;
  layout->offset = spec.offset;
  return tvms_value_node(&layout->head);
}

tvms_value tvms_call_ComposeLayout(tvms_reader *reader, const tvms_call_args *call) {
  tvms_compose_layout *layout =
      tvms_make(reader->unit, COMPOSE_LAYOUT, tvms_span_of(reader, call->ref));
  bool inner = true;
  if (reader->dialect < TVMS_DIALECT_26) {
    // Up to 0.25: a swizzle and the tile layout it is composed with.
    tvms_node *swizzle = tvms_value_node_of(call->args[0], TVMS_NODE_COMPOSE_LAYOUT);
    layout->tile_layout = tvms_value_node_of(call->args[1], TVMS_NODE_TILE_LAYOUT);
    if (!swizzle || !layout->tile_layout) return tvms_failed(reader);
    tvms_node *tile = layout->tile_layout;
    *layout = *tvms_as_compose_layout(swizzle);
    layout->tile_layout = tile;
    return tvms_value_node(&layout->head);
  }
  layout->tile_layout = tvms_value_node_of(call->args[3], TVMS_NODE_TILE_LAYOUT);
  if (!layout->tile_layout
      || !tvms_to_int(reader, call->args[0], call->refs[0], &layout->per_element)
      || !tvms_to_int(reader, call->args[1], call->refs[1], &layout->swizzle_len)
      || !tvms_to_int(reader, call->args[2], call->refs[2], &layout->atom_len)
      || !tvms_to_flag(reader, call->args[4], call->refs[4], &inner)) {
    return tvms_failed(reader);
  }
  layout->swizzle_inner = inner;
  return tvms_value_node(&layout->head);
}

tvms_value tvms_call_SwizzleLayout(tvms_reader *reader, const tvms_call_args *call) {
  tvms_compose_layout *layout =
      tvms_make(reader->unit, COMPOSE_LAYOUT, tvms_span_of(reader, call->ref));
  bool inner = true;
  if (!tvms_to_int(reader, call->args[0], call->refs[0], &layout->per_element)
      || !tvms_to_int(reader, call->args[1], call->refs[1], &layout->swizzle_len)
      || !tvms_to_int(reader, call->args[2], call->refs[2], &layout->atom_len)
      || !tvms_to_flag(reader, call->args[3], call->refs[3], &inner)) {
    return tvms_failed(reader);
  }
  layout->swizzle_inner = inner;
  return tvms_value_node(&layout->head);
}

tvms_value tvms_call_layout_iter(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *extent = tvms_to_expr(reader, call->args[0], call->refs[0]);
  tvms_node *stride =
      extent ? tvms_to_expr(reader, call->args[1], call->refs[1]) : NULL;
  tvms_value axis = call->args[2];
  if (!stride) return tvms_failed(reader);
  tvms_sym name = axis.kind == TVMS_VALUE_AXIS ? axis.as.sym : 0;
  if (axis.kind == TVMS_VALUE_STR) {
    name = tvms_symbol(reader->context, axis.as.text, axis.len);
  }
  return tvms_value_node(layout_iter(reader, extent, stride, name));
}

bool tvms_layout_argument(tvms_reader *reader, const tvms_call_args *call,
                          tvms_buffer_form *form) {
  tvms_value layout = tvms_arg(reader, call, TVMS_SYM_layout);
  tvms_ref ref = tvms_arg_ref(reader, call, TVMS_SYM_layout);
  bool s_tir = reader->dialect < TVMS_DIALECT_25 || (reader->tir && reader->tir->s_tir);
  if (layout.kind == TVMS_VALUE_NONE) {
    if (!s_tir && tvms_arg_given(reader, call, TVMS_SYM_layout)) {
      form->layout = tvms_object_none_new(reader->unit, tvms_span_of(reader, ref));
    }
    return true;
  }
  if (layout.kind == TVMS_VALUE_STR) {
    const char *scope = tvms_text(reader->context, form->scope);
    bool trainium = strcmp(scope, "trn.sbuf") == 0 || strcmp(scope, "trn.psum") == 0;
    bool is_default = layout.len == 7 && memcmp(layout.as.text, "default", 7) == 0;
    if (trainium && !is_default) {
      form->layout = trainium_layout(reader, layout.as.text, form->shape,
                                     strcmp(scope, "trn.psum") == 0);
      if (form->layout) return true;
      tvms_wrong_type(reader, ref, "the layout of a buffer of Trainium",
                      "a letter P or F for each dimension that fits", layout);
      return false;
    }
    if (trainium && !s_tir) {
      form->layout = tvms_object_none_new(reader->unit, tvms_span_of(reader, ref));
    }
    return true;
  }
  if (tvms_value_node_of(layout, TVMS_NODE_TILE_LAYOUT)
      || tvms_value_node_of(layout, TVMS_NODE_COMPOSE_LAYOUT)) {
    form->layout = layout.as.node;
    return true;
  }
  tvms_wrong_type(reader, ref, "a layout", "T.TileLayout(…) or None", layout);
  return false;
}

tvms_value tvms_layout_method(tvms_reader *reader, tvms_value layout, tvms_sym name,
                              tvms_ref call) {
  tvms_complain(reader, unknown_attribute, call, tvms_describe_value(reader, layout),
                tvms_text(reader->context, name));
  return tvms_failed(reader);
}

tvms_value tvms_layout_node_method(tvms_reader *reader, tvms_node *layout,
                                   tvms_sym name, tvms_ref call) {
  return tvms_layout_method(reader, tvms_value_node(layout), name, call);
}
