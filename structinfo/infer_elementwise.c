// Rules of operators that keep the shape of their operands: unary, binary, ternary.
//
// The operands of a binary operator are broadcast: (n, 1) and (4,) give (n, 4). A scalar beside a
// tensor counts as a vector of one element, and two scalars give a scalar. Where the shapes cannot
// be compared the result keeps what is sure: the shape, if both operands have one and the
// same variable for it, else the rank of the longer. A comparison gives truths, whatever it
// compares.
#include "structinfo/infer_common.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"

#include <string.h>

tvms_node *tvms_infer_none(tvms_inference *in) {
  tvms_diag_report(&in->unit->context->diags, TVMS_D_op_not_inferred,
                   in->call->head.span, tvms_op_of(in->op)->name);
  return NULL;
}

tvms_node *tvms_infer_object(tvms_inference *in) {
  return tvms_sinfo_object_new(in->unit);
}

tvms_node *tvms_infer_void(tvms_inference *in) {
  return tvms_sinfo_tuple_new(in->unit, NULL, 0);
}

tvms_node *tvms_infer_same(tvms_inference *in) {
  return in->call->args.len > 0 ? tvms_in_sinfo(in, 0) : tvms_infer_none(in);
}

tvms_node *tvms_infer_like_second(tvms_inference *in) {
  return tvms_in_count(in, 2, UINT32_MAX) ? tvms_in_sinfo(in, 1) : NULL;
}

tvms_node *tvms_infer_same_tensor(tvms_inference *in) {
  tvms_tensor_argument x;
  return tvms_in_count(in, 1, 1) && tvms_in_tensor(in, 0, &x) ? x.sinfo : NULL;
}

tvms_node *tvms_infer_unary_float(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  if (!tvms_dtype_is_void(x.dtype) && !tvms_dtype_is_floating(x.dtype)) {
    return tvms_in_wrong_dtype(in, 0, "floating-point elements", x.dtype);
  }
  return x.sinfo;
}

tvms_node *tvms_infer_unary_check(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  return tvms_in_result_like(in, &x, TVMS_DTYPE(BOOL, 1));
}

tvms_node *tvms_infer_triangle(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 2, 2) || !tvms_in_tensor(in, 0, &x)) return NULL;
  if (x.ndim != TVMS_UNKNOWN_NDIM && x.ndim < 2) {
    return tvms_in_expects(in, 0, "a tensor with at least two axes");
  }
  return x.sinfo;
}

// Shape of an operand of a binary operator: a scalar counts as a vector of one element.
static bool operand_dims(const tvms_inference *in, tvms_node *sinfo, tvms_list *dims) {
  if (tvms_sinfo_is_tensor(sinfo)) return tvms_sinfo_dims(sinfo, dims);
  tvms_dims one = tvms_dims_new(in, 1);
  one.items[0] = tvms_sinfo_dim_new(in->unit, 1);
  *dims = (tvms_list){one.items, 1};
  return true;
}

static int64_t operand_ndim(const tvms_node *sinfo) {
  return tvms_sinfo_is_tensor(sinfo) ? tvms_as_sinfo_tensor(sinfo)->ndim : 1;
}

static tvms_node *TVMS_NULLABLE operand_shape(const tvms_node *sinfo) {
  return tvms_sinfo_is_tensor(sinfo) ? tvms_as_sinfo_tensor(sinfo)->shape : NULL;
}

static tvms_node *TVMS_NULLABLE broadcast_result(tvms_inference *in, tvms_node *a,
                                                 tvms_node *b, tvms_dtype dtype) {
  tvms_node *vdevice;
  if (!tvms_in_common_vdevice(in, a, b, &vdevice)) return NULL;
  tvms_list x, y;
  if (operand_dims(in, a, &x) && operand_dims(in, b, &y)) {
    tvms_dims dims;
    tvms_broadcasting outcome = tvms_in_broadcast(in, x, y, &dims);
    if (outcome == TVMS_BROADCAST_FAILED) return NULL;
    if (outcome == TVMS_BROADCAST_KNOWN)
      return tvms_in_result(in, dims, dtype, vdevice);
  }
  tvms_node *shape = operand_shape(a);
  if (shape && shape == operand_shape(b)) {
    return tvms_sinfo_tensor_new(in->unit, shape, dtype, vdevice);
  }
  int64_t p = operand_ndim(a), q = operand_ndim(b);
  int64_t ndim = p > q ? p : q;
  if (p == TVMS_UNKNOWN_NDIM || q == TVMS_UNKNOWN_NDIM) ndim = TVMS_UNKNOWN_NDIM;
  return tvms_in_result_ndim(in, ndim, dtype, vdevice);
}

static tvms_node *local_type(tvms_node *sinfo) {
  return sinfo->kind == TVMS_NODE_SINFO_DTENSOR ? tvms_as_sinfo_dtensor(sinfo)->tensor
                                                : sinfo;
}

static tvms_node *TVMS_NULLABLE infer_local(tvms_inference *in, bool compares) {
  tvms_node *a = local_type(tvms_in_sinfo(in, 0)),
            *b = local_type(tvms_in_sinfo(in, 1));
  for (uint32_t i = 0; i < 2; i++) {
    const tvms_node *operand = i ? b : a;
    if (tvms_sinfo_is_tensor(operand) || tvms_sinfo_is_prim(operand)) continue;
    (void)tvms_in_expects(in, i, "tensors or scalars as operands");
    tvms_in_note_part(in, i);
    return NULL;
  }
  tvms_dtype dtype = TVMS_DTYPE(BOOL, 1);
  if (!compares && !tvms_in_common_dtype(in, a, b, &dtype)) return NULL;
  if (tvms_sinfo_is_prim(a) && tvms_sinfo_is_prim(b))
    return tvms_sinfo_prim_new(in->unit, dtype, NULL);
  return broadcast_result(in, a, b, dtype);
}

static tvms_node *TVMS_NULLABLE infer_binary(tvms_inference *in, bool compares) {
  return tvms_in_count(in, 2, 2) ? infer_local(in, compares) : NULL;
}

tvms_node *tvms_infer_arith(tvms_inference *in) {
  return infer_binary(in, false);
}

tvms_node *tvms_infer_compare(tvms_inference *in) {
  return infer_binary(in, true);
}

// Takes all tensor arguments of a call with `count` of them.
static bool take_tensors(tvms_inference *in, tvms_tensor_argument *tensors,
                         uint32_t count) {
  if (!tvms_in_count(in, count, count)) return false;
  for (uint32_t i = 0; i < count; i++) {
    if (!tvms_in_tensor(in, i, &tensors[i])) return false;
  }
  return true;
}

// The rank that three operands agree on; reports if they do not.
static bool common_ndim(tvms_inference *in, const tvms_tensor_argument *t,
                        int64_t *ndim) {
  *ndim = TVMS_UNKNOWN_NDIM;
  for (uint32_t i = 0; i < 3; i++) {
    if (t[i].ndim == TVMS_UNKNOWN_NDIM) continue;
    if (*ndim != TVMS_UNKNOWN_NDIM && *ndim != t[i].ndim) {
      return tvms_in_wrong_ndim(in, i, *ndim, t[i].ndim);
    }
    *ndim = t[i].ndim;
  }
  return true;
}

tvms_node *tvms_infer_ewise_fma(tvms_inference *in) {
  tvms_tensor_argument t[3];
  int64_t ndim;
  tvms_dtype dtype;
  if (!take_tensors(in, t, 3) || !common_ndim(in, t, &ndim)) return NULL;
  if (!tvms_in_common_dtype(in, t[0].sinfo, t[1].sinfo, &dtype)
      || !tvms_in_common_dtype(in, t[0].sinfo, t[2].sinfo, &dtype)) {
    return NULL;
  }
  for (uint32_t k = 1; k < 3; k++) {
    bool typed = !tvms_dtype_is_void(t[0].dtype) && !tvms_dtype_is_void(t[k].dtype);
    if (typed && !tvms_dtype_same(t[0].dtype, t[k].dtype)) {
      return tvms_in_wrong_dtype(in, k, "operands of one data type", t[k].dtype);
    }
  }
  tvms_node *vdevice = tvms_in_shared_vdevice(in, t, 3);
  if (!t[0].known || !t[1].known || !t[2].known) {
    if (t[0].shape && t[0].shape == t[1].shape && t[0].shape == t[2].shape) {
      return tvms_sinfo_tensor_new(in->unit, t[0].shape, dtype, vdevice);
    }
    return tvms_in_result_ndim(in, ndim, dtype, vdevice);
  }
  for (uint32_t i = 0; i < t[0].dims.len; i++) {
    for (uint32_t k = 1; k < 3; k++) {
      if (tvms_dim_equal(in->prover, t[0].dims.items[i], t[k].dims.items[i])) continue;
      return tvms_in_unequal(in, k, "dimensions", t[0].dims.items[i],
                             t[k].dims.items[i]);
    }
  }
  return tvms_in_result(in, tvms_dims_copy(in, t[0].dims), dtype, vdevice);
}

// Between two scalars.
tvms_node *tvms_infer_clip(tvms_inference *in) {
  tvms_node *least, *most;
  bool sound = tvms_in_count(in, 3, 3) && tvms_in_prim(in, 1, &least)
               && tvms_in_prim(in, 2, &most);
  return sound ? tvms_in_sinfo(in, 0) : NULL;
}

tvms_node *tvms_infer_where(tvms_inference *in) {
  tvms_tensor_argument t[3];
  tvms_dtype dtype;
  if (!take_tensors(in, t, 3)) return NULL;
  bool open =
      tvms_dtype_is_void(t[0].dtype)
      && tvms_release_has(in->unit->dialect, TVMS_FACT_where_takes_unknown_dtype);
  if (!open && !tvms_dtype_is_bool(t[0].dtype)) {
    return tvms_in_wrong_dtype(in, 0, "a condition of bool", t[0].dtype);
  }
  if (!tvms_in_common_dtype(in, t[1].sinfo, t[2].sinfo, &dtype)) return NULL;
  tvms_node *vdevice = tvms_in_shared_vdevice(in, t, 3);
  int64_t ndim = 0;
  for (uint32_t i = 0; i < 3 && ndim != TVMS_UNKNOWN_NDIM; i++) {
    if (t[i].ndim > ndim || t[i].ndim == TVMS_UNKNOWN_NDIM) ndim = t[i].ndim;
  }
  if (t[0].known && t[1].known && t[2].known) {
    tvms_dims dims;
    tvms_broadcasting outcome = tvms_in_broadcast(in, t[1].dims, t[2].dims, &dims);
    if (outcome == TVMS_BROADCAST_KNOWN) {
      tvms_list both = {dims.items, dims.len};
      outcome = tvms_in_broadcast(in, t[0].dims, both, &dims);
    }
    if (outcome == TVMS_BROADCAST_FAILED) return NULL;
    if (outcome == TVMS_BROADCAST_KNOWN)
      return tvms_in_result(in, dims, dtype, vdevice);
  } else if (t[0].shape && t[0].shape == t[1].shape && t[0].shape == t[2].shape) {
    return tvms_sinfo_tensor_new(in->unit, t[0].shape, dtype, vdevice);
  }
  return tvms_in_result_ndim(in, ndim, dtype, vdevice);
}
