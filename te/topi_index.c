// Filling, counting, taking, and moving axes.
#include "te/topi_index.h"

#include "te/element.h"

static tvms_memory *memory_of(tvms_te *te) {
  return &te->unit->context->memory;
}

tvms_node *tvms_te_full(tvms_te *te, tvms_list shape, tvms_dtype dtype,
                        tvms_node *value) {
  if (!value) return NULL;
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "ax");
  return tvms_te_close(&stage, "T_full", tvms_te_convert(te, dtype, value));
}

static bool is_int(const tvms_node *value) {
  return value->dtype.code == TVMS_INT;
}

// How many numbers there are from `start` to before `stop`.
static tvms_node *count_steps(tvms_te *te, tvms_node *start, tvms_node *stop,
                              tvms_node *step) {
  tvms_node *distance = SUB(stop, start);
  if (is_int(start) && is_int(stop) && is_int(step)) {
    if (tvms_analyzer_can_prove_ge(te->analyzer, step, 1)) {
      return FLOOR_DIV(SUB(ADD(distance, step), INT32(1)), step);
    }

    if (tvms_analyzer_can_prove_lt(te->analyzer, step, 0)) {
      tvms_node *back = SUB(SUB(SUB(start, stop), step), INT32(1));
      return FLOOR_DIV(back, tvms_build_neg(te->unit, step, TVMS_NO_SPAN));
    }
  }
  tvms_node *count = DIV(tvms_te_convert(te, TVMS_DTYPE(FLOAT, 32), distance), step);
  if (!count) return NULL;
  if (tvms_dtype_is_real(count->dtype)) count = tvms_te_call(te, TVMS_TIR_ceil, count);
  return tvms_te_convert(te, TVMS_DTYPE(INT, 64), count);
}

tvms_node *tvms_te_arange(tvms_te *te, tvms_node *start, tvms_node *stop,
                          tvms_node *step, tvms_dtype dtype) {
  tvms_node *count = count_steps(te, start, stop, step);
  if (!count) return NULL;
  count = tvms_analyzer_simplify(te->analyzer, count);
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_list_copy(te->unit, &count, 1), "ax");
  tvms_node *value = ADD(start, MUL(step, stage.axes.items[0]));
  return tvms_te_close(&stage, "T_arange", tvms_te_convert(te, dtype, value));
}

static tvms_node *remainder_of(tvms_te *te, tvms_node *a, tvms_node *b) {
  return tvms_te_apply(te, TVMS_NODE_MOD, a, b);
}

// A place brought into the range of an axis of `size` elements.
static tvms_node *bring_inside(tvms_te *te, tvms_take_mode mode, tvms_node *place,
                               tvms_node *size) {
  if (mode == TVMS_TAKE_CLIP) return MIN(MAX(INT32(0), place), SUB(size, INT32(1)));
  if (mode != TVMS_TAKE_WRAP) return place;
  return remainder_of(te, ADD(remainder_of(te, place, size), size), size);
}

tvms_node *tvms_te_take_flat(tvms_te *te, tvms_node *x, tvms_node *places,
                             tvms_take_mode mode) {
  tvms_list from = tvms_te_shape(x);
  tvms_node *size = INT32(1);
  for (uint32_t i = 0; i < from.len; i++)
    size = MUL(size, from.items[i]);
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_te_shape(places), "ax");
  tvms_node *place = tvms_te_load(te, places, stage.axes.items, stage.shape.len);
  place = bring_inside(te, mode, place, size);
  tvms_node **indices = tvms_arena_array(&te->unit->arena, tvms_node *, from.len + 1);
  for (uint32_t i = from.len; i > 0 && place; i--) {
    indices[i - 1] = FLOOR_MOD(place, from.items[i - 1]);
    place = FLOOR_DIV(place, from.items[i - 1]);
  }
  tvms_node *value = place ? tvms_te_load(te, x, indices, from.len) : NULL;
  return tvms_te_close(&stage, "T_take", value);
}

// The shape of `x` with the axes of `places` in the place of one axis.
static tvms_list shape_of_taken(tvms_te *te, tvms_node *x, uint32_t axis,
                                tvms_list moved) {
  tvms_list from = tvms_te_shape(x);
  tvms_node_vec dims = {0};
  for (uint32_t i = 0; i < from.len; i++) {
    for (uint32_t j = 0; i == axis && j < moved.len; j++) {
      tvms_vec_push(memory_of(te), &dims, moved.items[j]);
    }
    if (i != axis) tvms_vec_push(memory_of(te), &dims, from.items[i]);
  }
  tvms_list shape = tvms_list_copy(te->unit, dims.items, dims.len);
  tvms_vec_fini(memory_of(te), &dims);
  return shape;
}

tvms_node *tvms_te_take(tvms_te *te, tvms_node *x, tvms_node *places, uint32_t axis,
                        tvms_take_mode mode) {
  bool tensor = places->kind == TVMS_NODE_BUFFER;
  tvms_list from = tvms_te_shape(x);
  tvms_list moved = tensor ? tvms_te_shape(places) : (tvms_list){NULL, 0};
  tvms_stage stage;
  tvms_te_open(te, &stage, shape_of_taken(te, x, axis, moved), "ax");
  tvms_node **indices = tvms_arena_array(&te->unit->arena, tvms_node *, from.len);
  for (uint32_t i = 0; i < from.len; i++) {
    if (i != axis) indices[i] = stage.axes.items[i < axis ? i : i + moved.len - 1];
  }
  // A scalar place takes no index.
  tvms_node **at = moved.len ? stage.axes.items + axis : NULL;
  tvms_node *place = tensor ? tvms_te_load(te, places, at, moved.len) : places;
  indices[axis] = bring_inside(te, mode, place, from.items[axis]);
  if (!indices[axis]) return tvms_te_close(&stage, "T_take", NULL);
  tvms_node *value = tvms_te_load(te, x, indices, from.len);
  if (mode == TVMS_TAKE_NAN) {
    tvms_node *inside = AND(GE(place, INT32(0)), LT(place, from.items[axis]));
    tvms_node *nan = tvms_te_const(te, value->dtype, (double)__builtin_nanf(""));
    value = IF(inside, value, nan);
  }
  return tvms_te_close(&stage, "T_take", value);
}

tvms_node *tvms_te_gather(tvms_te *te, tvms_node *x, uint32_t axis, tvms_node *places) {
  if (!x || !places) return NULL;
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_te_shape(places), "ax");
  tvms_list indices = tvms_list_copy(te->unit, stage.axes.items, stage.shape.len);
  indices.items[axis] = tvms_te_load(te, places, stage.axes.items, stage.shape.len);
  return tvms_te_close(&stage, "T_gather",
                       tvms_te_load(te, x, indices.items, indices.len));
}

tvms_node *tvms_te_transpose(tvms_te *te, tvms_node *x, const uint32_t *places) {
  if (!x) return NULL;
  tvms_list from = tvms_te_shape(x);
  tvms_list shape = tvms_list_copy(te->unit, from.items, from.len);
  for (uint32_t i = 0; i < from.len; i++)
    shape.items[i] = from.items[places[i]];
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "ax");
  tvms_node **indices = tvms_arena_array(&te->unit->arena, tvms_node *, from.len + 1);
  for (uint32_t i = 0; i < from.len; i++)
    indices[places[i]] = stage.axes.items[i];
  return tvms_te_close(&stage, "T_transpose", tvms_te_load(te, x, indices, from.len));
}

tvms_node *tvms_te_broadcast_to(tvms_te *te, tvms_node *x, tvms_list shape) {
  if (!x) return NULL;
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "ax");
  tvms_node *value = tvms_te_broadcast_load(te, x, shape, stage.axes.items);
  return tvms_te_close(&stage, "T_broadcast_to", value);
}

tvms_node *tvms_te_squeeze(tvms_te *te, tvms_node *x, const bool *gone) {
  if (!x) return NULL;
  tvms_list from = tvms_te_shape(x);
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_te_reduced_shape(te, from, gone, false), "ax");
  tvms_node **indices = tvms_arena_array(&te->unit->arena, tvms_node *, from.len + 1);
  for (uint32_t i = 0, at = 0; i < from.len; i++) {
    indices[i] = gone[i] ? INDEX(0) : stage.axes.items[at++];
  }
  return tvms_te_close(&stage, "T_squeeze", tvms_te_load(te, x, indices, from.len));
}
