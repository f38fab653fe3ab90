// Descriptions of operators that search, repeat and mask: what they have in common is
// that the value of an element depends on its place.
#include "ir/fold_ops.h"
#include "te/legalizers.h"

#include <stdio.h>
#include <string.h>

static tvms_memory *memory_of(tvms_te *te) {
  return &te->unit->context->memory;
}

static tvms_node *build(tvms_te *te, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return a && b ? tvms_build_binary(te->unit, kind, a, b, TVMS_NO_SPAN) : NULL;
}

static tvms_node *select(tvms_te *te, tvms_node *condition, tvms_node *yes,
                         tvms_node *no) {
  return condition && yes && no
             ? tvms_select_new(te->unit, condition, yes, no, TVMS_NO_SPAN)
             : NULL;
}

typedef struct {
  tvms_te *te;
  tvms_list shape;
  bool *reduced;
  bool keep;
} search;

// Opens the stage that searches; fills in the indices of x and its place among the
// elements that are searched.
static tvms_node *open_search(search *s, tvms_stage *stage, tvms_node **indices) {
  tvms_te *te = s->te;
  tvms_list kept = tvms_te_reduced_shape(te, s->shape, s->reduced, s->keep);
  tvms_te_open(te, stage, kept, "ax");
  tvms_node *place = NULL;
  for (uint32_t i = 0, at = 0; i < s->shape.len; i++) {
    if (!s->reduced[i]) {
      indices[i] = stage->axes.items[s->keep ? i : at++];
      continue;
    }
    char name[32];
    snprintf(name, sizeof name, "k%u", i);
    indices[i] = tvms_te_reduce(stage, name, s->shape.items[i]);
    if (place) place = build(te, TVMS_NODE_MUL, place, s->shape.items[i]);
    place = place ? build(te, TVMS_NODE_ADD, place, indices[i]) : indices[i];
  }
  return place;
}

static bool arg_search(tvms_legal *legal, const char *name, tvms_te_combine combine,
                       bool greatest) {
  legal->name = name;
  tvms_te *te = &legal->te;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  search s = {.te = te, .shape = tvms_te_shape(x)};
  s.keep = tvms_attr_bool(legal->call, TVMS_ATTR_arg_reduction_keepdims);
  tvms_node *axis = tvms_attr(legal->call, TVMS_ATTR_arg_reduction_axis);
  s.reduced =
      tvms_legal_axes(legal, s.shape.len, (tvms_list){&axis, axis ? 1 : 0}, !axis);
  tvms_node **indices = tvms_arena_array(&te->unit->arena, tvms_node *, s.shape.len);
  tvms_stage stage;
  tvms_node *place = open_search(&s, &stage, indices);
  if (!place) return false;
  tvms_node *values[] = {place, tvms_te_load(te, x, indices, s.shape.len)};
  tvms_dtype dtype = tvms_te_dtype(x);
  tvms_node *init[] = {
      tvms_te_const(te, place->dtype, -1),
      greatest ? tvms_build_min_value(te->unit, dtype, TVMS_NO_SPAN)
               : tvms_build_max_value(te->unit, dtype, TVMS_NO_SPAN),
  };
  if (!init[1]) return false;
  char text[160];
  const char *data = tvms_symbol_text(te->unit->context, tvms_as_buffer(x)->name);
  snprintf(text, sizeof text, "%s_red_temp", data);
  tvms_node *found[2];
  tvms_te_close_pair(&stage, text, combine, init, values, found);
  tvms_te_open(te, &stage, tvms_te_shape(found[0]), "ax");
  tvms_node *index = tvms_te_load(te, found[0], stage.axes.items, stage.shape.len);
  snprintf(text, sizeof text, "%s_red", data);
  return tvms_legal_return(legal, tvms_te_close(&stage, text, index));
}

bool tvms_legalize_argmax(tvms_legal *legal) {
  return arg_search(legal, "argmax", tvms_te_pick_greater, true);
}

bool tvms_legalize_argmin(tvms_legal *legal) {
  return arg_search(legal, "argmin", tvms_te_pick_less, false);
}

// A copy with the axes of the result, and the dimension that differs replaced.
static bool along_axis(tvms_legal *legal, tvms_node *x, uint32_t axis,
                       tvms_node *extent, const char *name,
                       tvms_node *(*index)(tvms_te *, tvms_node *at, tvms_node *dim,
                                           int64_t parameter),
                       int64_t parameter) {
  tvms_te *te = &legal->te;
  tvms_list from = tvms_te_shape(x);
  tvms_list shape = tvms_list_copy(te->unit, from.items, from.len);
  shape.items[axis] = extent;
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "ax");
  tvms_list indices = tvms_list_copy(te->unit, stage.axes.items, shape.len);
  indices.items[axis] = index(te, indices.items[axis], from.items[axis], parameter);
  tvms_node *value = tvms_te_load(te, x, indices.items, indices.len);
  return tvms_legal_return(legal, tvms_te_close(&stage, name, value));
}

static tvms_node *reversed(tvms_te *te, tvms_node *at, tvms_node *dim,
                           int64_t parameter) {
  (void)parameter;
  tvms_node *last = build(te, TVMS_NODE_SUB, dim, tvms_te_index(te, 1));
  return build(te, TVMS_NODE_SUB, last, at);
}

bool tvms_legalize_flip(tvms_legal *legal) {
  legal->name = "flip";
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_list shape = tvms_te_shape(x);
  uint32_t axis =
      tvms_legal_axis(tvms_attr_int(legal->call, TVMS_ATTR_axis_axis, 0), shape.len);
  return along_axis(legal, x, axis, shape.items[axis], "T_reverse_sequence", reversed,
                    0);
}

static tvms_node *repeated(tvms_te *te, tvms_node *at, tvms_node *dim,
                           int64_t parameter) {
  (void)dim;
  return build(te, TVMS_NODE_FLOOR_DIV, at, tvms_te_index(te, parameter));
}

bool tvms_legalize_repeat(tvms_legal *legal) {
  legal->name = "repeat";
  tvms_te *te = &legal->te;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  int64_t times = tvms_attr_int(legal->call, TVMS_ATTR_repeat_repeats, 1), axis = 0;
  if (tvms_attr(legal->call, TVMS_ATTR_repeat_axis)) {
    axis = tvms_attr_int(legal->call, TVMS_ATTR_repeat_axis, 0);
  } else {
    tvms_list shape = tvms_te_shape(x);
    tvms_node *size = shape.len ? shape.items[0] : tvms_te_index(te, 1);
    for (uint32_t i = 1; i < shape.len; i++) {
      size = build(te, TVMS_NODE_MUL, size, shape.items[i]);
    }
    x = tvms_te_reshape(te, x, tvms_list_copy(te->unit, &size, 1));
  }
  tvms_list shape = tvms_te_shape(x);
  uint32_t place = tvms_legal_axis(axis, shape.len);
  tvms_node *extent =
      build(te, TVMS_NODE_MUL, tvms_te_index(te, times), shape.items[place]);
  return along_axis(legal, x, place, extent, "T_repeat", repeated, times);
}

// Missing dimensions of the shape and of the repeats count as 1, on the left.
bool tvms_legalize_tile(tvms_legal *legal) {
  legal->name = "tile";
  tvms_te *te = &legal->te;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_list from = tvms_te_shape(x), shape;
  if (!tvms_legal_result_shape(legal, &shape)) return false;
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "ax");
  tvms_node_vec indices = {0};
  for (uint32_t i = 0; i < from.len; i++) {
    tvms_node *axis = stage.axes.items[shape.len - from.len + i];
    tvms_vec_push(memory_of(te), &indices,
                  build(te, TVMS_NODE_FLOOR_MOD, axis, from.items[i]));
  }
  tvms_node *value = tvms_te_load(te, x, indices.items, indices.len);
  tvms_vec_fini(memory_of(te), &indices);
  return tvms_legal_return(legal, tvms_te_close(&stage, "T_tile", value));
}

static bool triangle(tvms_legal *legal, const char *name, tvms_node_kind inside) {
  legal->name = name;
  tvms_te *te = &legal->te;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_node *diagonal = tvms_legal_expr(legal, tvms_legal_arg(legal, 1));
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_te_shape(x), "i");
  uint32_t rank = stage.shape.len;
  tvms_node *value = tvms_te_load(te, x, stage.axes.items, rank);
  tvms_node *column = build(te, TVMS_NODE_SUB, stage.axes.items[rank - 1], diagonal);
  tvms_node *condition = build(te, inside, stage.axes.items[rank - 2], column);
  if (condition) {
    value = select(te, condition, value, tvms_te_const(te, value->dtype, 0));
  }
  return tvms_legal_return(legal, tvms_te_close(&stage, "trilu", value));
}

bool tvms_legalize_tril(tvms_legal *legal) {
  return triangle(legal, "tril", TVMS_NODE_GE);
}

bool tvms_legalize_triu(tvms_legal *legal) {
  return triangle(legal, "triu", TVMS_NODE_LE);
}

// Picks the tensor by the new axis, the last one first.
bool tvms_legalize_stack(tvms_legal *legal) {
  legal->name = "stack";
  tvms_te *te = &legal->te;
  const tvms_node *tuple = tvms_legal_arg(legal, 0);
  tvms_list shape;
  if (tuple->kind != TVMS_NODE_TUPLE || !tvms_legal_result_shape(legal, &shape)) {
    return false;
  }
  tvms_list fields = tvms_as_tuple(tuple)->fields;
  tvms_list parts = tvms_list_copy(te->unit, fields.items, fields.len);
  for (uint32_t i = 0; i < parts.len; i++) {
    parts.items[i] = tvms_legal_tensor(legal, fields.items[i]);
  }
  int64_t given = tvms_attr_int(legal->call, TVMS_ATTR_opt_axis_axis, 0);
  uint32_t axis = tvms_legal_axis(given, shape.len);
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "ax");
  tvms_list indices = tvms_list_copy(te->unit, stage.axes.items, shape.len);
  memmove(indices.items + axis, indices.items + axis + 1,
          (shape.len - axis - 1) * sizeof *indices.items);
  tvms_node *value = tvms_te_load(te, parts.items[0], indices.items, shape.len - 1);
  for (uint32_t i = 1; i < parts.len; i++) {
    tvms_node *here =
        build(te, TVMS_NODE_EQ, stage.axes.items[axis], tvms_te_index(te, i));
    tvms_node *part = tvms_te_load(te, parts.items[i], indices.items, shape.len - 1);
    value = tvms_build_if_then_else(te->unit, here, part, value, TVMS_NO_SPAN);
  }
  return tvms_legal_return(legal, tvms_te_close(&stage, "T_stack", value));
}

bool tvms_legalize_outer(tvms_legal *legal) {
  legal->name = "outer";
  tvms_te *te = &legal->te;
  tvms_node *a = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_node *b = tvms_legal_tensor(legal, tvms_legal_arg(legal, 1));
  tvms_node *dims[] = {tvms_te_shape(a).items[0], tvms_te_shape(b).items[0]};
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_list_copy(te->unit, dims, 2), "i");
  tvms_node *left = tvms_te_load(te, a, stage.axes.items, 1);
  tvms_node *right = tvms_te_load(te, b, stage.axes.items + 1, 1);
  return tvms_legal_return(
      legal, tvms_te_close(&stage, "outer", build(te, TVMS_NODE_MUL, left, right)));
}
