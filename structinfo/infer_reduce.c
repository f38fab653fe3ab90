// Rules of products of matrices, reductions, scans, searches and sorts.
#include "structinfo/infer_common.h"
#include "structinfo/make.h"
#include "structinfo/relate.h"

#include <stdio.h>
#include <string.h>

tvms_node *tvms_infer_matmul(tvms_inference *in) {
  tvms_tensor_argument a, b;
  if (!tvms_in_count(in, 2, 2) || !tvms_in_tensor(in, 0, &a)
      || !tvms_in_tensor(in, 1, &b)) {
    return NULL;
  }
  tvms_dtype dtype = tvms_attr_dtype(in->call, TVMS_ATTR_out_dtype_out_dtype);
  if (tvms_dtype_is_void(dtype)
      && !tvms_in_common_dtype(in, a.sinfo, b.sinfo, &dtype)) {
    return NULL;
  }
  tvms_node *vdevice = a.vdevice ? a.vdevice : b.vdevice;
  bool two = a.vdevice && b.vdevice;
  if (two && !tvms_sinfo_same_place(in->unit, a.vdevice, b.vdevice)) vdevice = NULL;
  if (a.ndim == TVMS_UNKNOWN_NDIM || b.ndim == TVMS_UNKNOWN_NDIM) {
    return tvms_in_result_ndim(in, TVMS_UNKNOWN_NDIM, dtype, vdevice);
  }
  if (a.ndim == 0 || b.ndim == 0) {
    return tvms_in_expects(in, a.ndim == 0 ? 0 : 1, "operands that are not scalars");
  }
  // A vector counts as a row on the left and as a column on the right.
  bool row = a.ndim == 1, column = b.ndim == 1;
  int64_t p = row ? 2 : a.ndim, q = column ? 2 : b.ndim;
  int64_t ndim = (p > q ? p : q) - row - column;
  tvms_node *unknown = tvms_in_result_ndim(in, ndim, dtype, vdevice);
  if (!a.known || !b.known) return unknown;
  tvms_list left = {a.dims.items, a.dims.len - (row ? 1 : 2)};
  tvms_list right = {b.dims.items, b.dims.len - (column ? 1 : 2)};
  tvms_dims batch;
  tvms_broadcasting outcome = tvms_in_broadcast(in, left, right, &batch);
  if (outcome == TVMS_BROADCAST_FAILED) return NULL;
  if (outcome == TVMS_BROADCAST_UNKNOWN) return unknown;
  tvms_node *k = a.dims.items[a.dims.len - 1],
            *l = b.dims.items[b.dims.len - (column ? 1 : 2)];
  if (tvms_dim_differ(in->prover, k, l)) {
    return tvms_in_unequal(in, 1, "reduced dimensions", k, l);
  }
  tvms_dims dims = tvms_dims_new(in, (uint32_t)ndim);
  uint32_t i = 0;
  for (; i < batch.len; i++) {
    dims.items[i] = batch.items[i];
  }
  if (!row) dims.items[i++] = a.dims.items[a.dims.len - 2];
  if (!column) dims.items[i++] = b.dims.items[b.dims.len - 1];
  return tvms_in_result(in, dims, dtype, vdevice);
}

tvms_node *tvms_infer_outer(tvms_inference *in) {
  tvms_tensor_argument a, b;
  if (!tvms_in_count(in, 2, 2) || !tvms_in_tensor(in, 0, &a)
      || !tvms_in_tensor(in, 1, &b)) {
    return NULL;
  }
  if (a.ndim != 1) return tvms_in_wrong_ndim(in, 0, 1, a.ndim);
  if (b.ndim != 1) return tvms_in_wrong_ndim(in, 1, 1, b.ndim);
  if (!a.known || !b.known) return tvms_in_result_ndim(in, 2, a.dtype, NULL);
  tvms_dims dims = tvms_dims_new(in, 2);
  dims.items[0] = a.dims.items[0];
  dims.items[1] = b.dims.items[0];
  return tvms_in_result(in, dims, a.dtype, NULL);
}

// ---- Reductions ----

// What a reduction leaves: `axes` of them are gone, or all without axes.
typedef struct {
  bool given;
  bool keep;
  int64_t *axes;
  uint32_t count;
} reduced;

static bool is_reduced(const reduced *r, int64_t axis) {
  for (uint32_t i = 0; i < r->count; i++) {
    if (r->axes[i] == axis) return true;
  }
  return !r->given;
}

static tvms_node *reduce(tvms_inference *in, const tvms_tensor_argument *x,
                         const reduced *r, tvms_dtype dtype) {
  int64_t ndim = x->ndim;
  if (!r->keep && !r->given) ndim = 0;
  if (!r->keep && r->given && x->ndim != TVMS_UNKNOWN_NDIM) ndim = x->ndim - r->count;
  bool ones = !x->known && ndim != TVMS_UNKNOWN_NDIM && !r->given;
  if (!x->known && !ones && ndim != 0) {
    return tvms_in_result_ndim(in, ndim, dtype, x->vdevice);
  }
  tvms_dims dims = tvms_dims_new(in, (uint32_t)ndim);
  uint32_t k = 0;
  for (uint32_t i = 0; i < (x->known ? x->dims.len : dims.len); i++) {
    if (x->known && !is_reduced(r, i)) {
      dims.items[k++] = x->dims.items[i];
    } else if (r->keep) {
      dims.items[k++] = tvms_sinfo_dim_new(in->unit, 1);
    }
  }
  return tvms_in_result(in, dims, dtype, x->vdevice);
}

static bool take_reduction(tvms_inference *in, tvms_tensor_argument *x, reduced *r) {
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, x)) return false;
  tvms_list list = tvms_attr_list(in->call, TVMS_ATTR_reduction_axis);
  *r = (reduced){.given = tvms_attr(in->call, TVMS_ATTR_reduction_axis),
                 .keep = tvms_attr_bool(in->call, TVMS_ATTR_reduction_keepdims),
                 .axes = tvms_in_ints(in, list.len),
                 .count = list.len};
  return x->ndim == TVMS_UNKNOWN_NDIM || tvms_in_axes(in, x->ndim, list, r->axes);
}

tvms_node *tvms_infer_reduction(tvms_inference *in) {
  tvms_tensor_argument x;
  reduced r;
  return take_reduction(in, &x, &r) ? reduce(in, &x, &r, x.dtype) : NULL;
}

tvms_node *tvms_infer_median(tvms_inference *in) {
  tvms_tensor_argument x;
  reduced r;
  if (!take_reduction(in, &x, &r)) return NULL;
  tvms_node *values = reduce(in, &x, &r, x.dtype);
  if (!r.given || r.count > 1) return values;
  tvms_node *fields[] = {values, reduce(in, &x, &r, TVMS_DTYPE(INT, 64))};
  return tvms_sinfo_tuple_new(in->unit, fields, 2);
}

tvms_node *tvms_infer_arg_reduction(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  int64_t axis = tvms_attr_int(in->call, TVMS_ATTR_arg_reduction_axis, 0);
  reduced r = {.given = tvms_attr(in->call, TVMS_ATTR_arg_reduction_axis),
               .keep = tvms_attr_bool(in->call, TVMS_ATTR_arg_reduction_keepdims),
               .axes = &axis};
  r.count = r.given;
  if (r.given && x.ndim != TVMS_UNKNOWN_NDIM
      && !tvms_in_axis(in, x.ndim, axis, &axis)) {
    return NULL;
  }
  return reduce(in, &x, &r, TVMS_DTYPE(INT, 64));
}

tvms_node *tvms_infer_scan(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  tvms_dtype dtype = tvms_attr_dtype(in->call, TVMS_ATTR_scan_dtype);
  if (tvms_dtype_is_void(dtype)) dtype = x.dtype;
  if (tvms_attr(in->call, TVMS_ATTR_scan_axis))
    return tvms_in_result_like(in, &x, dtype);
  if (!x.known) return tvms_in_result_ndim(in, x.ndim, dtype, x.vdevice);
  tvms_dims dims = tvms_dims_new(in, 1);
  dims.items[0] = tvms_dim_product(in->prover, x.dims);
  return dims.items[0] ? tvms_in_result(in, dims, dtype, x.vdevice) : NULL;
}

// ---- Searches and sorts ----

tvms_node *tvms_infer_bucketize(tvms_inference *in) {
  tvms_tensor_argument x, bounds;
  if (!tvms_in_count(in, 2, 2) || !tvms_in_tensor(in, 0, &x)
      || !tvms_in_tensor(in, 1, &bounds)) {
    return NULL;
  }
  if (bounds.ndim != TVMS_UNKNOWN_NDIM && bounds.ndim != 1) {
    return tvms_in_wrong_ndim(in, 1, 1, bounds.ndim);
  }
  bool small = tvms_attr_bool(in->call, TVMS_ATTR_bucketize_out_int32);
  tvms_dtype dtype = small ? TVMS_DTYPE(INT, 32) : TVMS_DTYPE(INT, 64);
  if (!x.known) return tvms_in_result_ndim(in, x.ndim, dtype, x.vdevice);
  return tvms_in_result(in, tvms_dims_copy(in, x.dims), dtype, x.vdevice);
}

tvms_node *tvms_infer_argsort(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  tvms_dtype dtype = tvms_attr_dtype(in->call, TVMS_ATTR_argsort_dtype);
  return tvms_in_result_like(in, &x, tvms_dtype_is_void(dtype) ? x.dtype : dtype);
}

tvms_node *tvms_infer_topk(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  tvms_dtype dtype = tvms_attr_dtype(in->call, TVMS_ATTR_topk_dtype);
  if (tvms_dtype_is_void(dtype)) dtype = x.dtype;
  tvms_node *fields[2];
  if (x.known) {
    int64_t axis, k = tvms_attr_int(in->call, TVMS_ATTR_topk_k, 1), length;
    int64_t given = tvms_attr_int(in->call, TVMS_ATTR_topk_axis, -1);
    if (!tvms_in_axis(in, x.ndim, given, &axis)) return NULL;
    tvms_dims dims = tvms_dims_copy(in, x.dims);
    bool constant = tvms_sinfo_dim_int(dims.items[axis], &length);
    if (k > 0 && (!constant || k < length))
      dims.items[axis] = tvms_sinfo_dim_new(in->unit, k);
    fields[0] = tvms_in_result(in, dims, x.dtype, x.vdevice);
    fields[1] = tvms_in_result(in, dims, dtype, x.vdevice);
  } else {
    fields[0] = tvms_in_result_ndim(in, x.ndim, x.dtype, x.vdevice);
    fields[1] = tvms_in_result_ndim(in, x.ndim, dtype, x.vdevice);
  }
  tvms_bytes what = tvms_attr_text(in->call, TVMS_ATTR_topk_ret_type);
  if (tvms_bytes_is(what, "both")) return tvms_sinfo_tuple_new(in->unit, fields, 2);
  if (tvms_bytes_is(what, "values")) return fields[0];
  if (tvms_bytes_is(what, "indices")) return fields[1];
  return tvms_in_expects(in, TVMS_THE_CALL,
                         "ret_type to be \"both\", \"values\" or \"indices\"");
}

tvms_node *tvms_infer_nonzero(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  return tvms_in_result_ndim(in, 2, TVMS_DTYPE(INT, 64), x.vdevice);
}

// A result of unique: one axis of unknown length; one element for a scalar.
static tvms_node *unique_part(tvms_inference *in, const tvms_tensor_argument *x,
                              int64_t ndim, tvms_dtype dtype) {
  if (x->ndim != 0) return tvms_in_result_ndim(in, ndim, dtype, x->vdevice);
  tvms_dims dims = tvms_dims_new(in, 1);
  dims.items[0] = tvms_sinfo_dim_new(in->unit, 1);
  return tvms_in_result(in, dims, dtype, x->vdevice);
}

tvms_node *tvms_infer_unique(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 5, 6) || !tvms_in_tensor(in, 0, &x)) return NULL;
  tvms_node *fields[4], *flag;
  uint32_t count = 0;
  int64_t axis;
  bool ranked = x.ndim != TVMS_UNKNOWN_NDIM;
  bool given = in->call->args.len > 5 && tvms_sinfo_is_prim(tvms_in_sinfo(in, 5));
  if (ranked && given && tvms_in_prim(in, 5, &flag) && flag
      && tvms_sinfo_dim_int(flag, &axis) && !tvms_in_axis(in, x.ndim, axis, &axis)) {
    return NULL;
  }
  fields[count++] = unique_part(in, &x, in->call->args.len > 5 ? x.ndim : 1, x.dtype);
  for (uint32_t i = 2; i < 5; i++) {
    int64_t wanted;
    if (!tvms_in_prim(in, i, &flag)) return NULL;
    if (!flag || !tvms_sinfo_dim_int(flag, &wanted)) {
      return tvms_in_expects(in, i, "a constant flag");
    }
    if (wanted) fields[count++] = unique_part(in, &x, 1, TVMS_DTYPE(INT, 64));
  }
  return count == 1 ? fields[0] : tvms_sinfo_tuple_new(in->unit, fields, count);
}

tvms_node *tvms_infer_meshgrid(tvms_inference *in) {
  tvms_tensor_argument *t;
  uint32_t count;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensors(in, 0, &t, &count)) return NULL;
  if (count == 0) return tvms_in_expects(in, 0, "at least one vector");
  tvms_dims dims = tvms_dims_new(in, count), fields = tvms_dims_new(in, count);
  tvms_dtype dtype = {0};
  bool known = true;
  for (uint32_t i = 0; i < count; i++) {
    if (t[i].ndim != 1) return tvms_in_wrong_ndim(in, 0, 1, t[i].ndim);
    known = known && t[i].known && !tvms_dtype_is_void(t[i].dtype);
    if (t[i].known) dims.items[i] = t[i].dims.items[0];
    if (tvms_dtype_is_void(dtype)) dtype = t[i].dtype;
    if (!tvms_dtype_is_void(t[i].dtype) && !tvms_dtype_same(t[i].dtype, dtype)) {
      return tvms_in_wrong_dtype(in, 0, "vectors of one data type", t[i].dtype);
    }
  }
  tvms_node *vdevice = tvms_in_shared_vdevice(in, t, count);
  for (uint32_t i = 0; i < count; i++) {
    fields.items[i] = known ? tvms_in_result(in, dims, dtype, vdevice)
                            : tvms_in_result_ndim(in, count, dtype, vdevice);
  }
  return tvms_sinfo_tuple_new(in->unit, fields.items, count);
}

tvms_node *tvms_infer_multinomial(tvms_inference *in) {
  tvms_tensor_argument t[3];
  if (!tvms_in_count(in, 3, 3)) return NULL;
  tvms_dtype dtype = tvms_attr_dtype(in->call, TVMS_ATTR_cast_dtype);
  bool ranks = true, known = true;
  for (uint32_t i = 0; i < 3; i++) {
    if (!tvms_in_tensor(in, i, &t[i])) return NULL;
    bool fine =
        i < 2 ? tvms_dtype_is_floating(t[i].dtype) : tvms_dtype_is_int(t[i].dtype);
    if (!fine && !tvms_dtype_is_void(t[i].dtype)) {
      return tvms_in_wrong_dtype(in, i, i < 2 ? "floating-point elements" : "integers",
                                 t[i].dtype);
    }
    ranks = ranks && t[i].ndim != TVMS_UNKNOWN_NDIM;
    known = known && t[i].known;
  }
  if (!ranks) return tvms_in_result_ndim(in, TVMS_UNKNOWN_NDIM, dtype, t[0].vdevice);
  for (uint32_t i = 0; i < 3; i++) {
    if (t[i].ndim != 2) return tvms_in_wrong_ndim(in, i, 2, t[i].ndim);
  }
  if (!known) return tvms_in_result_ndim(in, 2, dtype, t[0].vdevice);
  tvms_node *n = t[1].dims.items[0];
  if (!tvms_dim_equal(in->prover, n, t[2].dims.items[0])) {
    return tvms_in_unequal(in, 2, "dimensions", n, t[2].dims.items[0]);
  }
  for (uint32_t i = 1; i < 3; i++) {
    int64_t length;
    if (tvms_sinfo_dim_int(t[i].dims.items[1], &length) && length != 1) {
      return tvms_in_expects(in, i, "one column");
    }
  }
  tvms_dims dims = tvms_dims_new(in, 2);
  dims.items[0] = n;
  dims.items[1] = tvms_sinfo_dim_new(in->unit, 1);
  return tvms_in_result(in, dims, dtype, t[0].vdevice);
}

// ---- Quantization ----

static bool is_single(const tvms_tensor_argument *param) {
  for (uint32_t i = 0; i < param->ndim; i++) {
    if (!param->known || !tvms_node_is_int(param->dims.items[i], 1)) return false;
  }
  return true;
}

// Scale or zero point: one value, or as many as the axis is long. Data without axes has one
// value of each, whatever the axis, since 0.27.
static bool fits_axis(tvms_inference *in, const tvms_tensor_argument *x, uint32_t i,
                      const tvms_tensor_argument *param) {
  int64_t axis, length;
  if (x->ndim == 0
      && tvms_release_has(in->unit->dialect, TVMS_FACT_scalars_are_quantized)) {
    return is_single(param) || tvms_in_expects(in, i, "one value") != NULL;
  }
  if (!tvms_in_axis(in, x->ndim, tvms_attr_int(in->call, TVMS_ATTR_quantize_axis, -1),
                    &axis)) {
    return false;
  }
  if (param->ndim == 0 || !param->known || !x->known) return true;
  tvms_node *size = param->dims.items[0];
  if (tvms_sinfo_dim_int(size, &length) && length == 1) return true;
  return tvms_dim_equal(in->prover, size, x->dims.items[axis])
         || tvms_in_unequal(in, i, "dimensions", size, x->dims.items[axis]);
}

// The data types that TVM takes (src/relax/op/tensor/qdq.cc).
static const char floats[] = " float16 float32 ";
static const char zero_points[] = " int8 uint8 int16 uint16 int32 uint32 float16 ";
static const char quantized[] = " int8 uint8 int16 uint16 float8_e4m3fn float8_e5m2 ";
static const char dequantizable[] =
    " int8 uint8 int16 uint16 int32 float8_e4m3fn float8_e5m2 float16 float32 ";

static bool is_listed(const char *list, tvms_dtype dtype) {
  char text[TVMS_DTYPE_TEXT], word[TVMS_DTYPE_TEXT + 2];
  (void)snprintf(word, sizeof word, " %s ", tvms_dtype_text(dtype, text));
  return strstr(list, word) != NULL;
}

static tvms_node *TVMS_NULLABLE infer_quantized(tvms_inference *in, bool quantizes) {
  tvms_tensor_argument t[3];
  const char *const wanted[] = {quantizes ? floats : dequantizable, floats,
                                zero_points};
  static const char *const what[] = {"data of a supported dtype",
                                     "a scale of float16 or float32",
                                     "a supported dtype of the zero point"};
  if (!tvms_in_count(in, 3, 3)) return NULL;
  bool known = true;
  for (uint32_t i = 0; i < 3; i++) {
    if (!tvms_in_tensor(in, i, &t[i])) return NULL;
    known = known && !tvms_dtype_is_void(t[i].dtype);
  }
  tvms_dtype dtype = tvms_attr_dtype(in->call, TVMS_ATTR_quantize_out_dtype);
  if (!is_listed(quantizes ? quantized : floats, dtype)) {
    return tvms_in_wrong_dtype(in, TVMS_THE_CALL, "a supported out_dtype", dtype);
  }
  if (!known) return tvms_in_result_like(in, &t[0], (tvms_dtype){0});
  for (uint32_t i = 0; i < 3; i++) {
    if (!is_listed(wanted[i], t[i].dtype)) {
      return tvms_in_wrong_dtype(in, i, what[i], t[i].dtype);
    }
  }
  if (!fits_axis(in, &t[0], 1, &t[1]) || !fits_axis(in, &t[0], 2, &t[2])) return NULL;
  return tvms_in_result_like(in, &t[0], dtype);
}

tvms_node *tvms_infer_quantize(tvms_inference *in) {
  return infer_quantized(in, true);
}

tvms_node *tvms_infer_dequantize(tvms_inference *in) {
  return infer_quantized(in, false);
}
