// Rules of neural-network operators: activations, norms, losses, padding, attention.
#include "structinfo/infer_common.h"
#include "structinfo/make.h"

tvms_node *tvms_infer_softmax(tvms_inference *in) {
  tvms_tensor_argument x;
  int64_t axis;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  if (x.ndim == TVMS_UNKNOWN_NDIM) return x.sinfo;
  if (!tvms_dtype_is_void(x.dtype) && !tvms_dtype_is_floating(x.dtype)) {
    return tvms_in_wrong_dtype(in, 0, "floating-point elements", x.dtype);
  }
  int64_t given = tvms_attr_int(in->call, TVMS_ATTR_axis_axis, -1);
  return tvms_in_axis(in, x.ndim, given, &axis) ? x.sinfo : NULL;
}

// TVM's rules of some operators take no bfloat16 for a float. False after a report.
static bool is_plain_float(tvms_inference *in, const tvms_tensor_argument *x) {
  if (tvms_dtype_is_void(x->dtype) || x->dtype.code == TVMS_FLOAT) return true;
  tvms_in_wrong_dtype(in, 0, "floating-point elements", x->dtype);
  return false;
}

tvms_node *tvms_infer_prelu(tvms_inference *in) {
  tvms_tensor_argument x, alpha;
  int64_t axis;
  if (!tvms_in_count(in, 2, 2) || !tvms_in_tensor(in, 0, &x)
      || !tvms_in_tensor(in, 1, &alpha)) {
    return NULL;
  }
  if (x.ndim == TVMS_UNKNOWN_NDIM) return x.sinfo;
  if (!is_plain_float(in, &x)) return NULL;
  int64_t given = tvms_attr_int(in->call, TVMS_ATTR_axis_axis, 1);
  return tvms_in_axis(in, x.ndim, given, &axis) ? x.sinfo : NULL;
}

tvms_node *tvms_infer_pad(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  tvms_list widths = tvms_attr_list(in->call, TVMS_ATTR_pad_pad_width);
  if (widths.len != 2 * x.ndim) {
    return tvms_in_expects(in, TVMS_THE_CALL, "two widths per axis in pad_width");
  }
  if (!x.known) return tvms_in_result_ndim(in, x.ndim, x.dtype, NULL);
  tvms_dims dims = tvms_dims_new(in, x.dims.len);
  for (uint32_t i = 0; i < dims.len; i++) {
    int64_t added = tvms_attr_item_int(widths.items[2 * i]);
    added += tvms_attr_item_int(widths.items[2 * i + 1]);
    dims.items[i] =
        tvms_dim_binary_int(in->prover, TVMS_NODE_ADD, x.dims.items[i], added);
    if (!dims.items[i]) return NULL;
  }
  return tvms_in_result(in, dims, x.dtype, NULL);
}

tvms_node *tvms_infer_pixel_shuffle(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  int64_t factor = tvms_attr_int(in->call, TVMS_ATTR_pixel_shuffle_upscale_factor, 1);
  if (factor < 1)
    return tvms_in_expects(in, TVMS_THE_CALL, "a positive upscale_factor");
  if (x.ndim < 3) return tvms_in_expects(in, 0, "a tensor with at least three axes");
  if (!x.known) return tvms_in_result_ndim(in, x.ndim, x.dtype, NULL);
  tvms_dims dims = tvms_dims_copy(in, x.dims);
  tvms_node **channel = &dims.items[dims.len - 3];
  int64_t channels;
  if (tvms_sinfo_dim_int(*channel, &channels) && channels % (factor * factor) != 0) {
    return tvms_in_expects(
        in, 0, "a number of channels divisible by the square of upscale_factor");
  }
  *channel = tvms_dim_binary_int(in->prover, TVMS_NODE_DIV, *channel, factor * factor);
  for (uint32_t i = dims.len - 2; i < dims.len; i++) {
    dims.items[i] =
        tvms_dim_binary_int(in->prover, TVMS_NODE_MUL, dims.items[i], factor);
  }
  return *channel ? tvms_in_result(in, dims, x.dtype, NULL) : NULL;
}

// ---- Normalization ----

enum { MOST_NORM_INPUTS = 5 };

// Outcomes of the checks that norms share.
typedef enum { NORM_FAILED, NORM_UNKNOWN, NORM_FINE } norm;

static bool take_norm(tvms_inference *in, tvms_tensor_argument *t, uint32_t count) {
  if (!tvms_in_count(in, count, count)) return false;
  for (uint32_t i = 0; i < count; i++) {
    if (!tvms_in_tensor(in, i, &t[i])) return false;
  }
  return true;
}

static bool norm_types(tvms_inference *in, const tvms_tensor_argument *t,
                       uint32_t count, int64_t ndim) {
  if (!tvms_dtype_is_void(t[0].dtype) && !tvms_dtype_is_floating(t[0].dtype)) {
    return tvms_in_wrong_dtype(in, 0, "floating-point elements", t[0].dtype);
  }
  for (uint32_t i = 1; i < count; i++) {
    if (!tvms_dtype_same(t[i].dtype, t[0].dtype)) {
      return tvms_in_wrong_dtype(in, i, "parameters of the data's type", t[i].dtype);
    }
    if (t[i].ndim != ndim) return tvms_in_wrong_ndim(in, i, ndim, t[i].ndim);
  }
  return true;
}

// Parameters must be as long as the axes `list` of the data.
static norm check_norm(tvms_inference *in, const tvms_tensor_argument *t,
                       uint32_t count, tvms_list list) {
  int64_t *axes = tvms_in_ints(in, list.len);
  if (t[0].ndim != TVMS_UNKNOWN_NDIM && !tvms_in_axes(in, t[0].ndim, list, axes)) {
    return NORM_FAILED;
  }
  if (!norm_types(in, t, count, list.len)) return NORM_FAILED;
  // The first shape that is known is what the others are compared with.
  tvms_node **first = NULL;
  if (t[0].known) {
    tvms_dims dims = tvms_dims_new(in, list.len);
    for (uint32_t d = 0; d < list.len; d++) {
      dims.items[d] = t[0].dims.items[axes[d]];
    }
    first = dims.items;
  }
  for (uint32_t i = 1; i < count; i++) {
    if (!t[i].known) continue;
    for (uint32_t d = 0; first && d < list.len; d++) {
      if (tvms_dim_equal(in->prover, first[d], t[i].dims.items[d])) continue;
      if (!tvms_dim_differ(in->prover, first[d], t[i].dims.items[d]))
        return NORM_UNKNOWN;
      tvms_in_unequal(in, i, "dimensions", first[d], t[i].dims.items[d]);
      return NORM_FAILED;
    }
    if (!first) first = t[i].dims.items;
  }
  return NORM_FINE;
}

static tvms_node *TVMS_NULLABLE norm_over(tvms_inference *in, uint32_t count,
                                          uint32_t axes) {
  tvms_tensor_argument t[MOST_NORM_INPUTS];
  if (!take_norm(in, t, count)) return NULL;
  norm outcome = check_norm(in, t, count, tvms_attr_list(in->call, axes));
  if (outcome == NORM_FAILED) return NULL;
  if (outcome == NORM_FINE) return t[0].sinfo;
  return tvms_in_result_ndim(in, t[0].ndim, t[0].dtype, t[0].vdevice);
}

tvms_node *tvms_infer_layer_norm(tvms_inference *in) {
  return norm_over(in, 3, TVMS_ATTR_layer_norm_axes);
}

tvms_node *tvms_infer_rms_norm(tvms_inference *in) {
  return norm_over(in, 2, TVMS_ATTR_rms_norm_axes);
}

tvms_node *tvms_infer_batch_norm(tvms_inference *in) {
  tvms_tensor_argument t[5];
  if (!take_norm(in, t, 5)) return NULL;
  tvms_node *axis = tvms_attr(in->call, TVMS_ATTR_batch_norm_axis);
  if (!axis) return tvms_in_expects(in, TVMS_THE_CALL, "an axis");
  norm outcome = check_norm(in, t, 5, (tvms_list){&axis, 1});
  if (outcome == NORM_FAILED) return NULL;
  tvms_node *fields[] = {t[0].sinfo, t[3].sinfo, t[4].sinfo};
  for (uint32_t i = 0; i < 3 && outcome == NORM_UNKNOWN; i++) {
    fields[i] = tvms_in_result_ndim(in, i ? 1 : t[0].ndim, t[0].dtype, t[0].vdevice);
  }
  return tvms_sinfo_tuple_new(in->unit, fields, 3);
}

// Norms with a channel axis that is not among the normalized ones.
static tvms_node *TVMS_NULLABLE norm_channels(tvms_inference *in,
                                              uint32_t channel_place,
                                              uint32_t axes_place, int64_t groups) {
  tvms_tensor_argument t[3];
  if (!take_norm(in, t, 3)) return NULL;
  int64_t channel = -1;
  tvms_list list = tvms_attr_list(in->call, axes_place);
  if (t[0].ndim != TVMS_UNKNOWN_NDIM) {
    int64_t *axes = tvms_in_ints(in, list.len);
    if (!tvms_in_axis(in, t[0].ndim, tvms_attr_int(in->call, channel_place, 0),
                      &channel)
        || !tvms_in_axes(in, t[0].ndim, list, axes)) {
      return NULL;
    }
    for (uint32_t i = 0; i < list.len; i++) {
      if (axes[i] == channel) {
        return tvms_in_expects(in, TVMS_THE_CALL,
                               "channel_axis not to be among the axes");
      }
    }
  }
  if (!norm_types(in, t, 3, 1)) return NULL;
  if (!t[0].known || channel < 0) return t[0].sinfo;
  tvms_node *channels = t[0].dims.items[channel];
  int64_t size;
  if (tvms_sinfo_dim_int(channels, &size) && size % groups != 0) {
    return tvms_in_expects(in, 0, "a number of channels divisible by num_groups");
  }
  for (uint32_t i = 1; i < 3; i++) {
    if (t[i].known && tvms_dim_differ(in->prover, channels, t[i].dims.items[0])) {
      return tvms_in_unequal(in, i, "dimensions", channels, t[i].dims.items[0]);
    }
  }
  return t[0].sinfo;
}

tvms_node *tvms_infer_group_norm(tvms_inference *in) {
  int64_t groups = tvms_attr_int(in->call, TVMS_ATTR_group_norm_num_groups, 1);
  if (groups < 1) return tvms_in_expects(in, TVMS_THE_CALL, "a positive num_groups");
  tvms_tensor_argument x;
  if (in->call->args.len && (!tvms_in_tensor(in, 0, &x) || !is_plain_float(in, &x)))
    return NULL;
  return norm_channels(in, TVMS_ATTR_group_norm_channel_axis, TVMS_ATTR_group_norm_axes,
                       groups);
}

tvms_node *tvms_infer_instance_norm(tvms_inference *in) {
  return norm_channels(in, TVMS_ATTR_instance_norm_channel_axis,
                       TVMS_ATTR_instance_norm_axes, 1);
}

tvms_node *tvms_infer_dropout(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  tvms_node *fields[] = {x.sinfo, x.sinfo};
  return tvms_sinfo_tuple_new(in->unit, fields, 2);
}

// ---- Losses ----

tvms_node *tvms_infer_cross_entropy(tvms_inference *in) {
  tvms_tensor_argument a, b;
  tvms_dtype dtype;
  tvms_node *vdevice;
  if (!tvms_in_count(in, 2, 2) || !tvms_in_tensor(in, 0, &a)
      || !tvms_in_tensor(in, 1, &b)
      || !tvms_in_common_dtype(in, a.sinfo, b.sinfo, &dtype)
      || !tvms_in_common_vdevice(in, a.sinfo, b.sinfo, &vdevice)) {
    return NULL;
  }
  if (a.ndim != TVMS_UNKNOWN_NDIM && b.ndim != TVMS_UNKNOWN_NDIM && a.ndim != b.ndim) {
    return tvms_in_wrong_ndim(in, 1, a.ndim, b.ndim);
  }
  tvms_list x, y;
  if (tvms_in_tensor_values(&a, &x) && tvms_in_tensor_values(&b, &y)) {
    for (uint32_t i = 0; i < x.len; i++) {
      if (tvms_dim_differ(in->prover, x.items[i], y.items[i])) {
        return tvms_in_unequal(in, 1, "dimensions", x.items[i], y.items[i]);
      }
    }
  }
  return tvms_in_result(in, tvms_dims_new(in, 0), dtype, vdevice);
}

// Predictions (C), (N, C) or (N, C, d…) against targets without C.
static bool check_targets(tvms_inference *in, const tvms_tensor_argument *p,
                          const tvms_tensor_argument *t) {
  if (!tvms_dtype_is_void(t->dtype) && !tvms_dtype_is_integer(t->dtype)) {
    return tvms_in_wrong_dtype(in, 1, "integer targets", t->dtype);
  }
  if (p->ndim == 0) return tvms_in_wrong_ndim(in, 0, 1, 0);
  bool ranks = p->ndim != TVMS_UNKNOWN_NDIM && t->ndim != TVMS_UNKNOWN_NDIM;
  if (ranks && t->ndim != p->ndim - 1) {
    return tvms_in_wrong_ndim(in, 1, p->ndim - 1, t->ndim);
  }
  for (uint32_t i = 0; p->known && t->known && i < t->dims.len; i++) {
    tvms_node *a = p->dims.items[i == 0 ? 0 : i + 1], *b = t->dims.items[i];
    if (tvms_dim_differ(in->prover, a, b))
      return tvms_in_unequal(in, 1, "dimensions", a, b);
  }
  return true;
}

tvms_node *tvms_infer_nll_loss(tvms_inference *in) {
  tvms_tensor_argument p, t, w;
  if (!tvms_in_count(in, 2, 3) || !tvms_in_tensor(in, 0, &p)
      || !tvms_in_tensor(in, 1, &t) || !check_targets(in, &p, &t)) {
    return NULL;
  }
  tvms_dtype dtype = p.dtype;
  tvms_node *vdevice = p.vdevice;
  if (in->call->args.len == 3) {
    if (!tvms_in_tensor(in, 2, &w)
        || !tvms_in_common_dtype(in, p.sinfo, w.sinfo, &dtype)
        || !tvms_in_common_vdevice(in, p.sinfo, w.sinfo, &vdevice)) {
      return NULL;
    }
    if (w.ndim != TVMS_UNKNOWN_NDIM && w.ndim != 1) {
      return tvms_in_wrong_ndim(in, 2, 1, w.ndim);
    }
    tvms_node *classes = p.known ? p.dims.items[p.dims.len > 1] : NULL;
    if (classes && w.known && tvms_dim_differ(in->prover, classes, w.dims.items[0])) {
      return tvms_in_unequal(in, 2, "dimensions", classes, w.dims.items[0]);
    }
  }
  tvms_bytes how = tvms_attr_text(in->call, TVMS_ATTR_nll_loss_reduction);
  bool none = tvms_bytes_is(how, "none");
  if (!none && !tvms_bytes_is(how, "mean") && !tvms_bytes_is(how, "sum")) {
    return tvms_in_expects(in, TVMS_THE_CALL,
                           "reduction to be \"none\", \"mean\" or \"sum\"");
  }
  if (!none) return tvms_in_result(in, tvms_dims_new(in, 0), dtype, vdevice);
  if (!p.known) {
    return tvms_in_result_ndim(in, p.ndim < 0 ? p.ndim : p.ndim - 1, dtype, vdevice);
  }
  tvms_dims dims = tvms_dims_new(in, p.dims.len - 1);
  for (uint32_t i = 0; i < dims.len; i++) {
    dims.items[i] = p.dims.items[i == 0 ? 0 : i + 1];
  }
  return tvms_in_result(in, dims, dtype, vdevice);
}

// ---- Attention ----

enum { BATCH, LENGTH, HEADS, DEPTH };

static bool same_dim(tvms_inference *in, uint32_t i, const tvms_tensor_argument *a,
                     int p, const tvms_tensor_argument *b, int q) {
  tvms_node *x = a->dims.items[p], *y = b->dims.items[q];
  return !tvms_dim_differ(in->prover, x, y)
         || tvms_in_unequal(in, i, "dimensions", x, y);
}

static bool divides(tvms_inference *in, uint32_t i, const tvms_tensor_argument *q,
                    const tvms_tensor_argument *kv) {
  int64_t a, b;
  if (!tvms_sinfo_dim_int(q->dims.items[HEADS], &a)
      || !tvms_sinfo_dim_int(kv->dims.items[HEADS], &b) || b == 0 || a % b == 0) {
    return true;
  }
  return tvms_in_expects(in, i, "a number of heads that divides that of the query");
}

// The bias broadcasts to (batch, heads, queries, keys).
static bool check_bias(tvms_inference *in, const tvms_tensor_argument *q,
                       const tvms_tensor_argument *k) {
  tvms_tensor_argument bias;
  if (!tvms_in_tensor(in, 3, &bias)) return false;
  if (bias.ndim != 4) return tvms_in_wrong_ndim(in, 3, 4, bias.ndim);
  if (!bias.known) return true;
  static const int axis[] = {BATCH, HEADS, LENGTH};
  for (int i = 0; i < 3; i++) {
    int64_t length;
    bool one = tvms_sinfo_dim_int(bias.dims.items[i], &length) && length == 1;
    if (!one && !same_dim(in, 3, q, axis[i], &bias, i)) return false;
  }
  return same_dim(in, 3, k, LENGTH, &bias, 3);
}

static tvms_node *TVMS_NULLABLE infer_attention(tvms_inference *in, bool biased) {
  tvms_tensor_argument t[3];
  for (uint32_t i = 0; i < 3; i++) {
    if (!tvms_in_tensor(in, i, &t[i])) return NULL;
    if (t[i].ndim != 4) return tvms_in_wrong_ndim(in, i, 4, t[i].ndim);
  }
  if (!t[0].known || !t[1].known || !t[2].known) {
    return tvms_in_result_ndim(in, 4, t[0].dtype, t[0].vdevice);
  }
  const tvms_tensor_argument *q = &t[0], *k = &t[1], *v = &t[2];
  if (!same_dim(in, 1, q, BATCH, k, BATCH) || !same_dim(in, 2, q, BATCH, v, BATCH)
      || !divides(in, 1, q, k) || !divides(in, 2, q, v)
      || !same_dim(in, 2, k, LENGTH, v, LENGTH) || !same_dim(in, 1, q, DEPTH, k, DEPTH)
      || (biased && !check_bias(in, q, k))) {
    return NULL;
  }
  tvms_dims dims = tvms_dims_copy(in, q->dims);
  dims.items[DEPTH] = v->dims.items[DEPTH];
  return tvms_in_result(in, dims, q->dtype, q->vdevice);
}

tvms_node *tvms_infer_attention(tvms_inference *in) {
  return tvms_in_count(in, 3, 4) ? infer_attention(in, in->call->args.len == 4) : NULL;
}

tvms_node *tvms_infer_attention_var_len(tvms_inference *in) {
  return tvms_in_count(in, 7, 7) ? infer_attention(in, false) : NULL;
}
