// Descriptions of operators that move elements, and of those that make tensors of nothing.
//
// Each element of the result is one of the argument, or a constant. Where it comes from is
// index arithmetic, simplified where topi simplifies it.
#include "te/legalize_shape.h"

#include "ir/fold_ops.h"
#include "te/legalizers.h"

#include <string.h>

static tvms_memory *memory_of(tvms_te *te) {
  return &te->unit->context->memory;
}

static tvms_node *build(tvms_te *te, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return a && b ? tvms_build_binary(te->unit, kind, a, b, TVMS_NO_SPAN) : NULL;
}

bool tvms_legalize_permute_dims(tvms_legal *legal) {
  legal->name = "transpose";
  tvms_te *te = &legal->te;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_list from = tvms_te_shape(x);
  tvms_list axes = tvms_attr_list(legal->call, TVMS_ATTR_opt_axes_axes);
  bool reverse = !tvms_attr(legal->call, TVMS_ATTR_opt_axes_axes);
  tvms_node **shape = tvms_arena_array(&te->unit->arena, tvms_node *, from.len);
  uint32_t *places = tvms_arena_array(&te->unit->arena, uint32_t, from.len);
  for (uint32_t i = 0; i < from.len; i++) {
    places[i] = reverse ? from.len - 1 - i
                        : tvms_legal_axis(tvms_attr_item_int(axes.items[i]), from.len);
    shape[i] = from.items[places[i]];
  }
  tvms_stage stage;
  tvms_te_open(te, &stage, (tvms_list){shape, from.len}, "ax");
  tvms_node **indices = tvms_arena_array(&te->unit->arena, tvms_node *, from.len);
  for (uint32_t i = 0; i < from.len; i++)
    indices[places[i]] = stage.axes.items[i];
  tvms_node *value = tvms_te_load(te, x, indices, from.len);
  return tvms_legal_return(legal, tvms_te_close(&stage, "T_transpose", value));
}

static bool are_known(tvms_list dims) {
  for (uint32_t i = 0; i < dims.len; i++) {
    if (!tvms_node_is_int_imm(dims.items[i])) return false;
  }
  return true;
}

static bool reshape(tvms_legal *legal, bool inside) {
  legal->name = "reshape";
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_list shape;
  if (!tvms_legal_shape(legal, tvms_legal_arg(legal, 1), &shape)) return false;
  bool groups = inside && x && !are_known(tvms_te_shape(x));
  return tvms_legal_return(legal, groups
                                      ? tvms_te_reshape_in_groups(&legal->te, x, shape)
                                      : tvms_te_reshape(&legal->te, x, shape));
}

bool tvms_legalize_reshape(tvms_legal *legal) {
  return reshape(legal, false);
}

bool tvms_legalize_reshape_inside(tvms_legal *legal) {
  return reshape(legal, true);
}

bool tvms_legalize_flatten(tvms_legal *legal) {
  legal->name = "reshape";
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_list shape;
  if (!tvms_legal_result_shape(legal, &shape)) return false;
  return tvms_legal_return(legal, tvms_te_reshape(&legal->te, x, shape));
}

bool tvms_legalize_broadcast_to(tvms_legal *legal) {
  legal->name = "broadcast_to";
  tvms_te *te = &legal->te;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_list shape;
  if (!tvms_legal_shape(legal, tvms_legal_arg(legal, 1), &shape)) return false;
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "ax");
  tvms_node *value = tvms_te_broadcast_load(te, x, shape, stage.axes.items);
  return tvms_legal_return(legal, tvms_te_close(&stage, "T_broadcast_to", value));
}

bool tvms_legalize_expand_dims(tvms_legal *legal) {
  legal->name = "expand_dims";
  tvms_te *te = &legal->te;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_list axes = tvms_attr_list(legal->call, TVMS_ATTR_axis_list_axis);
  uint32_t rank = tvms_te_shape(x).len + axes.len;
  bool *added = tvms_legal_axes(legal, rank, axes, false);
  tvms_node **shape = tvms_arena_array(&te->unit->arena, tvms_node *, rank);
  for (uint32_t i = 0, from = 0; i < rank; i++) {
    shape[i] = added[i] ? tvms_te_index(te, 1) : tvms_te_shape(x).items[from++];
  }
  tvms_stage stage;
  tvms_te_open(te, &stage, (tvms_list){shape, rank}, "i");
  tvms_node_vec indices = {0};
  for (uint32_t i = 0; i < rank; i++) {
    if (!added[i]) tvms_vec_push(memory_of(te), &indices, stage.axes.items[i]);
  }
  tvms_node *value = tvms_te_load(te, x, indices.items, indices.len);
  tvms_vec_fini(memory_of(te), &indices);
  return tvms_legal_return(legal, tvms_te_close(&stage, "expand_dims", value));
}

bool tvms_legalize_squeeze(tvms_legal *legal) {
  legal->name = "squeeze";
  tvms_te *te = &legal->te;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_list from = tvms_te_shape(x);
  tvms_list axes = tvms_attr_list(legal->call, TVMS_ATTR_opt_axis_list_axis);
  bool *gone = tvms_legal_axes(legal, from.len, axes, false);
  bool given = tvms_attr(legal->call, TVMS_ATTR_opt_axis_list_axis) != NULL;
  for (uint32_t i = 0; i < from.len; i++) {
    bool one = tvms_node_is_int(from.items[i], 1);
    // An axis that is known to be longer stays, though it was asked for.
    gone[i] = given ? gone[i] && (one || !tvms_node_is_int_imm(from.items[i])) : one;
  }
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_te_reduced_shape(te, from, gone, false), "ax");
  tvms_node **indices = tvms_arena_array(&te->unit->arena, tvms_node *, from.len);
  for (uint32_t i = 0, at = 0; i < from.len; i++) {
    indices[i] = gone[i] ? tvms_te_index(te, 0) : stage.axes.items[at++];
  }
  tvms_node *value = tvms_te_load(te, x, indices, from.len);
  return tvms_legal_return(legal, tvms_te_close(&stage, "T_squeeze", value));
}

static bool full(tvms_legal *legal, const char *name, tvms_list shape, double value) {
  legal->name = name;
  tvms_te *te = &legal->te;
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "ax");
  tvms_node *element = tvms_te_const(te, tvms_legal_result_dtype(legal), value);
  return tvms_legal_return(legal, tvms_te_close(&stage, "T_full", element));
}

static bool full_of(tvms_legal *legal, const char *name, double value) {
  tvms_list shape;
  return tvms_legal_result_shape(legal, &shape) && full(legal, name, shape, value);
}

bool tvms_legalize_ones(tvms_legal *legal) {
  return full_of(legal, "ones", 1);
}
bool tvms_legalize_zeros(tvms_legal *legal) {
  return full_of(legal, "zeros", 0);
}

bool tvms_legalize_full(tvms_legal *legal) {
  tvms_node *value = tvms_legal_constant(legal, tvms_legal_arg(legal, 1));
  if (value && tvms_node_is_int_imm(value)) {
    return full_of(legal, "full", (double)tvms_as_int_imm(value)->value);
  }
  if (value) return full_of(legal, "full", tvms_as_float_imm(value)->value);
  tvms_list shape;
  if (!tvms_legal_result_shape(legal, &shape)) return false;
  legal->name = "full";
  tvms_te *te = &legal->te;
  tvms_node *fill = tvms_legal_tensor(legal, tvms_legal_arg(legal, 1));
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "ax");
  tvms_node *element = tvms_te_load(te, fill, NULL, 0);
  element =
      tvms_build_cast(te->unit, tvms_legal_result_dtype(legal), element, TVMS_NO_SPAN);
  return tvms_legal_return(legal, tvms_te_close(&stage, "T_full", element));
}

// The fields of a tuple that is written where it is used; false for other values.
static bool tuple_fields(const tvms_node *arg, tvms_list *fields) {
  if (arg->kind != TVMS_NODE_TUPLE) return false;
  *fields = tvms_as_tuple(arg)->fields;
  return fields->len > 0;
}

// Selects among tensors laid side by side: the last whose begin is not behind the index.
bool tvms_legalize_concat(tvms_legal *legal) {
  legal->name = "concatenate";
  tvms_te *te = &legal->te;
  tvms_list fields;
  if (!tuple_fields(tvms_legal_arg(legal, 0), &fields)) return false;
  tvms_node **parts = tvms_arena_array(&te->unit->arena, tvms_node *, fields.len);
  for (uint32_t i = 0; i < fields.len; i++) {
    parts[i] = tvms_legal_tensor(legal, fields.items[i]);
  }
  tvms_list first = tvms_te_shape(parts[0]);
  int64_t given = tvms_attr_int(legal->call, TVMS_ATTR_opt_axis_axis, 0);
  uint32_t axis = tvms_legal_axis(given, first.len);
  tvms_list shape = tvms_list_copy(te->unit, first.items, first.len);
  for (uint32_t i = 1; i < fields.len; i++) {
    shape.items[axis] = build(te, TVMS_NODE_ADD, shape.items[axis],
                              tvms_te_shape(parts[i]).items[axis]);
  }
  shape.items[axis] = tvms_analyzer_simplify(te->analyzer, shape.items[axis]);
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "ax");
  tvms_node **indices = tvms_arena_array(&te->unit->arena, tvms_node *, shape.len);
  memcpy(indices, stage.axes.items, shape.len * sizeof *indices);
  tvms_node *value = tvms_te_load(te, parts[0], indices, shape.len);
  tvms_node *at = stage.axes.items[axis];
  for (uint32_t i = 0; i + 1 < fields.len; i++) {
    at = build(te, TVMS_NODE_SUB, at, tvms_te_shape(parts[i]).items[axis]);
    indices[axis] = at;
    tvms_node *behind = build(te, TVMS_NODE_GE, at, tvms_te_index(te, 0));
    value = tvms_build_if_then_else(te->unit, behind,
                                    tvms_te_load(te, parts[i + 1], indices, shape.len),
                                    value, TVMS_NO_SPAN);
  }
  return tvms_legal_return(legal, tvms_te_close(&stage, "T_concat", value));
}

// Copies `x` from `begin` on along an axis.
static tvms_node *window(tvms_te *te, tvms_node *x, uint32_t axis, tvms_node *begin,
                         tvms_node *extent, const char *name) {
  tvms_list from = tvms_te_shape(x);
  tvms_list shape = tvms_list_copy(te->unit, from.items, from.len);
  shape.items[axis] = extent;
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "ax");
  tvms_node **indices = tvms_arena_array(&te->unit->arena, tvms_node *, from.len);
  memcpy(indices, stage.axes.items, from.len * sizeof *indices);
  indices[axis] = build(te, TVMS_NODE_ADD, indices[axis], begin);
  return tvms_te_close(&stage, name, tvms_te_load(te, x, indices, from.len));
}

static bool give_window(tvms_legal *legal, tvms_node *x, uint32_t axis,
                        tvms_node *begin, tvms_node *end, const char *name) {
  tvms_te *te = &legal->te;
  tvms_node *extent = build(te, TVMS_NODE_SUB, end, begin);
  return tvms_legal_return(legal, window(te, x, axis, begin, extent, name));
}

bool tvms_legalize_split(tvms_legal *legal) {
  legal->name = "split";
  tvms_te *te = &legal->te;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_list from = tvms_te_shape(x);
  uint32_t axis =
      tvms_legal_axis(tvms_attr_int(legal->call, TVMS_ATTR_split_axis, 0), from.len);
  tvms_node *total = from.items[axis];
  tvms_node *attr = tvms_attr(legal->call, TVMS_ATTR_split_indices_or_sections);
  if (attr->kind == TVMS_NODE_OBJECT_ARRAY) {
    tvms_list places = tvms_as_object_array(attr)->items;
    tvms_node *begin = tvms_te_index(te, 0);
    for (uint32_t i = 0; i <= places.len; i++) {
      tvms_node *end = i < places.len
                           ? tvms_te_index(te, tvms_attr_item_int(places.items[i]))
                           : total;
      if (!give_window(legal, x, axis, begin, end, "T_split")) return false;
      begin = end;
    }
    return true;
  }
  int64_t sections = tvms_attr_item_int(attr);
  tvms_node *size = build(te, TVMS_NODE_ADD, total, tvms_te_index(te, sections));
  size = build(te, TVMS_NODE_SUB, size, tvms_te_index(te, 1));
  size = build(te, TVMS_NODE_FLOOR_DIV, size, tvms_te_index(te, sections));
  for (int64_t i = 0; i < sections; i++) {
    tvms_node *begin = build(te, TVMS_NODE_MUL, size, tvms_te_index(te, i));
    tvms_node *end = i + 1 < sections
                         ? build(te, TVMS_NODE_MUL, size, tvms_te_index(te, i + 1))
                         : total;
    if (!give_window(legal, x, axis, begin, end, "T_split_sections")) return false;
  }
  return true;
}
