// The gradient of a convolution: of the data by a transposed convolution with the weight, of the
// weight by one of the data with the gradient, in which batch and channels change places.
#include "passes/relax/graph/gradient_windows.h"

#include "ir/object.h"
#include "passes/relax/graph/op_calls.h"
#include "passes/relax/make.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

#include <string.h>

// Numbers of a convolution along its two axes.
typedef struct {
  int64_t data[4], weight[4], result[4];
  int64_t strides[2], padding[4], dilation[2], groups;
} conv_sizes;

static bool constant_shape(const tvms_node *expr, int64_t sizes[4]) {
  tvms_list dims;
  if (!tvms_sinfo_is_tensor(expr->sinfo) || !tvms_sinfo_dims(expr->sinfo, &dims))
    return false;
  for (uint32_t i = 0; i < dims.len && dims.len == 4; i++)
    if (!tvms_sinfo_dim_int(dims.items[i], &sizes[i])) return false;
  return dims.len == 4;
}

static bool read_sizes(const tvms_gradient_query *q, conv_sizes *s) {
  const tvms_call *call = q->call;
  bool plain =
      tvms_bytes_is(tvms_attr_text(call, TVMS_ATTR_conv2d_data_layout), "NCHW")
      && tvms_bytes_is(tvms_attr_text(call, TVMS_ATTR_conv2d_kernel_layout), "OIHW")
      && tvms_bytes_is(tvms_attr_text(call, TVMS_ATTR_conv2d_out_layout), "NCHW");
  s->groups = tvms_attr_int(call, TVMS_ATTR_conv2d_groups, 1);
  return plain && s->groups > 0
         && tvms_attr_ints(call, TVMS_ATTR_conv2d_strides, s->strides, 2)
         && tvms_attr_ints(call, TVMS_ATTR_conv2d_padding, s->padding, 4)
         && tvms_attr_ints(call, TVMS_ATTR_conv2d_dilation, s->dilation, 2)
         && constant_shape(call->args.items[0], s->data)
         && constant_shape(call->args.items[1], s->weight)
         && constant_shape(q->result, s->result);
}

static tvms_node *text(tvms_gradient_query *q, const char *value) {
  return tvms_object_str_new(q->m->unit, value, strlen(value), TVMS_NO_SPAN);
}

static tvms_node *gradient_of_data(tvms_gradient_query *q, const conv_sizes *s) {
  tvms_node *const *old = q->call->attrs.items;
  int64_t rest[2];
  for (uint32_t i = 0; i < 2; i++) {
    int64_t size = (s->result[i + 2] - 1) * s->strides[i] - s->padding[i]
                   - s->padding[i + 2] + s->weight[i + 2];
    rest[i] = s->data[i + 2] - size;
  }
  tvms_node *attrs[TVMS_ATTR_conv2d_transpose_COUNT] = {
      [TVMS_ATTR_conv2d_transpose_strides] = old[TVMS_ATTR_conv2d_strides],
      [TVMS_ATTR_conv2d_transpose_padding] = old[TVMS_ATTR_conv2d_padding],
      [TVMS_ATTR_conv2d_transpose_output_padding] =
          tvms_relax_op_ints(q->m->unit, rest, 2),
      [TVMS_ATTR_conv2d_transpose_dilation] = old[TVMS_ATTR_conv2d_dilation],
      [TVMS_ATTR_conv2d_transpose_groups] = old[TVMS_ATTR_conv2d_groups],
      [TVMS_ATTR_conv2d_transpose_data_layout] = text(q, "NCHW"),
      [TVMS_ATTR_conv2d_transpose_kernel_layout] = text(q, "IOHW"),
      [TVMS_ATTR_conv2d_transpose_out_layout] = text(q, "NCHW"),
      [TVMS_ATTR_conv2d_transpose_out_dtype] = old[TVMS_ATTR_conv2d_out_dtype],
  };
  tvms_node *args[] = {q->grad, q->call->args.items[1]};
  return tvms_relax_op_with(q->m, TVMS_R_nn_conv2d_transpose, args, 2, attrs);
}

static tvms_node *reshaped(tvms_gradient_query *q, tvms_node *x, const int64_t *sizes,
                           uint32_t count) {
  tvms_node *dims[5];
  for (uint32_t i = 0; i < count; i++)
    dims[i] = tvms_sinfo_dim_new(q->m->unit, sizes[i]);
  return tvms_relax_op_reshape(q->m, x, dims, count);
}

// The channels of a group stand beside each other as images of their own.
static tvms_node *grouped_data(tvms_gradient_query *q, const conv_sizes *s) {
  static const int64_t axes[] = {1, 0, 2, 3, 4};
  tvms_node *x = q->call->args.items[0];
  if (s->groups == 1) return x;
  int64_t channels = s->data[1] / s->groups;
  int64_t five[] = {s->data[0], s->groups, channels, s->data[2], s->data[3]};
  int64_t four[] = {s->data[0] * s->groups, channels, s->data[2], s->data[3]};
  x = tvms_relax_op_permute(q->m, reshaped(q, x, five, 5), axes, 5);
  return reshaped(q, x, four, 4);
}

static tvms_node *ints_tuple(tvms_gradient_query *q, const int64_t *values) {
  tvms_node *fields[4];
  tvms_unit *unit = q->m->unit;
  for (uint32_t i = 0; i < 4; i++) {
    fields[i] = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 64), values[i], TVMS_NO_SPAN);
    fields[i] = tvms_relax_make_prim_value(unit, fields[i]);
  }
  return tvms_relax_make_tuple(q->m, fields, 4);
}

// The first elements of every axis, as many as the weight has.
static tvms_node *cut(tvms_gradient_query *q, tvms_node *x, const conv_sizes *s) {
  static const int64_t axes[] = {0, 1, 2, 3}, begin[4] = {0};
  int64_t end[] = {s->result[1], s->data[1] / s->groups, s->weight[2], s->weight[3]};
  tvms_node *args[] = {x, ints_tuple(q, axes), ints_tuple(q, begin),
                       ints_tuple(q, end)};
  tvms_node *attr = tvms_object_bool_new(q->m->unit, false, TVMS_NO_SPAN);
  return tvms_relax_op_with(q->m, TVMS_R_strided_slice, args, 4, &attr);
}

static tvms_node *gradient_of_weight(tvms_gradient_query *q, const conv_sizes *s) {
  tvms_node *const *old = q->call->attrs.items;
  tvms_node *attrs[TVMS_ATTR_conv2d_COUNT] = {
      [TVMS_ATTR_conv2d_strides] = old[TVMS_ATTR_conv2d_dilation],
      [TVMS_ATTR_conv2d_padding] = old[TVMS_ATTR_conv2d_padding],
      [TVMS_ATTR_conv2d_dilation] = old[TVMS_ATTR_conv2d_strides],
      [TVMS_ATTR_conv2d_groups] = old[TVMS_ATTR_conv2d_groups],
      [TVMS_ATTR_conv2d_data_layout] = text(q, "CNHW"),
      [TVMS_ATTR_conv2d_kernel_layout] = text(q, "IOHW"),
      [TVMS_ATTR_conv2d_out_layout] = text(q, "CNHW"),
      [TVMS_ATTR_conv2d_out_dtype] = old[TVMS_ATTR_conv2d_out_dtype],
  };
  tvms_node *args[] = {grouped_data(q, s), q->grad};
  tvms_node *made = tvms_relax_op_with(q->m, TVMS_R_nn_conv2d, args, 2, attrs);
  bool fits = true;
  for (uint32_t i = 0; i < 2; i++) {
    int64_t size = s->data[i + 2] - (s->result[i + 2] - 1) * s->strides[i] - 1
                   + s->padding[i] + s->padding[i + 2];
    fits &= size / s->dilation[i] + 1 <= s->weight[i + 2];
  }
  return fits ? made : cut(q, made, s);
}

bool tvms_relax_gradient_conv2d(tvms_gradient_query *query) {
  conv_sizes sizes;
  if (!read_sizes(query, &sizes)) return false;
  query->partials[0] = gradient_of_data(query, &sizes);
  query->partials[1] = gradient_of_weight(query, &sizes);
  return true;
}
