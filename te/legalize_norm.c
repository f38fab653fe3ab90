// Descriptions of normalisations with statistics per channel or per group.
//
// batch_norm works on whole tensors, as topi has it: every operation is a stage. group_norm
// and instance_norm fold sums of x and x * x in one pass; sums of float16 are float32.
#include "te/element.h"
#include "te/legalizers.h"

#include <stdio.h>
#include <string.h>

static tvms_node *sqrt_of(tvms_te *te, tvms_node *x) {
  return tvms_te_call(te, TVMS_TIR_sqrt, x);
}

// A number of Python's next to tensors.
static tvms_node *float_of(tvms_te *te, double value) {
  return tvms_te_const(te, TVMS_DTYPE(FLOAT, 32), value);
}

// ---- batch_norm ----

typedef struct {
  tvms_te *te;
  tvms_node *x, *gamma, *beta, *mean, *variance;
  tvms_list shape;   // 1, but for the channels
  bool *reduced;     // all axes but the channels
  tvms_node *count;  // elements per channel
  double epsilon, momentum;
  bool center, scale;
} batch_norm;

static batch_norm read_batch_norm(tvms_legal *legal) {
  tvms_te *te = &legal->te;
  const tvms_call *call = legal->call;
  batch_norm b = {
      .te = te,
      .epsilon = tvms_attr_float(call, TVMS_ATTR_batch_norm_epsilon, 1e-5),
      .momentum = tvms_attr_float(call, TVMS_ATTR_batch_norm_momentum, 0.1),
      .center = tvms_attr_bool(call, TVMS_ATTR_batch_norm_center),
      .scale = tvms_attr_bool(call, TVMS_ATTR_batch_norm_scale),
  };
  tvms_node **places[] = {&b.x, &b.gamma, &b.beta, &b.mean, &b.variance};
  for (uint32_t i = 0; i < 5; i++)
    *places[i] = tvms_legal_tensor(legal, tvms_legal_arg(legal, i));
  tvms_list from = tvms_te_shape(b.x);
  uint32_t axis =
      tvms_legal_axis(tvms_attr_int(call, TVMS_ATTR_batch_norm_axis, 1), from.len);
  b.shape = tvms_list_copy(te->unit, from.items, from.len);
  b.reduced = tvms_arena_array(&te->unit->arena, bool, from.len + 1);
  b.count = INT32(1);
  for (uint32_t i = 0; i < from.len; i++) {
    b.reduced[i] = i != axis;
    if (i == axis) continue;
    b.shape.items[i] = INDEX(1);
    b.count = MUL(b.count, from.items[i]);
  }
  return b;
}

// (x - mean) / sqrt(variance + epsilon) * gamma + beta; mean and variance have all axes.
static tvms_node *normalized(const batch_norm *b, tvms_node *away,
                             tvms_node *variance) {
  tvms_te *te = b->te;
  tvms_node *width = tvms_te_add(te, variance, float_of(te, b->epsilon));
  width = tvms_te_map(te, width, "compute", "i", sqrt_of);
  tvms_node *y = tvms_te_divide(te, away, width);
  if (b->scale) y = tvms_te_multiply(te, y, tvms_te_reshape(te, b->gamma, b->shape));
  if (b->center) y = tvms_te_add(te, y, tvms_te_reshape(te, b->beta, b->shape));
  return y;
}

static bool return_three(tvms_legal *legal, tvms_node *y, tvms_node *mean,
                         tvms_node *variance) {
  return tvms_legal_return(legal, y) && tvms_legal_return(legal, mean)
         && tvms_legal_return(legal, variance);
}

// x folded per channel, over the number of elements.
static tvms_node *mean_of(const batch_norm *b, tvms_node *x) {
  tvms_te *te = b->te;
  x = tvms_te_reduce_axes(te, x, b->reduced, false, TVMS_FOLD_SUM);
  return tvms_te_divide(te, x, b->count);
}

// The same of the squared distances from a mean that has all axes.
static tvms_node *variance_of(const batch_norm *b, tvms_node *mean) {
  tvms_te *te = b->te;
  tvms_node *left = tvms_te_subtract(te, b->x, mean);
  tvms_node *right = tvms_te_subtract(te, b->x, mean);
  return mean_of(b, tvms_te_multiply(te, left, right));
}

// What is kept of an old statistic, and what a new one adds.
static tvms_node *kept(const batch_norm *b, tvms_node *old) {
  return tvms_te_multiply(b->te, float_of(b->te, 1 - b->momentum), old);
}

static tvms_node *added(const batch_norm *b, tvms_node *fresh) {
  return tvms_te_multiply(b->te, float_of(b->te, b->momentum), fresh);
}

static tvms_node *moved(const batch_norm *b, tvms_node *old, tvms_node *fresh) {
  tvms_node *share = kept(b, old);
  return tvms_te_add(b->te, share, added(b, fresh));
}

// With the statistics of the data, which are computed on the way.
static tvms_node *normalized_afresh(const batch_norm *b, tvms_node **mean,
                                    tvms_node **variance) {
  tvms_te *te = b->te;
  *mean = mean_of(b, b->x);
  tvms_node *spread = tvms_te_reshape(te, *mean, b->shape);
  tvms_node *away = tvms_te_subtract(te, b->x, spread);
  *variance = variance_of(b, spread);
  return normalized(b, away, tvms_te_reshape(te, *variance, b->shape));
}

// With the statistics that are given.
static tvms_node *normalized_as_given(const batch_norm *b) {
  tvms_te *te = b->te;
  tvms_node *mean = tvms_te_reshape(te, b->mean, b->shape);
  tvms_node *away = tvms_te_subtract(te, b->x, mean);
  return normalized(b, away, tvms_te_reshape(te, b->variance, b->shape));
}

static bool train(tvms_legal *legal, const batch_norm *b) {
  tvms_node *mean, *variance, *y = normalized_afresh(b, &mean, &variance);
  tvms_node *new_mean = moved(b, b->mean, mean);
  return return_three(legal, y, new_mean, moved(b, b->variance, variance));
}

// Up to 0.24 TVM took the statistics the other way round: given ones in training, and those of
// the data, which it computes after the result, for the statistics to be handed on.
static bool train_as_given(tvms_legal *legal, const batch_norm *b) {
  tvms_te *te = b->te;
  tvms_node *y = normalized_as_given(b);
  tvms_node *share = kept(b, b->mean), *mean = mean_of(b, b->x);
  tvms_node *new_mean = tvms_te_add(te, share, added(b, mean));
  share = kept(b, b->variance);
  tvms_node *variance = variance_of(b, tvms_te_reshape(te, mean, b->shape));
  return return_three(legal, y, new_mean, tvms_te_add(te, share, added(b, variance)));
}

bool tvms_legalize_batch_norm(tvms_legal *legal) {
  legal->name = "batch_norm";
  batch_norm b = read_batch_norm(legal);
  tvms_te *te = b.te;
  bool fresh_in_training =
      tvms_release_has(te->unit->dialect, TVMS_FACT_training_uses_fresh_statistics);
  if (tvms_attr_bool(legal->call, TVMS_ATTR_batch_norm_training)) {
    return fresh_in_training ? train(legal, &b) : train_as_given(legal, &b);
  }
  tvms_node *mean, *variance;
  tvms_node *y = fresh_in_training ? normalized_as_given(&b)
                                   : normalized_afresh(&b, &mean, &variance);
  // The statistics are results, too: copies, since an argument cannot be one.
  tvms_node *new_mean = tvms_te_multiply(te, b.mean, INT32(1));
  return return_three(legal, y, new_mean, tvms_te_multiply(te, b.variance, INT32(1)));
}

// ---- Sums of x and x * x in one pass ----

typedef struct {
  tvms_te *te;
  tvms_node *x;
  const char *name;  // of the argument
  tvms_list shape;
  bool *reduced;
  bool half;           // float16 comes in and goes out
  tvms_node *sums[2];  // of x and x * x
  tvms_node *count;    // of elements that are added up
  double epsilon;
} statistics;

static const char *name_of(tvms_te *te, const tvms_node *tensor) {
  return tvms_symbol_text(te->unit->context, tvms_as_buffer(tensor)->name);
}

static void add_pairs(tvms_te *te, tvms_node *const lhs[2], tvms_node *const rhs[2],
                      tvms_node *result[2]) {
  result[0] = ADD(lhs[0], rhs[0]);
  result[1] = ADD(lhs[1], rhs[1]);
}

// The axes of a stage whose flag is not set.
static tvms_list kept_axes(const statistics *s, const tvms_stage *stage) {
  tvms_list axes = tvms_list_copy(s->te->unit, stage->axes.items, s->shape.len);
  uint32_t count = 0;
  for (uint32_t i = 0; i < s->shape.len; i++) {
    if (!s->reduced[i]) axes.items[count++] = stage->axes.items[i];
  }
  axes.len = count;
  return axes;
}

// An element as it goes into a sum.
static tvms_node *summand(const statistics *s, tvms_node *x) {
  bool widens = tvms_dtype_same(x->dtype, TVMS_DTYPE(FLOAT, 16));
  return widens ? tvms_te_convert(s->te, TVMS_DTYPE(FLOAT, 32), x) : x;
}

static void add_up(statistics *s) {
  tvms_te *te = s->te;
  tvms_list shape = tvms_te_reduced_shape(te, s->shape, s->reduced, false);
  if (shape.len == 0) {
    tvms_node *one = INDEX(1);
    shape = tvms_list_copy(te->unit, &one, 1);
  }
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "ax");
  tvms_list indices = tvms_list_copy(te->unit, s->shape.items, s->shape.len);
  for (uint32_t i = 0, at = 0; i < s->shape.len; i++) {
    char name[32];
    snprintf(name, sizeof name, "k%u", i);
    indices.items[i] = s->reduced[i] ? tvms_te_reduce(&stage, name, s->shape.items[i])
                                     : stage.axes.items[at++];
  }
  tvms_node *x = summand(s, tvms_te_load(te, s->x, indices.items, indices.len));
  tvms_node *zero = tvms_te_const(te, x->dtype, 0), *init[] = {zero, zero};
  tvms_node *values[] = {x, MUL(x, x)};
  char name[160];
  snprintf(name, sizeof name, "%s_red_temp", s->name);
  tvms_te_close_pair(&stage, name, add_pairs, init, values, s->sums);
}

// (x - mean) * rsqrt(variance + epsilon) at one element; float16 again where it was.
static tvms_node *standardized(const statistics *s, tvms_stage *stage,
                               tvms_dtype epsilon_dtype) {
  tvms_te *te = s->te;
  tvms_list at = kept_axes(s, stage);
  if (at.len == 0) {
    tvms_node *zero = INDEX(0);
    at = tvms_list_copy(te->unit, &zero, 1);
  }
  tvms_node *mean = DIV(tvms_te_load(te, s->sums[0], at.items, at.len), s->count);
  tvms_node *square = DIV(tvms_te_load(te, s->sums[1], at.items, at.len), s->count);
  tvms_node *variance = SUB(square, MUL(mean, mean));
  tvms_node *x = tvms_te_load(te, s->x, stage->axes.items, s->shape.len);
  tvms_node *wide = ADD(variance, tvms_te_const(te, epsilon_dtype, s->epsilon));
  tvms_node *y = MUL(SUB(x, mean), tvms_te_call(te, TVMS_TIR_rsqrt, wide));
  return s->half ? tvms_te_convert(te, TVMS_DTYPE(FLOAT, 16), y) : y;
}

static tvms_node *count_of(const statistics *s, tvms_dtype dtype) {
  tvms_te *te = s->te;
  tvms_node *count = tvms_te_const(te, dtype, 1);
  for (uint32_t i = 0; i < s->shape.len; i++) {
    if (s->reduced[i]) count = MUL(count, s->shape.items[i]);
  }
  return count;
}

// ---- group_norm ----

// The shape with the channels as groups and channels of a group.
static tvms_list split_channels(tvms_te *te, tvms_list from, uint32_t channel,
                                tvms_node *groups, tvms_node *size) {
  tvms_list shape = tvms_list_copy(te->unit, from.items, from.len + 1);
  shape.items[channel] = groups;
  shape.items[channel + 1] = size;
  for (uint32_t i = channel + 1; i < from.len; i++)
    shape.items[i + 1] = from.items[i];
  return shape;
}

bool tvms_legalize_group_norm(tvms_legal *legal) {
  legal->name = "group_norm";
  tvms_te *te = &legal->te;
  const tvms_call *call = legal->call;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_node *gamma = tvms_legal_tensor(legal, tvms_legal_arg(legal, 1));
  tvms_node *beta = tvms_legal_tensor(legal, tvms_legal_arg(legal, 2));
  tvms_list from = tvms_te_shape(x);
  uint32_t channel = tvms_legal_axis(
      tvms_attr_int(call, TVMS_ATTR_group_norm_channel_axis, 1), from.len);
  tvms_node *groups = INT32(tvms_attr_int(call, TVMS_ATTR_group_norm_num_groups, 1));
  tvms_node *size = FLOOR_DIV(from.items[channel], groups);
  statistics s = {.te = te,
                  .half = tvms_dtype_same(tvms_te_dtype(x), TVMS_DTYPE(FLOAT, 16))};
  s.epsilon = tvms_attr_float(call, TVMS_ATTR_group_norm_epsilon, 1e-5);
  s.name = name_of(te, x);
  s.shape = split_channels(te, from, channel, groups, size);
  s.x = tvms_te_reshape(te, x, s.shape);
  if (s.half) s.x = tvms_te_cast(te, s.x, TVMS_DTYPE(FLOAT, 32), "T_cast", "ax");
  s.reduced = tvms_arena_array(&te->unit->arena, bool, s.shape.len);
  memset(s.reduced, 0, s.shape.len * sizeof *s.reduced);
  s.reduced[channel + 1] = true;
  tvms_list axes = tvms_attr_list(call, TVMS_ATTR_group_norm_axes);
  for (uint32_t i = 0; i < axes.len; i++) {
    uint32_t axis = tvms_legal_axis(tvms_attr_item_int(axes.items[i]), from.len);
    s.reduced[axis < channel ? axis : axis + 1] = true;
  }
  add_up(&s);
  s.count = count_of(&s, TVMS_DTYPE(FLOAT, 32));
  tvms_node *dims[] = {groups, size};
  gamma = tvms_te_reshape(te, gamma, tvms_list_copy(te->unit, dims, 2));
  beta = tvms_te_reshape(te, beta, tvms_list_copy(te->unit, dims, 2));
  tvms_stage stage;
  tvms_te_open(te, &stage, s.shape, "ax");
  tvms_node *const *at = stage.axes.items + channel;
  tvms_node *y = standardized(&s, &stage, tvms_te_dtype(x));
  y = MUL(y, tvms_te_load(te, gamma, at, 2));
  y = ADD(y, tvms_te_load(te, beta, at, 2));
  y = tvms_te_close(&stage, "T_group_norm", y);
  return tvms_legal_return(legal, tvms_te_reshape(te, y, from));
}

bool tvms_legalize_instance_norm(tvms_legal *legal) {
  legal->name = "instance_norm";
  tvms_te *te = &legal->te;
  const tvms_call *call = legal->call;
  statistics s = {.te = te};
  s.x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_node *gamma = tvms_legal_tensor(legal, tvms_legal_arg(legal, 1));
  tvms_node *beta = tvms_legal_tensor(legal, tvms_legal_arg(legal, 2));
  s.name = name_of(te, s.x);
  s.shape = tvms_te_shape(s.x);
  s.half = tvms_dtype_same(tvms_te_dtype(s.x), TVMS_DTYPE(FLOAT, 16));
  s.epsilon = tvms_attr_float(call, TVMS_ATTR_instance_norm_epsilon, 1e-5);
  // TVM takes the axis of the channels as it is, and fails with one that counts from the end.
  int64_t channel = tvms_attr_int(call, TVMS_ATTR_instance_norm_channel_axis, 1);
  if (channel < 0) return false;
  tvms_list axes = tvms_attr_list(call, TVMS_ATTR_instance_norm_axes);
  s.reduced = tvms_legal_axes(legal, s.shape.len, axes, false);
  add_up(&s);
  s.count = count_of(&s, tvms_te_dtype(s.x));
  tvms_stage stage;
  tvms_te_open(te, &stage, s.shape, "ax");
  tvms_node *const *at = stage.axes.items + channel;
  tvms_node *y = standardized(&s, &stage, tvms_te_dtype(s.sums[0]));
  y = MUL(y, tvms_te_load(te, gamma, at, 1));
  y = ADD(y, tvms_te_load(te, beta, at, 1));
  return tvms_legal_return(legal, tvms_te_close(&stage, "T_instance_norm", y));
}
