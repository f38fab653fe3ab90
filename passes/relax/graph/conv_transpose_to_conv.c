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
// end are zeros of v. Sizes along the window must be known; data of NCW, NCHW or NCDHW with any
// batch and groups. What is dilated, or has no strides, stays. TVM has no such pass.
#include "ir/object.h"
#include "passes/relax/graph/op_calls.h"
#include "passes/relax/make.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

#include <string.h>

// Steps of a window, its stride and padding: no more, so that no sum of them overflows.
enum { MOST_AXES = 3, MOST_DIMS = 2 * MOST_AXES + 3, MOST_STEPS = 1 << 30 };

// Numbers along one axis of the window.
typedef struct {
  int64_t data, result, window, stride, padding;
  int64_t steps;           // of the window of the convolution
  int64_t blocks;          // of `stride` elements of the result that it makes
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

static bool settle_axis(window_axis *a) {
  a->steps = (a->window + a->stride - 1) / a->stride;
  int64_t first = a->padding / a->stride;
  int64_t last = (a->result - 1 + a->padding) / a->stride;
  a->blocks = last - first + 1;
  a->before = a->steps - 1 - first;
  a->behind = last - (a->data - 1);
  a->skipped = a->padding - first * a->stride;
  return a->before >= 0 && a->behind >= 0;
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
    a->stride = strides[i];
    a->padding = padding[i];
    if (dilation[i] != 1 || a->stride < 1 || a->stride > MOST_STEPS || a->padding < 0
        || a->padding > MOST_STEPS || !tvms_sinfo_dim_int(data.items[i + 2], &a->data)
        || !tvms_sinfo_dim_int(weight.items[i + 2], &a->window)
        || !tvms_sinfo_dim_int(c->dims.items[i + 2], &a->result) || a->data < 1
        || a->window < 1 || a->window > MOST_STEPS || a->result < 1
        || a->result > INT64_MAX / 2 || !settle_axis(a)
        || __builtin_mul_overflow(outputs, a->stride, &outputs))
      return false;
    strided |= a->stride > 1;
  }
  return strided;
}

static tvms_node *dim(const transposed_conv *c, int64_t value) {
  return tvms_sinfo_dim_new(c->m->unit, value);
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

static tvms_node *convolved(const transposed_conv *c) {
  static const char *const kernels[] = {"OIW", "OIHW", "OIDHW"};
  static const tvms_opcode opcodes[] = {TVMS_R_nn_conv1d, TVMS_R_nn_conv2d,
                                        TVMS_R_nn_conv3d};
  int64_t ones[] = {1, 1, 1}, padding[2 * MOST_AXES];
  tvms_unit *unit = c->m->unit;
  tvms_node *const *old = c->call->attrs.items;
  for (uint32_t i = 0; i < c->axes; i++) {
    padding[i] = c->axis[i].before;
    padding[c->axes + i] = c->axis[i].behind;
  }
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
  tvms_node *args[] = {c->call->args.items[0], weight_of(c)};
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
  int64_t axes[MOST_AXES], begin[MOST_AXES], end[MOST_AXES];
  bool whole = true;
  for (uint32_t i = 0; i < c->axes; i++) {
    const window_axis *a = &c->axis[i];
    axes[i] = i + 2;
    begin[i] = a->skipped;
    end[i] = a->skipped + a->result;
    whole &= a->skipped == 0 && a->result == a->blocks * a->stride;
  }
  if (whole) return x;
  tvms_node *args[] = {x, ints_tuple(c, axes), ints_tuple(c, begin),
                       ints_tuple(c, end)};
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
    dims[n + 2 + i] = dim(c, c->axis[i].blocks);
    order[2 * i + 2] = n + 2 + i;
    order[2 * i + 3] = i + 2;
  }
  x = tvms_relax_op_reshape(c->m, x, dims, 2 * n + 2);
  x = tvms_relax_op_permute(c->m, x, order, 2 * n + 2);
  for (uint32_t i = 0; i < n; i++)
    dims[i + 2] = dim(c, c->axis[i].blocks * c->axis[i].stride);
  return tvms_relax_op_reshape(c->m, x, dims, n + 2);
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
  return tvms_relax_settle(c.m, cut(&c, placed(&c, convolved(&c))));
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  return tvms_relax_change_calls(run, unit, function, leave_call);
}

void tvms_pass_conv_transpose_to_conv(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
