// Rules of operators that make tensors, and of casts.
#include "ir/fold.h"
#include "structinfo/infer_common.h"
#include "structinfo/make.h"

// The dtype attribute is the first one of these operators' schemas.
enum { DTYPE_PLACE = 0 };

// A tensor whose shape is argument `i`.
static tvms_node *TVMS_NULLABLE tensor_of_shape(tvms_inference *in, uint32_t i,
                                                tvms_dtype dtype,
                                                tvms_node *TVMS_NULLABLE vdevice) {
  if (tvms_in_sinfo(in, i)->kind != TVMS_NODE_SINFO_SHAPE) {
    return tvms_in_expects(in, i, "a shape");
  }
  return tvms_sinfo_tensor_new(in->unit, tvms_in_arg(in, i), dtype, vdevice);
}

tvms_node *tvms_infer_full(tvms_inference *in) {
  tvms_tensor_argument fill;
  if (!tvms_in_count(in, 2, 2) || !tvms_in_tensor(in, 1, &fill)) return NULL;
  if (fill.ndim != 0) return tvms_in_wrong_ndim(in, 1, 0, fill.ndim);
  tvms_dtype dtype = tvms_attr_dtype(in->call, DTYPE_PLACE);
  if (tvms_dtype_is_void(dtype)) dtype = fill.dtype;
  return tensor_of_shape(in, 0, dtype, fill.vdevice);
}

// The type of argument 0 with the dtype attribute, if it is given.
static tvms_node *TVMS_NULLABLE like_first(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_tensor(in, 0, &x)) return NULL;
  tvms_dtype dtype = tvms_attr_dtype(in->call, DTYPE_PLACE);
  return tvms_in_result_like(in, &x, tvms_dtype_is_void(dtype) ? x.dtype : dtype);
}

tvms_node *tvms_infer_full_like(tvms_inference *in) {
  tvms_tensor_argument fill;
  if (!tvms_in_count(in, 2, 2) || !tvms_in_tensor(in, 1, &fill)) return NULL;
  if (fill.ndim != 0) return tvms_in_wrong_ndim(in, 1, 0, fill.ndim);
  return like_first(in);
}

tvms_node *tvms_infer_creation(tvms_inference *in) {
  if (!tvms_in_count(in, 1, 1)) return NULL;
  return tensor_of_shape(in, 0, tvms_attr_dtype(in->call, DTYPE_PLACE), NULL);
}

tvms_node *tvms_infer_like(tvms_inference *in) {
  return tvms_in_count(in, 1, 1) ? like_first(in) : NULL;
}

tvms_node *tvms_infer_astype(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  return tvms_in_result_like(in, &x, tvms_attr_dtype(in->call, TVMS_ATTR_cast_dtype));
}

tvms_node *tvms_infer_eye(tvms_inference *in) {
  tvms_node *n, *m;
  if (!tvms_in_count(in, 3, 3) || !tvms_in_prim(in, 0, &n)
      || !tvms_in_prim(in, 1, &m)) {
    return NULL;
  }
  tvms_dtype dtype = tvms_attr_dtype(in->call, DTYPE_PLACE);
  if (!n || !m) return tvms_in_result_ndim(in, 2, dtype, NULL);
  tvms_dims dims = tvms_dims_new(in, 2);
  dims.items[0] = n;
  dims.items[1] = m;
  return tvms_in_result(in, dims, dtype, NULL);
}

tvms_node *tvms_infer_eye_like(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 2, 2) || !tvms_in_tensor(in, 0, &x)) return NULL;
  if (x.ndim != 2 && x.ndim != TVMS_UNKNOWN_NDIM) {
    return tvms_in_wrong_ndim(in, 0, 2, x.ndim);
  }
  return like_first(in);
}

// ceil((end - start) / step) for real numbers, when all of them are constants and it is
// one that an integer holds.
static bool real_length(tvms_node *const *args, int64_t *length) {
  double value[3];
  for (int i = 0; i < 3; i++) {
    if (args[i]->kind == TVMS_NODE_FLOAT_IMM) {
      value[i] = tvms_as_float_imm(args[i])->value;
    } else if (args[i]->kind == TVMS_NODE_INT_IMM) {
      value[i] = (double)tvms_as_int_imm(args[i])->value;
    } else {
      return false;
    }
  }
  float steps = (float)(value[1] - value[0]) / (float)value[2];
  if (!(steps > -0x1p62f && steps < 0x1p62f))
    return false;  // a step of 0, or no number
  *length = (int64_t)steps;
  if ((float)*length < steps) ++*length;
  return true;
}

tvms_node *tvms_infer_arange(tvms_inference *in) {
  tvms_node *args[3];
  if (!tvms_in_count(in, 3, 3)) return NULL;
  bool integers = true, known = true;
  for (uint32_t i = 0; i < 3; i++) {
    if (!tvms_in_prim(in, i, &args[i])) return NULL;
    known = known && args[i];
    integers = integers && args[i] && tvms_dtype_is_int(args[i]->dtype);
  }
  tvms_dtype dtype = tvms_attr_dtype(in->call, DTYPE_PLACE);
  tvms_dims dims = tvms_dims_new(in, 1);
  int64_t length;
  if (integers) {
    tvms_node *span = tvms_dim_binary(in->prover, TVMS_NODE_SUB, args[1], args[0]);
    if (span) span = tvms_dim_binary(in->prover, TVMS_NODE_ADD, span, args[2]);
    if (span) span = tvms_dim_binary_int(in->prover, TVMS_NODE_SUB, span, 1);
    if (span) span = tvms_dim_binary(in->prover, TVMS_NODE_FLOOR_DIV, span, args[2]);
    if (!span) return NULL;
    dims.items[0] = tvms_dim_simplify(in->prover, span);
  } else if (known && real_length(args, &length)) {
    dims.items[0] = tvms_sinfo_dim_new(in->unit, length);
  } else {
    return tvms_in_result_ndim(in, 1, dtype, NULL);
  }
  return tvms_in_result(in, dims, dtype, NULL);
}

tvms_node *tvms_infer_hamming_window(tvms_inference *in) {
  tvms_node *size;
  if (!tvms_in_count(in, 4, 4) || !tvms_in_prim(in, 0, &size)) return NULL;
  tvms_dtype dtype = tvms_attr_dtype(in->call, DTYPE_PLACE);
  if (tvms_dtype_is_integer(dtype)) {
    return tvms_in_wrong_dtype(in, TVMS_THE_CALL, "a floating-point dtype", dtype);
  }
  if (!size) return tvms_in_result_ndim(in, 1, dtype, NULL);
  if (tvms_dim_less(in->prover, size, tvms_sinfo_dim_new(in->unit, 1))) {
    return tvms_in_expects(in, 0, "a window of at least one element");
  }
  tvms_dims dims = tvms_dims_new(in, 1);
  dims.items[0] = tvms_dim_simplify(in->prover, size);
  return tvms_in_result(in, dims, dtype, NULL);
}

tvms_node *tvms_infer_one_hot(tvms_inference *in) {
  tvms_tensor_argument x;
  tvms_node *on, *off;
  if (!tvms_in_count(in, 3, 3) || !tvms_in_tensor(in, 0, &x)
      || !tvms_in_prim(in, 1, &on) || !tvms_in_prim(in, 2, &off)) {
    return NULL;
  }
  tvms_dtype dtype = tvms_in_sinfo(in, 1)->dtype;
  tvms_dtype other = tvms_in_sinfo(in, 2)->dtype;
  if (!tvms_dtype_same(dtype, other)) {
    return tvms_in_expects(in, 2, "values of one data type");
  }
  if (!tvms_dtype_is_void(x.dtype) && !tvms_dtype_is_integer(x.dtype)) {
    return tvms_in_wrong_dtype(in, 0, "integer indices", x.dtype);
  }
  if (x.ndim == TVMS_UNKNOWN_NDIM)
    return tvms_in_result_ndim(in, x.ndim, dtype, x.vdevice);
  if (!x.known) return tvms_in_result_ndim(in, x.ndim + 1, dtype, x.vdevice);
  int64_t axis = tvms_attr_int(in->call, TVMS_ATTR_one_hot_axis, -1), place;
  if (!tvms_in_axis(in, x.ndim + 1, axis, &place)) return NULL;
  tvms_dims dims = tvms_dims_new(in, x.dims.len + 1);
  for (uint32_t i = 0, k = 0; i < dims.len; i++) {
    bool depth = (int64_t)i == place;
    int64_t length = tvms_attr_int(in->call, TVMS_ATTR_one_hot_depth, 0);
    dims.items[i] = depth ? tvms_sinfo_dim_new(in->unit, length) : x.dims.items[k++];
  }
  return tvms_in_result(in, dims, dtype, x.vdevice);
}
