// Rules of convolutions, pooling and resizing: everything that has a layout.
//
// A layout is taken apart into primal axes first, the rule computes on the plain order
// of batch, channel and space, and the result is put back into the output's layout
// (structinfo/data_layout.h), packed ones like NCHW4c too.
#include "ir/build.h"
#include "ir/fold.h"
#include "ir/fold_ops.h"
#include "structinfo/data_layout.h"
#include "structinfo/make.h"
#include "structinfo/windows.h"

#include <string.h>

enum { MOST_SPATIAL = 3 };

static const char *const data_axes[] = {"", "NCW", "NCHW", "NCDHW"};
static const char *const kernel_axes[] = {"", "OIW", "OIHW", "OIDHW"};

// Reads the attributes; lists must have one item (padding: two) per spatial axis.
static bool take_attrs(const tvms_inference *in, tvms_windows *a) {
  *a = tvms_windows_of(in->call);
  bool sound = a->spatial >= 1 && a->spatial <= MOST_SPATIAL
               && a->padding.len == 2 * a->spatial && a->dilation.len == a->spatial;
  if (!sound) {
    return tvms_in_expects(in, TVMS_THE_CALL,
                           "one stride and dilation per spatial axis");
  }
  for (uint32_t i = 0; i < a->spatial; i++) {
    if (tvms_attr_item_int(a->strides.items[i]) < 1) {
      return tvms_in_expects(in, TVMS_THE_CALL, "positive strides");
    }
  }
  return a->groups >= 1 || tvms_in_expects(in, TVMS_THE_CALL, "positive groups");
}

static int64_t total_padding(const tvms_windows *a, uint32_t axis) {
  return tvms_attr_item_int(a->padding.items[axis])
         + tvms_attr_item_int(a->padding.items[axis + a->spatial]);
}

static tvms_node *TVMS_NULLABLE op_int(const tvms_inference *in, tvms_node_kind kind,
                                       tvms_node *TVMS_NULLABLE a, int64_t b) {
  return a ? tvms_dim_binary_int(in->prover, kind, a, b) : NULL;
}

static tvms_node *TVMS_NULLABLE op(const tvms_inference *in, tvms_node_kind kind,
                                   tvms_node *TVMS_NULLABLE a,
                                   tvms_node *TVMS_NULLABLE b) {
  return a && b ? tvms_dim_binary(in->prover, kind, a, b) : NULL;
}

// dilation * (kernel - 1)
static tvms_node *TVMS_NULLABLE reach(const tvms_inference *in, const tvms_windows *a,
                                      uint32_t axis, tvms_node *kernel) {
  tvms_node *less = op_int(in, TVMS_NODE_SUB, kernel, 1);
  tvms_node *dilation =
      tvms_sinfo_dim_new(in->unit, tvms_attr_item_int(a->dilation.items[axis]));
  return op(in, TVMS_NODE_MUL, dilation, less);
}

// Input + padding - reach - 1: how far the window can move.
static tvms_node *TVMS_NULLABLE travel(const tvms_inference *in, const tvms_windows *a,
                                       uint32_t axis, tvms_node *input,
                                       tvms_node *kernel) {
  tvms_node *padded = op_int(in, TVMS_NODE_ADD, input, total_padding(a, axis));
  tvms_node *room = op(in, TVMS_NODE_SUB, padded, reach(in, a, axis, kernel));
  return op_int(in, TVMS_NODE_SUB, room, 1);
}

// travel // stride + 1
static tvms_node *TVMS_NULLABLE positions(const tvms_inference *in,
                                          const tvms_windows *a, uint32_t axis,
                                          tvms_node *TVMS_NULLABLE distance) {
  int64_t stride = tvms_attr_item_int(a->strides.items[axis]);
  tvms_node *steps = op_int(in, TVMS_NODE_FLOOR_DIV, distance, stride);
  return op_int(in, TVMS_NODE_ADD, steps, 1);
}

typedef struct {
  tvms_tensor_argument data, weight;
  tvms_data_layout data_layout, kernel_layout, out_layout;
  tvms_dims plain, kernel;  // in the order of data_axes and kernel_axes, if known
  bool known;
  tvms_dtype dtype;
  tvms_node *vdevice;
} conv;

static bool take_conv(tvms_inference *in, const tvms_windows *a, conv *c) {
  if (!tvms_in_count(in, 2, 2) || !tvms_in_tensor(in, 0, &c->data)
      || !tvms_in_tensor(in, 1, &c->weight)) {
    return false;
  }
  const char *data = data_axes[a->spatial], *kernel = kernel_axes[a->spatial];
  if (!tvms_in_data_layout(in, a->data_layout, data, "data", &c->data_layout)
      || !tvms_in_data_layout(in, a->kernel_layout, kernel, "kernel", &c->kernel_layout)
      || !tvms_in_data_layout(in, a->out_layout, data, "output", &c->out_layout)
      || !tvms_in_data_layout_rank(in, 0, &c->data, &c->data_layout)
      || !tvms_in_data_layout_rank(in, 1, &c->weight, &c->kernel_layout)) {
    return false;
  }
  c->dtype = a->out_dtype;
  if (tvms_dtype_is_void(c->dtype)
      && !tvms_in_common_dtype(in, c->data.sinfo, c->weight.sinfo, &c->dtype)) {
    return false;
  }
  if (!tvms_in_common_vdevice(in, c->data.sinfo, c->weight.sinfo, &c->vdevice)) {
    return false;
  }
  c->known = c->data.known && c->weight.known;
  return !c->known
         || (tvms_data_layout_to_plain(in, &c->data_layout, data, c->data.dims,
                                       &c->plain)
             && tvms_data_layout_to_plain(in, &c->kernel_layout, kernel, c->weight.dims,
                                          &c->kernel));
}

static tvms_node *TVMS_NULLABLE finish(tvms_inference *in,
                                       const tvms_data_layout *layout,
                                       const char *plain, tvms_dims out,
                                       tvms_dtype dtype,
                                       tvms_node *TVMS_NULLABLE vdevice) {
  tvms_dims dims;
  if (!tvms_data_layout_from_plain(in, layout, plain, out, &dims)) return NULL;
  return tvms_in_result(in, dims, dtype, vdevice);
}

static bool divisible(tvms_inference *in, tvms_node *dim, int64_t groups) {
  int64_t length;
  if (!tvms_sinfo_dim_int(dim, &length) || length % groups == 0) return true;
  return tvms_in_expects(in, 1, "a number of channels divisible by groups");
}

tvms_node *tvms_infer_conv(tvms_inference *in) {
  tvms_windows a;
  conv c;
  if (!take_attrs(in, &a) || !take_conv(in, &a, &c)) return NULL;
  if (!c.known) return tvms_in_result_ndim(in, c.out_layout.count, c.dtype, c.vdevice);
  tvms_node *wanted = op_int(in, TVMS_NODE_MUL, c.kernel.items[1], a.groups);
  if (!wanted) return NULL;
  if (tvms_dim_differ(in->prover, c.plain.items[1], wanted)) {
    return tvms_in_unequal(in, 1, "input channels", c.plain.items[1], wanted);
  }
  if (!divisible(in, c.kernel.items[0], a.groups)) return NULL;
  tvms_dims out = tvms_dims_new(in, a.spatial + 2);
  out.items[0] = c.plain.items[0];
  out.items[1] = c.kernel.items[0];
  for (uint32_t i = 0; i < a.spatial; i++) {
    tvms_node *distance =
        travel(in, &a, i, c.plain.items[i + 2], c.kernel.items[i + 2]);
    tvms_node *length = positions(in, &a, i, distance);
    if (!length) return NULL;
    out.items[i + 2] = tvms_dim_simplify(in->prover, length);
  }
  return finish(in, &c.out_layout, data_axes[a.spatial], out, c.dtype, c.vdevice);
}

// (input - 1) * stride - padding + reach + output_padding + 1
static tvms_node *TVMS_NULLABLE transposed_length(tvms_inference *in,
                                                  const tvms_windows *a, uint32_t axis,
                                                  tvms_node *input, tvms_node *kernel) {
  int64_t extra = 0;
  if (axis < a->output_padding.len)
    extra = tvms_attr_item_int(a->output_padding.items[axis]);
  tvms_node *length = op_int(in, TVMS_NODE_SUB, input, 1);
  length =
      op_int(in, TVMS_NODE_MUL, length, tvms_attr_item_int(a->strides.items[axis]));
  length = op_int(in, TVMS_NODE_SUB, length, total_padding(a, axis));
  length = op(in, TVMS_NODE_ADD, length, reach(in, a, axis, kernel));
  length = op_int(in, TVMS_NODE_ADD, length, extra);
  length = op_int(in, TVMS_NODE_ADD, length, 1);
  return length ? tvms_dim_simplify(in->prover, length) : NULL;
}

tvms_node *tvms_infer_conv_transpose(tvms_inference *in) {
  tvms_windows a;
  conv c;
  if (!take_attrs(in, &a) || !take_conv(in, &a, &c)) return NULL;
  for (uint32_t i = 0; i < a.spatial && i < a.output_padding.len; i++) {
    if (tvms_attr_item_int(a.output_padding.items[i])
        >= tvms_attr_item_int(a.strides.items[i])) {
      return tvms_in_expects(in, TVMS_THE_CALL, "output_padding less than strides");
    }
  }
  if (!c.known) return tvms_in_result_ndim(in, c.out_layout.count, c.dtype, c.vdevice);
  // In a kernel of a transposed convolution I is the input, O the output.
  tvms_node *inputs = c.kernel.items[1], *outputs = c.kernel.items[0];
  if (tvms_dim_differ(in->prover, c.plain.items[1], inputs)) {
    return tvms_in_unequal(in, 1, "input channels", c.plain.items[1], inputs);
  }
  if (!divisible(in, inputs, a.groups)) return NULL;
  tvms_dims out = tvms_dims_new(in, a.spatial + 2);
  out.items[0] = c.plain.items[0];
  out.items[1] = op_int(in, TVMS_NODE_MUL, outputs, a.groups);
  if (!out.items[1]) return NULL;
  for (uint32_t i = 0; i < a.spatial; i++) {
    out.items[i + 2] =
        transposed_length(in, &a, i, c.plain.items[i + 2], c.kernel.items[i + 2]);
    if (!out.items[i + 2]) return NULL;
  }
  return finish(in, &c.out_layout, data_axes[a.spatial], out, c.dtype, c.vdevice);
}

// ---- Pooling ----

// With ceil_mode a last window that would begin in the padding on the right is dropped
// (since 0.26).
static tvms_node *TVMS_NULLABLE pooled_length(tvms_inference *in, const tvms_windows *a,
                                              uint32_t axis, tvms_node *input,
                                              bool ceil) {
  int64_t stride = tvms_attr_item_int(a->strides.items[axis]);
  tvms_node *kernel =
      tvms_sinfo_dim_new(in->unit, tvms_attr_item_int(a->window.items[axis]));
  tvms_node *distance = travel(in, a, axis, input, kernel);
  if (ceil) distance = op_int(in, TVMS_NODE_ADD, distance, stride - 1);
  tvms_node *length = positions(in, a, axis, distance);
  if (ceil && length
      && tvms_release_has(in->unit->dialect, TVMS_FACT_pooling_drops_last_window)) {
    tvms_node *less = op_int(in, TVMS_NODE_SUB, length, 1);
    tvms_node *start = op_int(in, TVMS_NODE_MUL, less, stride);
    tvms_node *edge =
        op_int(in, TVMS_NODE_ADD, input, tvms_attr_item_int(a->padding.items[axis]));
    tvms_node *invalid = op(in, TVMS_NODE_GE, start, edge);
    if (!invalid) return NULL;
    length = tvms_build_if_then_else(in->unit, invalid, less, length, TVMS_NO_SPAN);
  }
  return length ? tvms_dim_simplify(in->prover, length) : NULL;
}

tvms_node *tvms_infer_pool(tvms_inference *in) {
  tvms_windows a;
  tvms_tensor_argument x;
  tvms_data_layout layout, out_layout;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x) || !take_attrs(in, &a)) {
    return NULL;
  }
  const char *plain_axes = data_axes[a.spatial];
  if (!tvms_in_data_layout(in, a.data_layout, plain_axes, "data", &layout)
      || !tvms_in_data_layout(in, a.out_layout, plain_axes, "output", &out_layout)
      || !tvms_in_data_layout_rank(in, 0, &x, &layout)) {
    return NULL;
  }
  if (a.window.len != a.spatial) {
    return tvms_in_expects(in, TVMS_THE_CALL, "a pool_size per spatial axis");
  }
  if (!x.known) return tvms_in_result_ndim(in, out_layout.count, x.dtype, x.vdevice);
  tvms_dims plain;
  if (!tvms_data_layout_to_plain(in, &layout, plain_axes, x.dims, &plain)) return NULL;
  for (uint32_t i = 0; i < a.spatial; i++) {
    plain.items[i + 2] = pooled_length(in, &a, i, plain.items[i + 2], a.ceil_mode);
    if (!plain.items[i + 2]) return NULL;
  }
  return finish(in, &out_layout, plain_axes, plain, x.dtype, x.vdevice);
}

// Number of spatial axes that the operator's name ends with: adaptive_avg_pool2d.
static uint32_t spatial_of_name(const tvms_inference *in) {
  const char *name = tvms_op_of(in->op)->name;
  return (uint32_t)(name[strlen(name) - 2] - '0');
}

tvms_node *tvms_infer_adaptive_pool(tvms_inference *in) {
  tvms_tensor_argument x;
  tvms_data_layout layout, out_layout;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  const char *plain_axes = data_axes[spatial_of_name(in)];
  tvms_windows a = tvms_windows_of(in->call);
  tvms_bytes data = a.data_layout, out = a.out_layout;
  if (!tvms_in_data_layout(in, data, plain_axes, "data", &layout)
      || !tvms_in_data_layout(in, out, plain_axes, "output", &out_layout)
      || !tvms_in_data_layout_rank(in, 0, &x, &layout)) {
    return NULL;
  }
  bool given = tvms_attr(in->call, TVMS_ATTR_adaptive_pool1d_output_size);
  tvms_list size = a.output_size;
  if (!x.known) {
    if (x.shape && !given && tvms_bytes_same(data, out)) return x.sinfo;
    return tvms_in_result_ndim(in, out_layout.count, x.dtype, x.vdevice);
  }
  tvms_dims plain;
  if (!tvms_data_layout_to_plain(in, &layout, plain_axes, x.dims, &plain)) return NULL;
  if (given && size.len != plain.len - 2) {
    return tvms_in_expects(in, TVMS_THE_CALL, "an output_size per spatial axis");
  }
  for (uint32_t i = 0; i < size.len; i++) {
    plain.items[i + 2] =
        tvms_sinfo_dim_new(in->unit, tvms_attr_item_int(size.items[i]));
  }
  return finish(in, &out_layout, plain_axes, plain, x.dtype, x.vdevice);
}

// ---- Resizing ----

tvms_node *tvms_infer_resize(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 2, 2) || !tvms_in_tensor(in, 0, &x)) return NULL;
  uint32_t spatial = spatial_of_name(in);
  const tvms_node *size = tvms_in_sinfo(in, 1);
  if (size->kind != TVMS_NODE_SINFO_SHAPE) return tvms_in_expects(in, 1, "a shape");
  if (tvms_as_sinfo_shape(size)->ndim != spatial) {
    return tvms_in_wrong_ndim(in, 1, spatial, tvms_as_sinfo_shape(size)->ndim);
  }
  tvms_data_layout layout;
  const char *plain_axes = data_axes[spatial];
  tvms_windows a = tvms_windows_of(in->call);
  if (!tvms_in_data_layout(in, a.data_layout, plain_axes, "data", &layout)
      || !tvms_in_data_layout_rank(in, 0, &x, &layout)) {
    return NULL;
  }
  tvms_dtype dtype = a.out_dtype;
  if (tvms_dtype_is_void(dtype)) dtype = x.dtype;
  const tvms_node *value = tvms_in_arg(in, 1);
  if (!x.known || value->kind != TVMS_NODE_SHAPE_EXPR) {
    return tvms_in_result_ndim(in, layout.count, dtype, x.vdevice);
  }
  tvms_dims plain;
  if (!tvms_data_layout_to_plain(in, &layout, plain_axes, x.dims, &plain)) return NULL;
  for (uint32_t i = 0; i < spatial; i++) {
    plain.items[i + 2] = tvms_as_shape_expr(value)->values.items[i];
  }
  return finish(in, &layout, plain_axes, plain, dtype, x.vdevice);
}

tvms_node *tvms_infer_grid_sample(tvms_inference *in) {
  tvms_tensor_argument x, grid;
  if (!tvms_in_count(in, 2, 2) || !tvms_in_tensor(in, 0, &x)
      || !tvms_in_tensor(in, 1, &grid)) {
    return NULL;
  }
  tvms_bytes text = tvms_windows_of(in->call).data_layout;
  uint32_t spatial = tvms_bytes_is(text, "NCDHW") ? 3 : 2;
  tvms_data_layout layout;
  if (!tvms_in_data_layout(in, text, data_axes[spatial], "data", &layout)
      || !tvms_in_data_layout_rank(in, 0, &x, &layout)) {
    return NULL;
  }
  if (!x.known || !grid.known) {
    return tvms_in_result_ndim(in, layout.count, x.dtype, x.vdevice);
  }
  // Only the axes that are read have to be there.
  if (grid.ndim < spatial + 2) return tvms_in_wrong_ndim(in, 1, spatial + 2, grid.ndim);
  tvms_dims plain;
  if (!tvms_data_layout_to_plain(in, &layout, data_axes[spatial], x.dims, &plain))
    return NULL;
  for (uint32_t i = 0; i < spatial; i++) {
    plain.items[i + 2] = grid.dims.items[i + 2];
  }
  return finish(in, &layout, data_axes[spatial], plain, x.dtype, x.vdevice);
}

tvms_node *tvms_infer_affine_grid(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 2, 2) || !tvms_in_tensor(in, 0, &x)) return NULL;
  const tvms_node *size = tvms_in_sinfo(in, 1), *value = tvms_in_arg(in, 1);
  if (size->kind != TVMS_NODE_SINFO_SHAPE) return tvms_in_expects(in, 1, "a shape");
  int64_t spatial = tvms_as_sinfo_shape(size)->ndim;
  if (spatial != 2 && spatial != 3) return tvms_in_wrong_ndim(in, 1, 2, spatial);
  if (x.ndim != TVMS_UNKNOWN_NDIM && x.ndim != 3) {
    return tvms_in_wrong_ndim(in, 0, 3, x.ndim);
  }
  if (!x.known || value->kind != TVMS_NODE_SHAPE_EXPR) {
    return tvms_in_result_ndim(in, spatial + 2, x.dtype, x.vdevice);
  }
  for (uint32_t i = 1; i < 3; i++) {
    int64_t length;
    if (tvms_sinfo_dim_int(x.dims.items[i], &length) && length != spatial + i - 1) {
      return tvms_in_expects(in, 0, "one affine map per image");
    }
  }
  tvms_dims dims = tvms_dims_new(in, (uint32_t)spatial + 2);
  dims.items[0] = x.dims.items[0];
  dims.items[1] = tvms_sinfo_dim_new(in->unit, spatial);
  for (uint32_t i = 0; i < spatial; i++) {
    dims.items[i + 2] = tvms_as_shape_expr(value)->values.items[i];
  }
  return tvms_in_result(in, dims, x.dtype, x.vdevice);
}
