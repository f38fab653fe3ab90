// A convolution as a sum of products, one for each step of its window.
//
//   part[n, o, h, w] = sum over c: data[n, c, h + …, w + …] * weight[o, c, …, …]    of the first step
//   result[n, o, h, w] = part[n, o, h, w]                                          zeros, if it does not reach all places
//   part_1[…] = …; result[n, o, h + …, w + …] += part_1[n, o, h, w]                of each other step
#include "te/conv_steps.h"

#include "te/element.h"
#include "te/legalizers.h"

typedef struct {
  tvms_te *te;
  const tvms_conv_steps *what;
  tvms_node *data, *result;
  tvms_list shape;  // of the result
} convolution;

static const char *const axis_names[] = {"n", "o", "h", "w"};

// The channel of the data that step `c` of the sum for channel `o` of the result reads.
static tvms_node *channel_of(const convolution *v, tvms_node *o, tvms_node *c,
                             tvms_node *each) {
  tvms_te *te = v->te;
  if (v->what->groups == 1) return c;
  tvms_node *group = FLOOR_DIV(o, FLOOR_DIV(v->shape.items[1], INDEX(v->what->groups)));
  return ADD(MUL(group, each), c);
}

static tvms_list shape_of_step(const convolution *v, const tvms_conv_step *step) {
  tvms_te *te = v->te;
  tvms_node *dims[] = {v->shape.items[0], v->shape.items[1],
                       INDEX(step->end[0] - step->begin[0]),
                       INDEX(step->end[1] - step->begin[1])};
  return tvms_list_copy(te->unit, dims, 4);
}

static tvms_node *product(const convolution *v, const tvms_conv_step *step,
                          tvms_node *weight) {
  tvms_te *te = v->te;
  tvms_node *each = tvms_te_shape(weight).items[1];
  tvms_dtype dtype = tvms_te_dtype(v->result);
  tvms_stage stage;
  tvms_te_open_named(te, &stage, shape_of_step(v, step), axis_names);
  tvms_node *c = tvms_te_reduce(&stage, "c", each), *const *axes = stage.axes.items;
  tvms_node *at[] = {axes[0], channel_of(v, axes[1], c, each),
                     ADD(axes[2], INDEX(step->begin[0] + step->shift[0])),
                     ADD(axes[3], INDEX(step->begin[1] + step->shift[1]))};
  tvms_node *of_weight[] = {axes[1], c, INDEX(step->at[0]), INDEX(step->at[1])};
  tvms_node *a = tvms_te_convert(te, dtype, tvms_te_load(te, v->data, at, 4));
  tvms_node *b = tvms_te_convert(te, dtype, tvms_te_load(te, weight, of_weight, 4));
  return tvms_te_close_fold(&stage, "part", TVMS_FOLD_SUM, MUL(a, b));
}

// Stores what a step gives, or adds it to what is there.
static void put(const convolution *v, const tvms_conv_step *step, tvms_node *part,
                bool first) {
  tvms_te *te = v->te;
  tvms_stage stage;
  tvms_te_open_named(te, &stage, shape_of_step(v, step), axis_names);
  tvms_node *const *axes = stage.axes.items;
  tvms_node *at[] = {axes[0], axes[1], ADD(axes[2], INDEX(step->begin[0])),
                     ADD(axes[3], INDEX(step->begin[1]))};
  tvms_node *value = tvms_te_load(te, part, axes, 4);
  if (!first) value = ADD(tvms_te_load(te, v->result, at, 4), value);
  tvms_te_close_at(&stage, "sum", v->result, at, 4, value);
}

static void clear(const convolution *v) {
  tvms_te *te = v->te;
  tvms_stage stage;
  tvms_te_open_named(te, &stage, v->shape, axis_names);
  tvms_te_close_at(&stage, "zero", v->result, stage.axes.items, 4,
                   tvms_te_const(te, tvms_te_dtype(v->result), 0));
}

static bool describe(tvms_legal *legal) {
  const tvms_conv_steps *what = legal->what;
  convolution v = {.te = &legal->te, .what = what};
  legal->name = "conv2d_steps";
  if (!tvms_legal_result_shape(legal, &v.shape)) return false;
  v.data = tvms_legal_tensor(legal, what->data);
  tvms_node *weights[TVMS_MOST_CONV_STEPS];
  for (uint32_t i = 0; i < what->count; i++)
    weights[i] = i && what->steps[i].weight == what->steps[i - 1].weight
                     ? weights[i - 1]
                     : tvms_legal_tensor(legal, what->steps[i].weight);
  v.result = tvms_te_tensor(v.te, "result", v.shape, tvms_legal_result_dtype(legal));
  bool whole = what->steps[0].whole;
  if (!whole) clear(&v);
  for (uint32_t i = 0; i < what->count; i++)
    put(&v, &what->steps[i], product(&v, &what->steps[i], weights[i]), whole && i == 0);
  return tvms_legal_return(legal, v.result);
}

bool tvms_legalize_conv_steps(tvms_unit *unit, tvms_unit *caller, const tvms_call *call,
                              const tvms_conv_steps *steps, tvms_legalized *result) {
  return tvms_legalize_as(describe, unit, caller, call, steps, result);
}
