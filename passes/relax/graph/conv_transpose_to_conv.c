// ConvTransposeToConv: a transposed convolution with strides becomes a convolution.
//
// Before: gv = R.nn.conv2d_transpose(x, w, strides=(2, 2), padding=(1, 1)), w of 4 x 4 steps
// After:  lv = R.nn.conv2d(x, v, padding=…), whose 2 x 2 steps make all 2 x 2 neighbours of the result
//         as channels of their own, which permute_dims puts in their places; v is w in another order
//
// Written out, a transposed convolution has zeros between the elements of its data, and computes with
// them. Element y of the result, along one axis with `stride` and `padding` in front, is a sum over
// those steps k of the window for which y + padding - k is a multiple of the stride: for
// y + padding = q * stride + r these are k = r + stride * t, at the elements q - t. So each r has a
// convolution of its own, of as many steps as the window has strides; steps that are missing at its
// end are zeros of v. Where these would be more than a fifth of all (3 x 3 steps and strides of 2: 7 of 16), each r has
// a conv2d with the steps that it has, and stack puts the results in their places:
//
// lv = R.nn.conv2d(x, v00, …); … lv3 = R.nn.conv2d(x, v11, …); gv = rows of R.stack((lv, lv1), axis=4) and R.stack((lv2, lv3), axis=4)
//
// Along an axis of one element the stride is taken to be as long as the window: such a layer is a product.
//
// The window must be known, the data may have any sizes; data of NCW, NCHW or NCDHW with any
// batch and groups. What is dilated, or has no strides, stays. TVM has no such pass.
#include "ir/object.h"
#include "passes/relax/graph/op_calls.h"
#include "passes/relax/make.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

#include <string.h>

// Steps of a window, its stride and padding: no more, so that no sum of them overflows.
enum { MOST_AXES = 3, MOST_DIMS = 2 * MOST_AXES + 3, MOST_STEPS = 1 << 30 };

// Convolutions that one becomes.
enum { MOST_PLACES = 9 };

// Numbers along one axis of the window.
typedef struct {
  tvms_node *data;  // elements, a number or not
  int64_t window, stride, padding;
  int64_t over;   // elements of the result beyond `stride` for each of the data
  int64_t steps;  // of the window of the convolution
  int64_t
      extra;  // blocks of `stride` elements that it makes, beyond one for each of the data
  int64_t before, behind;  // elements of the data that it has padded
  int64_t skipped;         // elements of the first block
} window_axis;

typedef struct {
  tvms_relax_mutator *m;
  const tvms_call *call;
  uint32_t axes;
  int64_t groups, inputs, outputs;  // channels of a group
  tvms_list dims;                   // of the result
  window_axis axis[MOST_AXES];
} transposed_conv;

static bool layouts_are(const tvms_call *call, const char *data, const char *kernel) {
  tvms_bytes result = tvms_attr_text(call, TVMS_ATTR_conv2d_transpose_out_layout);
  return tvms_bytes_is(tvms_attr_text(call, TVMS_ATTR_conv2d_transpose_data_layout),
                       data)
         && tvms_bytes_is(
             tvms_attr_text(call, TVMS_ATTR_conv2d_transpose_kernel_layout), kernel)
         && (result.len == 0 || tvms_bytes_is(result, data));
}

static int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b < 0);
}

static bool settle_axis(window_axis *a) {
  a->steps = (a->window + a->stride - 1) / a->stride;
  int64_t first = a->padding / a->stride;
  a->behind = floor_div(a->over - 1 + a->padding, a->stride) + 1;
  a->extra = a->behind - first;
  a->before = a->steps - 1 - first;
  a->skipped = a->padding - first * a->stride;
  return a->before >= 0 && a->behind >= 0;
}

// What the result has beyond `stride` elements for each of the data: a number even where neither is known.
static bool read_sizes(const transposed_conv *c, window_axis *a, tvms_node *result) {
  int64_t data, all;
  if (tvms_sinfo_dim_int(a->data, &data)
      && (data < 1 || __builtin_mul_overflow(data, a->stride, &all)))
    return false;
  if (tvms_sinfo_dim_int(result, &all) && (all < 1 || all > INT64_MAX / 2))
    return false;
  tvms_prover *prover = &c->m->prover;
  tvms_node *least = tvms_dim_binary_int(prover, TVMS_NODE_MUL, a->data, a->stride);
  if (!least) return false;
  tvms_node *over = tvms_dim_binary(prover, TVMS_NODE_SUB, result, least);
  return over && tvms_sinfo_dim_int(tvms_dim_simplify(prover, over), &a->over)
         && a->over > -MOST_STEPS * (int64_t)4 && a->over < MOST_STEPS * (int64_t)4;
}

// Along one element of data any stride does: as long as the window, it makes all results at once.
static int64_t stride_of(const window_axis *a, int64_t stride) {
  int64_t data;
  bool single = tvms_sinfo_dim_int(a->data, &data) && data == 1;
  return single && a->padding < a->window ? a->window : stride;
}

// The attributes of conv1d_transpose and conv3d_transpose stand in the places of conv2d_transpose's.
static bool read_axes(transposed_conv *c) {
  int64_t strides[MOST_AXES], padding[2 * MOST_AXES], dilation[MOST_AXES];
  tvms_list data, weight;
  uint32_t n = c->axes;
  if (!tvms_attr_ints(c->call, TVMS_ATTR_conv2d_transpose_strides, strides, n)
      || !tvms_attr_ints(c->call, TVMS_ATTR_conv2d_transpose_padding, padding, 2 * n)
      || !tvms_attr_ints(c->call, TVMS_ATTR_conv2d_transpose_dilation, dilation, n)
      || !tvms_sinfo_tensor_dims(c->call->args.items[0]->sinfo, &data)
      || !tvms_sinfo_tensor_dims(c->call->args.items[1]->sinfo, &weight)
      || !tvms_sinfo_tensor_dims(c->call->head.sinfo, &c->dims) || data.len != n + 2
      || weight.len != n + 2 || c->dims.len != n + 2)
    return false;
  int64_t channels, outputs;  // of the convolution
  bool strided = false;
  c->groups = tvms_attr_int(c->call, TVMS_ATTR_conv2d_transpose_groups, 1);
  if (c->groups < 1 || !tvms_sinfo_dim_int(weight.items[0], &channels)
      || !tvms_sinfo_dim_int(weight.items[1], &c->outputs))
    return false;
  c->inputs = channels / c->groups;
  if (__builtin_mul_overflow(c->groups, c->outputs, &outputs)) return false;
  for (uint32_t i = 0; i < n; i++) {
    window_axis *a = &c->axis[i];
    a->padding = padding[i];
    a->data = data.items[i + 2];
    if (!tvms_sinfo_dim_int(weight.items[i + 2], &a->window)) return false;
    a->stride = stride_of(a, strides[i]);
    if (dilation[i] != 1 || a->stride < 1 || a->stride > MOST_STEPS || a->padding < 0
        || a->padding > MOST_STEPS || a->window < 1 || a->window > MOST_STEPS
        || !read_sizes(c, a, c->dims.items[i + 2]) || !settle_axis(a)
        || __builtin_mul_overflow(outputs, a->stride, &outputs))
      return false;
    strided |= a->stride > 1;
  }
  return strided;
}

static tvms_node *dim(const transposed_conv *c, int64_t value) {
  return tvms_sinfo_dim_new(c->m->unit, value);
}

// Blocks along an axis, and the elements of these.
static tvms_node *blocks_of(const transposed_conv *c, const window_axis *a) {
  tvms_prover *prover = &c->m->prover;
  return tvms_dim_simplify(
      prover, tvms_dim_binary_int(prover, TVMS_NODE_ADD, a->data, a->extra));
}

static tvms_node *length_of(const transposed_conv *c, const window_axis *a) {
  tvms_prover *prover = &c->m->prover;
  return tvms_dim_simplify(
      prover, tvms_dim_binary_int(prover, TVMS_NODE_MUL, blocks_of(c, a), a->stride));
}

static tvms_node *text(const transposed_conv *c, const char *value) {
  return tvms_object_str_new(c->m->unit, value, strlen(value), TVMS_NO_SPAN);
}

// The window with zeros at its end, so that it has whole strides.
static tvms_node *padded_weight(const transposed_conv *c) {
  int64_t width[2 * (MOST_AXES + 2)] = {0};
  bool any = false;
  for (uint32_t i = 0; i < c->axes; i++) {
    width[2 * (i + 2) + 1] = c->axis[i].steps * c->axis[i].stride - c->axis[i].window;
    any |= width[2 * (i + 2) + 1] > 0;
  }
  tvms_node *weight = c->call->args.items[1];
  if (!any) return weight;
  tvms_unit *unit = c->m->unit;
  tvms_node *attrs[TVMS_ATTR_pad_COUNT] = {
      [TVMS_ATTR_pad_pad_width] = tvms_relax_op_ints(unit, width, 2 * (c->axes + 2)),
      [TVMS_ATTR_pad_pad_value] = tvms_object_float_new(unit, 0.0, TVMS_NO_SPAN),
      [TVMS_ATTR_pad_pad_mode] = text(c, "constant"),
  };
  return tvms_relax_op_with(c->m, TVMS_R_nn_pad, &weight, 1, attrs);
}

// group, input, output, (step, place) … becomes output (with its group) and places, input, steps.
static tvms_node *weight_of(const transposed_conv *c) {
  tvms_node *dims[MOST_DIMS];
  int64_t order[MOST_DIMS], outputs = c->groups * c->outputs;
  uint32_t n = c->axes;
  dims[0] = dim(c, c->groups);
  dims[1] = dim(c, c->inputs);
  dims[2] = dim(c, c->outputs);
  order[0] = 0;
  order[1] = 2;
  order[n + 2] = 1;
  for (uint32_t i = 0; i < n; i++) {
    dims[2 * i + 3] = dim(c, c->axis[i].steps);
    dims[2 * i + 4] = dim(c, c->axis[i].stride);
    order[i + 2] = 2 * i + 4;
    order[n + 3 + i] = 2 * i + 3;
    outputs *= c->axis[i].stride;
  }
  tvms_node *weight = tvms_relax_op_reshape(c->m, padded_weight(c), dims, 2 * n + 3);
  for (uint32_t i = 0; i < n; i++) {
    if (c->axis[i].steps == 1) continue;
    tvms_node *axis = tvms_object_int_new(c->m->unit, 2 * i + 3, TVMS_NO_SPAN);
    weight = tvms_relax_op_with(c->m, TVMS_R_flip, &weight, 1, &axis);
  }
  weight = tvms_relax_op_permute(c->m, weight, order, 2 * n + 3);
  dims[0] = dim(c, outputs);
  for (uint32_t i = 0; i < n; i++)
    dims[i + 2] = dim(c, c->axis[i].steps);
  return tvms_relax_op_reshape(c->m, weight, dims, n + 2);
}

static tvms_node *convolved(const transposed_conv *c, tvms_node *weight,
                            const int64_t *padding) {
  static const char *const kernels[] = {"OIW", "OIHW", "OIDHW"};
  static const tvms_opcode opcodes[] = {TVMS_R_nn_conv1d, TVMS_R_nn_conv2d,
                                        TVMS_R_nn_conv3d};
  int64_t ones[] = {1, 1, 1};
  tvms_unit *unit = c->m->unit;
  tvms_node *const *old = c->call->attrs.items;
  tvms_node *attrs[TVMS_ATTR_conv2d_COUNT] = {
      [TVMS_ATTR_conv2d_strides] = tvms_relax_op_ints(unit, ones, c->axes),
      [TVMS_ATTR_conv2d_padding] = tvms_relax_op_ints(unit, padding, 2 * c->axes),
      [TVMS_ATTR_conv2d_dilation] = tvms_relax_op_ints(unit, ones, c->axes),
      [TVMS_ATTR_conv2d_groups] = old[TVMS_ATTR_conv2d_transpose_groups],
      [TVMS_ATTR_conv2d_data_layout] = old[TVMS_ATTR_conv2d_transpose_data_layout],
      [TVMS_ATTR_conv2d_kernel_layout] = text(c, kernels[c->axes - 1]),
      [TVMS_ATTR_conv2d_out_layout] = old[TVMS_ATTR_conv2d_transpose_data_layout],
      [TVMS_ATTR_conv2d_out_dtype] = old[TVMS_ATTR_conv2d_transpose_out_dtype],
  };
  tvms_node *args[] = {c->call->args.items[0], weight};
  return tvms_relax_op_with(c->m, opcodes[c->axes - 1], args, 2, attrs);
}

static tvms_node *ints_tuple(const transposed_conv *c, const int64_t *values) {
  tvms_node *fields[MOST_AXES];
  tvms_unit *unit = c->m->unit;
  for (uint32_t i = 0; i < c->axes; i++) {
    fields[i] = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 64), values[i], TVMS_NO_SPAN);
    fields[i] = tvms_relax_make_prim_value(unit, fields[i]);
  }
  return tvms_relax_make_tuple(c->m, fields, c->axes);
}

// The part of whole blocks that is the result.
static tvms_node *cut(const transposed_conv *c, tvms_node *x) {
  int64_t axes[MOST_AXES], begin[MOST_AXES];
  tvms_node *end[MOST_AXES];
  tvms_prover *prover = &c->m->prover;
  bool whole = true;
  for (uint32_t i = 0; i < c->axes; i++) {
    const window_axis *a = &c->axis[i];
    axes[i] = i + 2;
    begin[i] = a->skipped;
    end[i] = tvms_dim_simplify(
        prover,
        tvms_dim_binary_int(prover, TVMS_NODE_ADD, c->dims.items[i + 2], a->skipped));
    end[i] = tvms_relax_make_prim_value(c->m->unit, end[i]);
    whole &= a->skipped == 0 && a->over == a->extra * a->stride;
  }
  if (whole) return x;
  tvms_node *args[] = {x, ints_tuple(c, axes), ints_tuple(c, begin),
                       tvms_relax_make_tuple(c->m, end, c->axes)};
  tvms_node *attr = tvms_object_bool_new(c->m->unit, false, TVMS_NO_SPAN);
  return tvms_relax_op_with(c->m, TVMS_R_strided_slice, args, 4, &attr);
}

// output, places …, blocks … becomes output, and along each axis block and place.
static tvms_node *placed(const transposed_conv *c, tvms_node *x) {
  tvms_node *dims[MOST_DIMS];
  int64_t order[MOST_DIMS] = {0, 1};
  uint32_t n = c->axes;
  dims[0] = c->dims.items[0];
  dims[1] = c->dims.items[1];
  for (uint32_t i = 0; i < n; i++) {
    dims[i + 2] = dim(c, c->axis[i].stride);
    dims[n + 2 + i] = blocks_of(c, &c->axis[i]);
    order[2 * i + 2] = n + 2 + i;
    order[2 * i + 3] = i + 2;
  }
  x = tvms_relax_op_reshape(c->m, x, dims, 2 * n + 2);
  x = tvms_relax_op_permute(c->m, x, order, 2 * n + 2);
  for (uint32_t i = 0; i < n; i++)
    dims[i + 2] = length_of(c, &c->axis[i]);
  return tvms_relax_op_reshape(c->m, x, dims, n + 2);
}

// All places as channels of one convolution.
static tvms_node *at_once(const transposed_conv *c) {
  int64_t padding[2 * MOST_AXES];
  for (uint32_t i = 0; i < c->axes; i++) {
    padding[i] = c->axis[i].before;
    padding[c->axes + i] = c->axis[i].behind;
  }
  return placed(c, convolved(c, weight_of(c), padding));
}

// ---- One convolution for each place of a block ----

// Would zeros be more than a fifth of the steps, has each place a step, and is no data left out in front?
static bool is_uneven(const transposed_conv *c) {
  double all = 1, own = 1;
  int64_t places = 1;
  for (uint32_t i = 0; i < c->axes; i++) {
    const window_axis *a = &c->axis[i];
    int64_t least = a->window / a->stride;
    if (least - 1 < a->padding / a->stride || a->stride > MOST_PLACES) return false;
    places *= a->stride;
    all *= (double)(a->steps * a->stride);
    own *= (double)a->window;
  }
  return places <= MOST_PLACES && all > 1.25 * own;
}

// The steps of a place, turned round.
static tvms_node *weight_at(const transposed_conv *c, const int64_t *place,
                            const int64_t *steps) {
  int64_t axes[MOST_AXES], end[MOST_AXES], strides[MOST_AXES];
  int64_t order[MOST_AXES + 3] = {0, 2, 1};
  tvms_node *dims[MOST_AXES + 3];
  uint32_t n = c->axes;
  for (uint32_t i = 0; i < n; i++) {
    axes[i] = i + 2;
    end[i] = c->axis[i].window;
    strides[i] = c->axis[i].stride;
    order[i + 3] = i + 3;
    dims[i + 3] = dim(c, steps[i]);
  }
  tvms_node *args[] = {c->call->args.items[1], ints_tuple(c, axes),
                       ints_tuple(c, place), ints_tuple(c, end),
                       ints_tuple(c, strides)};
  tvms_node *attr = tvms_object_bool_new(c->m->unit, false, TVMS_NO_SPAN);
  tvms_node *weight = tvms_relax_op_with(c->m, TVMS_R_strided_slice, args, 5, &attr);
  dims[0] = dim(c, c->groups);
  dims[1] = dim(c, c->inputs);
  dims[2] = dim(c, c->outputs);
  weight = tvms_relax_op_reshape(c->m, weight, dims, n + 3);
  for (uint32_t i = 0; i < n; i++) {
    if (steps[i] == 1) continue;
    tvms_node *axis = tvms_object_int_new(c->m->unit, i + 3, TVMS_NO_SPAN);
    weight = tvms_relax_op_with(c->m, TVMS_R_flip, &weight, 1, &axis);
  }
  weight = tvms_relax_op_permute(c->m, weight, order, n + 3);
  dims[2] = dims[1];
  dims[1] = dim(c, c->groups * c->outputs);
  return tvms_relax_op_reshape(c->m, weight, dims + 1, n + 2);
}

static tvms_node *convolved_at(const transposed_conv *c, uint32_t number) {
  int64_t place[MOST_AXES], steps[MOST_AXES], padding[2 * MOST_AXES];
  for (uint32_t i = c->axes; i-- > 0;) {
    const window_axis *a = &c->axis[i];
    place[i] = number % a->stride;
    number /= (uint32_t)a->stride;
    steps[i] = (a->window - place[i] + a->stride - 1) / a->stride;
    padding[i] = steps[i] - 1 - a->padding / a->stride;
    padding[c->axes + i] = a->behind;
  }
  return convolved(c, weight_at(c, place, steps), padding);
}

// The last axis of places changes fastest.
static tvms_node *one_by_one(const transposed_conv *c) {
  tvms_node *parts[MOST_PLACES], *dims[MOST_AXES + 2];
  uint32_t count = 1, n = c->axes;
  dims[0] = c->dims.items[0];
  dims[1] = c->dims.items[1];
  for (uint32_t i = 0; i < n; i++) {
    count *= (uint32_t)c->axis[i].stride;
    dims[i + 2] = blocks_of(c, &c->axis[i]);
  }
  for (uint32_t i = 0; i < count; i++)
    parts[i] = convolved_at(c, i);
  for (uint32_t i = n; i-- > 0;) {
    uint32_t stride = (uint32_t)c->axis[i].stride;
    if (stride == 1) continue;
    count /= stride;
    dims[i + 2] = length_of(c, &c->axis[i]);
    tvms_node *axis = tvms_object_int_new(c->m->unit, i + 3, TVMS_NO_SPAN);
    for (uint32_t k = 0; k < count; k++) {
      tvms_node *tuple = tvms_relax_make_tuple(c->m, parts + k * stride, stride);
      tuple = tvms_relax_op_with(c->m, TVMS_R_stack, &tuple, 1, &axis);
      parts[k] = tvms_relax_op_reshape(c->m, tuple, dims, n + 2);
    }
  }
  return parts[0];
}

static tvms_node *leave_call(tvms_rewriter *rewriter, tvms_node *node) {
  static const char *const data[] = {"NCW", "NCHW", "NCDHW"};
  static const char *const kernels[] = {"IOW", "IOHW", "IODHW"};
  transposed_conv c = {.m = rewriter->self};
  switch ((uint32_t)tvms_op_called(node)) {
  case TVMS_R_nn_conv1d_transpose: c.axes = 1; break;
  case TVMS_R_nn_conv2d_transpose: c.axes = 2; break;
  case TVMS_R_nn_conv3d_transpose: c.axes = 3; break;
  default: return tvms_relax_leave_call(rewriter, node);
  }
  node = tvms_relax_leave_call(rewriter, node);
  c.call = tvms_as_call(node);
  if (!layouts_are(c.call, data[c.axes - 1], kernels[c.axes - 1]) || !read_axes(&c))
    return node;
  return tvms_relax_settle(c.m, cut(&c, is_uneven(&c) ? one_by_one(&c) : at_once(&c)));
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  return tvms_relax_change_calls(run, unit, function, leave_call);
}

void tvms_pass_conv_transpose_to_conv(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
