// Softmax: the greatest element is subtracted first, so that no exponential overflows.
#include "te/softmax.h"

#include "ir/fold.h"
#include "ir/object.h"
#include "te/topi.h"

static tvms_memory *memory_of(tvms_te *te) {
  return &te->unit->context->memory;
}

static tvms_node *build(tvms_te *te, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return a && b ? tvms_build_binary(te->unit, kind, a, b, TVMS_NO_SPAN) : NULL;
}

// The element of `x` at the axes of a stage, with `inserted` at one place; without it
// that place is left out.
static tvms_node *load_around(tvms_te *te, tvms_node *x, tvms_node *const *axes,
                              uint32_t count, uint32_t place, tvms_node *inserted) {
  tvms_node_vec indices = {0};
  for (uint32_t i = 0; i < count; i++) {
    if (i == place && inserted) tvms_vec_push(memory_of(te), &indices, inserted);
    if (i != place || inserted) tvms_vec_push(memory_of(te), &indices, axes[i]);
  }
  if (place == count && inserted) tvms_vec_push(memory_of(te), &indices, inserted);
  tvms_node *load = tvms_te_load(te, x, indices.items, indices.len);
  tvms_vec_fini(memory_of(te), &indices);
  return load;
}

// The shape without one dimension.
static tvms_list shape_without(tvms_te *te, tvms_list shape, uint32_t place) {
  tvms_node_vec dims = {0};
  for (uint32_t i = 0; i < shape.len; i++) {
    if (i != place) tvms_vec_push(memory_of(te), &dims, shape.items[i]);
  }
  tvms_list result = tvms_list_copy(te->unit, dims.items, dims.len);
  tvms_vec_fini(memory_of(te), &dims);
  return result;
}

typedef struct {
  tvms_te *te;
  tvms_node *x;
  tvms_list shape;
  uint32_t axis;
  tvms_node *greatest;  // along the axis
} softmax;

static tvms_node *exp_shifted(softmax *s, tvms_node *x, tvms_node *greatest) {
  return tvms_te_call(s->te, TVMS_TIR_exp, build(s->te, TVMS_NODE_SUB, x, greatest));
}

static void softmax_start(softmax *s, tvms_te *te, tvms_node *x, uint32_t axis) {
  *s = (softmax){.te = te, .x = x, .shape = tvms_te_shape(x), .axis = axis};
  tvms_stage stage;
  tvms_te_open(s->te, &stage, shape_without(s->te, s->shape, s->axis), "i");
  uint32_t rank = stage.shape.len;
  tvms_node *k = tvms_te_reduce(&stage, "k", s->shape.items[s->axis]);
  tvms_node *part = load_around(s->te, x, stage.axes.items, rank, s->axis, k);
  s->greatest = tvms_te_close_fold(&stage, "T_softmax_maxelem", TVMS_FOLD_MAX, part);
}

// Opens a stage over the whole shape; *at gets the element of x there.
static void softmax_open(softmax *s, tvms_stage *stage, tvms_node *tensor,
                         tvms_node **at) {
  tvms_te_open(s->te, stage, s->shape, "i");
  *at = tvms_te_load(s->te, tensor, stage->axes.items, s->shape.len);
}

static tvms_node *reduced_at(softmax *s, tvms_stage *stage, tvms_node *tensor) {
  return load_around(s->te, tensor, stage->axes.items, s->shape.len, s->axis, NULL);
}

static void annotate_axis(softmax *s, tvms_stage *stage) {
  tvms_node *axis = tvms_object_int_new(s->te->unit, s->axis, TVMS_NO_SPAN);
  stage->annotations = tvms_object_map_with(s->te->unit, NULL, "axis", axis);
}

// What is left when the powers are there: each over their sum.
static tvms_node *softmax_end(softmax *s, tvms_node *power) {
  if (!power) return NULL;
  tvms_stage stage;
  tvms_node *at;
  tvms_te_open(s->te, &stage, shape_without(s->te, s->shape, s->axis), "i");
  uint32_t rank = stage.shape.len;
  tvms_node *k = tvms_te_reduce(&stage, "k", s->shape.items[s->axis]);
  tvms_node *part = load_around(s->te, power, stage.axes.items, rank, s->axis, k);
  tvms_node *sum = tvms_te_close_fold(&stage, "T_softmax_expsum", TVMS_FOLD_SUM, part);
  softmax_open(s, &stage, power, &at);
  annotate_axis(s, &stage);
  tvms_node *share = build(s->te, TVMS_NODE_DIV, at, reduced_at(s, &stage, sum));
  return tvms_te_close(&stage, "T_softmax_norm", share);
}

tvms_node *tvms_te_softmax(tvms_te *te, tvms_node *x, uint32_t axis) {
  if (!x) return NULL;
  softmax s;
  softmax_start(&s, te, x, axis);
  tvms_stage stage;
  tvms_node *at;
  softmax_open(&s, &stage, s.x, &at);
  tvms_node *power = exp_shifted(&s, at, reduced_at(&s, &stage, s.greatest));
  return softmax_end(&s, tvms_te_close(&stage, "T_softmax_exp", power));
}

tvms_node *tvms_te_softmax_by(tvms_te *te, tvms_node *x, uint32_t axis,
                              tvms_te_power power) {
  if (!x) return NULL;
  softmax s;
  softmax_start(&s, te, x, axis);
  tvms_stage stage;
  tvms_node *at;
  softmax_open(&s, &stage, s.x, &at);
  tvms_node *delta = build(te, TVMS_NODE_SUB, at, reduced_at(&s, &stage, s.greatest));
  delta = tvms_te_close(&stage, "T_softmax_delta", delta);
  return delta ? softmax_end(&s, power(te, delta)) : NULL;
}

tvms_node *tvms_te_log_softmax(tvms_te *te, tvms_node *x, uint32_t axis) {
  if (!x) return NULL;
  softmax s;
  softmax_start(&s, te, x, axis);
  tvms_stage stage;
  tvms_te_open(s.te, &stage, shape_without(s.te, s.shape, s.axis), "i");
  uint32_t rank = stage.shape.len;
  tvms_node *k = tvms_te_reduce(&stage, "k", s.shape.items[s.axis]);
  tvms_node *part = load_around(s.te, s.x, stage.axes.items, rank, s.axis, k);
  tvms_node *greatest = tvms_te_load(s.te, s.greatest, stage.axes.items, rank);
  tvms_node *sum = tvms_te_close_fold(&stage, "compute", TVMS_FOLD_SUM,
                                      exp_shifted(&s, part, greatest));
  tvms_node *at;
  softmax_open(&s, &stage, s.x, &at);
  annotate_axis(&s, &stage);
  tvms_node *y = build(s.te, TVMS_NODE_SUB, at, reduced_at(&s, &stage, s.greatest));
  tvms_node *log = tvms_te_call(s.te, TVMS_TIR_log, reduced_at(&s, &stage, sum));
  y = build(s.te, TVMS_NODE_SUB, y, log);
  return tvms_te_close(&stage, "compute", y);
}
