// Rules of the calling, shape, memory and device operators.
#include "ir/build.h"
#include "structinfo/infer_common.h"
#include "structinfo/make.h"
#include "structinfo/normalize.h"

// The type that the call states.
tvms_node *tvms_infer_out_type(tvms_inference *in) {
  if (in->call->type_args.len == 1) return in->call->type_args.items[0];
  return tvms_in_expects(in, TVMS_THE_CALL, "the type of its result");
}

tvms_node *tvms_infer_type_args(tvms_inference *in) {
  tvms_list types = in->call->type_args;
  if (types.len == 0) return tvms_sinfo_object_new(in->unit);
  if (types.len == 1) return types.items[0];
  return tvms_sinfo_tuple_new(in->unit, types.items, types.len);
}

tvms_node *tvms_infer_closure(tvms_inference *in) {
  return tvms_infer_type_args(in);
}

tvms_node *tvms_infer_builtin_with_ctx(tvms_inference *in) {
  if (in->call->type_args.len == 0) return tvms_sinfo_tuple_new(in->unit, NULL, 0);
  return tvms_infer_out_type(in);
}

// The indices of an in-place call: in range, each once, at least one not -1.
static bool check_indices(tvms_inference *in, tvms_list indices, int64_t arguments) {
  bool any = false;
  for (uint32_t i = 0; i < indices.len; i++) {
    int64_t index = tvms_attr_item_int(indices.items[i]);
    if (index < -1 || index >= arguments) {
      return tvms_in_expects(in, TVMS_THE_CALL,
                             "in-place indices from -1 to the number of arguments");
    }
    for (uint32_t j = 0; j < i; j++) {
      if (index != -1 && index == tvms_attr_item_int(indices.items[j])) {
        return tvms_in_expects(in, TVMS_THE_CALL, "each in-place index once");
      }
    }
    any = any || index != -1;
  }
  return any || tvms_in_expects(in, TVMS_THE_CALL, "an in-place index other than -1");
}

// Every result that takes the place of an argument has its type.
static bool check_places(tvms_inference *in, tvms_list indices, tvms_list args,
                         uint32_t first, tvms_node *result) {
  tvms_list fields = {&result, 1};
  if (result->kind == TVMS_NODE_SINFO_TUPLE)
    fields = tvms_as_sinfo_tuple(result)->fields;
  if (fields.len != indices.len) {
    return tvms_in_expects(in, TVMS_THE_CALL, "one in-place index per result");
  }
  for (uint32_t i = 0; i < indices.len; i++) {
    int64_t index = tvms_attr_item_int(indices.items[i]);
    if (index < 0) continue;
    tvms_node *sinfo = tvms_sinfo_of(in->unit, args.items[first + (uint32_t)index]);
    // TVM looks at the places when it verifies the module.
    if (in->module && in->module->unchecked) continue;
    if (tvms_sinfo_relate(in->prover, fields.items[i], sinfo) == TVMS_FIT_PROVED)
      continue;
    return tvms_in_unequal(in, TVMS_THE_CALL, "types of an argument and its result",
                           sinfo, fields.items[i]);
  }
  return true;
}

tvms_node *tvms_infer_inplace_packed(tvms_inference *in) {
  if (!tvms_in_count(in, 2, UINT32_MAX)) return NULL;
  tvms_list indices = tvms_attr_list(in->call, TVMS_ATTR_inplace_inplace_indices);
  tvms_node *result = tvms_infer_type_args(in);
  bool sound = check_indices(in, indices, in->call->args.len - 1)
               && check_places(in, indices, in->call->args, 1, result);
  return sound ? result : NULL;
}

tvms_node *tvms_infer_tir_inplace(tvms_inference *in) {
  tvms_node *result = tvms_infer_out_type(in);
  if (!result || !tvms_in_count(in, 2, 3)) return NULL;
  tvms_list indices = tvms_attr_list(in->call, TVMS_ATTR_inplace_inplace_indices);
  tvms_node *tuple = tvms_in_arg(in, 1);
  if (tuple->kind != TVMS_NODE_TUPLE) {
    return tvms_in_expects(in, TVMS_THE_CALL,
                           "a tuple of arguments in the call itself");
  }
  tvms_list args = tvms_as_tuple(tuple)->fields;
  bool sound = check_indices(in, indices, args.len)
               && check_places(in, indices, args, 0, result);
  return sound ? result : NULL;
}

tvms_node *tvms_infer_assert_op(tvms_inference *in) {
  if (!tvms_in_count(in, 1, UINT32_MAX)) return NULL;
  const tvms_node *condition = tvms_in_sinfo(in, 0);
  int64_t ndim =
      tvms_sinfo_is_tensor(condition) ? tvms_as_sinfo_tensor(condition)->ndim : 1;
  bool scalar = tvms_sinfo_is_prim(condition) || ndim == 0 || ndim == TVMS_UNKNOWN_NDIM;
  bool truth =
      tvms_dtype_is_bool(condition->dtype)
      || (tvms_sinfo_is_tensor(condition) && tvms_dtype_is_void(condition->dtype));
  if (!scalar || !truth) {
    return tvms_in_expects(in, 0, "a scalar bool as the condition");
  }
  return tvms_infer_void(in);
}

// ---- Shapes and sizes ----

tvms_node *tvms_infer_shape_of(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  if (!x.known) return tvms_sinfo_shape_new_ndim(in->unit, x.ndim);
  return tvms_sinfo_shape_new(in->unit, x.dims.items, x.dims.len);
}

tvms_node *tvms_infer_size(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  return tvms_in_result(in, tvms_dims_new(in, 0), TVMS_DTYPE(INT, 64), NULL);
}

tvms_node *tvms_infer_tensor_to_shape(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  if (x.ndim != 1) return tvms_in_wrong_ndim(in, 0, 1, x.ndim);
  int64_t ndim;
  if (x.known && tvms_sinfo_dim_int(x.dims.items[0], &ndim)) {
    return tvms_sinfo_shape_new_ndim(in->unit, ndim);
  }
  return tvms_sinfo_shape_new_ndim(in->unit, TVMS_UNKNOWN_NDIM);
}

tvms_node *tvms_infer_shape_to_tensor(tvms_inference *in) {
  if (!tvms_in_count(in, 1, 1)) return NULL;
  const tvms_node *shape = tvms_in_sinfo(in, 0);
  if (shape->kind != TVMS_NODE_SINFO_SHAPE) return tvms_in_expects(in, 0, "a shape");
  tvms_dims dims = tvms_dims_new(in, 1);
  dims.items[0] = tvms_sinfo_dim_new(in->unit, tvms_as_sinfo_shape(shape)->ndim);
  return tvms_in_result(in, dims, TVMS_DTYPE(INT, 64), NULL);
}

// ---- Memory ----

// A tensor with the shape of argument `shape` and the data type of argument `dtype`. The
// number of a device says nothing: TVM reads calls without the module's list of devices.
static tvms_node *TVMS_NULLABLE allocated(tvms_inference *in, uint32_t shape,
                                          uint32_t dtype) {
  if (!tvms_in_count(in, dtype + 1, UINT32_MAX)) return NULL;
  const tvms_node *type = tvms_in_sinfo(in, shape);
  if (type->kind != TVMS_NODE_SINFO_SHAPE) return tvms_in_expects(in, shape, "a shape");
  const tvms_node *element = tvms_in_arg(in, dtype);
  if (element->kind != TVMS_NODE_DTYPE_IMM) {
    return tvms_in_expects(in, dtype, "a data type");
  }
  return tvms_sinfo_tensor_new(in->unit, tvms_in_arg(in, shape),
                               tvms_as_dtype_imm(element)->value, NULL);
}

tvms_node *tvms_infer_builtin_alloc_tensor(tvms_inference *in) {
  return allocated(in, 0, 1);
}

tvms_node *tvms_infer_memory_alloc_tensor(tvms_inference *in) {
  return allocated(in, 2, 3);
}

// The machine knows no shapes by name: what the type of the shape says counts.
tvms_node *tvms_infer_vm_alloc_tensor(tvms_inference *in) {
  tvms_node *type = allocated(in, 2, 3);
  const tvms_node *shape = type ? tvms_in_arg(in, 2) : NULL;
  if (!shape || shape->kind == TVMS_NODE_SHAPE_EXPR) return type;
  tvms_list sizes;
  if (!tvms_sinfo_dims(shape->sinfo, &sizes)) {
    int64_t ndim = tvms_as_sinfo_shape(shape->sinfo)->ndim;
    return tvms_sinfo_tensor_new_ndim(in->unit, ndim, type->dtype, NULL);
  }
  tvms_node *known =
      tvms_sinfo_shape_value_new(in->unit, sizes.items, sizes.len, shape->span);
  return tvms_sinfo_tensor_new(in->unit, known, type->dtype, NULL);
}

tvms_node *tvms_infer_to_vdevice(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  tvms_node *vdevice = tvms_attr(in->call, TVMS_ATTR_to_vdevice_dst_vdevice);
  if (x.shape) return tvms_sinfo_tensor_new(in->unit, x.shape, x.dtype, vdevice);
  return tvms_in_result_ndim(in, x.ndim, x.dtype, vdevice);
}

// Dimensions of an argument that may be absent: an empty tuple or the null object.
static bool is_absent(const tvms_node *sinfo) {
  return tvms_sinfo_is_void(sinfo) || sinfo->kind == TVMS_NODE_SINFO_OBJECT;
}

// Product of the dimensions times the bytes of an element (1 if the dtype is not known);
// NULL if the dimensions are not known.
static tvms_node *TVMS_NULLABLE bytes_of(tvms_inference *in, const tvms_node *sinfo) {
  tvms_list dims;
  tvms_dtype dtype = sinfo->dtype;
  if (!tvms_sinfo_dims(sinfo, &dims)) return NULL;
  tvms_node *count = tvms_dim_product(in->prover, dims);
  if (tvms_dtype_is_void(dtype)) return count;
  int64_t bytes = (dtype.bits * dtype.lanes + 7) / 8;
  return count ? tvms_dim_binary_int(in->prover, TVMS_NODE_MUL, count, bytes) : NULL;
}

static bool check_view(tvms_inference *in, const tvms_tensor_argument *x,
                       const tvms_node *view) {
  bool untyped = tvms_dtype_is_void(x->sinfo->dtype);
  if (untyped != tvms_dtype_is_void(view->dtype)) return true;
  const tvms_node *arg = tvms_in_arg(in, 3);
  tvms_node *offset =
      arg->kind == TVMS_NODE_PRIM_VALUE ? tvms_as_prim_value(arg)->value : NULL;
  int64_t skipped;
  bool shifted = offset && tvms_sinfo_dim_int(offset, &skipped) && skipped > 0;
  bool same =
      is_absent(tvms_in_sinfo(in, 1)) && tvms_dtype_same(view->dtype, x->sinfo->dtype);
  if (shifted && same) {
    return tvms_in_expects(in, 3, "a view that ends where the tensor ends");
  }
  tvms_node *whole = bytes_of(in, x->sinfo), *part = bytes_of(in, view);
  if (!whole || !part) return true;
  if (offset && !untyped)
    part = tvms_dim_binary(in->prover, TVMS_NODE_ADD, part, offset);
  if (!part || !tvms_dim_less(in->prover, whole, part)) return true;
  return tvms_in_unequal(in, TVMS_THE_CALL, "bytes of the tensor and end of the view",
                         whole, part);
}

tvms_node *tvms_infer_view(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 4, 4) || !tvms_in_tensor(in, 0, &x)) return NULL;
  const tvms_node *shape = tvms_in_sinfo(in, 1), *element = tvms_in_arg(in, 2);
  tvms_dtype dtype = x.dtype;
  if (element->kind == TVMS_NODE_VAR) {
    // A data type is not part of a type: only the value that is bound tells it, or, to a pass, what the call was before.
    const tvms_node *before = in->call->head.sinfo;
    tvms_node *bound = in->builder ? tvms_builder_value_of(in->builder, element) : NULL;
    if (bound) element = bound;
    if (!bound)
      dtype = before && tvms_sinfo_is_tensor(before) ? before->dtype : (tvms_dtype){0};
  }
  if (element->kind == TVMS_NODE_DTYPE_IMM) {
    dtype = tvms_as_dtype_imm(element)->value;
    if (tvms_dtype_is_void(dtype)) return tvms_in_expects(in, 2, "a dtype with values");
  } else if (!is_absent(tvms_in_sinfo(in, 2))
             && tvms_in_sinfo(in, 2)->kind != TVMS_NODE_SINFO_OBJECT) {
    return tvms_in_expects(in, 2, "a data type");
  }
  tvms_node *result;
  tvms_list dims;
  if (is_absent(shape)) {
    bool known = tvms_in_tensor_values(&x, &dims);
    result = known ? tvms_in_result(in, tvms_dims_copy(in, dims), dtype, x.vdevice)
                   : tvms_in_result_ndim(in, x.ndim, dtype, x.vdevice);
  } else if (shape->kind != TVMS_NODE_SINFO_SHAPE) {
    return tvms_in_expects(in, 1, "a shape");
  } else if (tvms_sinfo_dims(shape, &dims)) {
    result = tvms_in_result(in, tvms_dims_copy(in, dims), dtype, x.vdevice);
  } else {
    result =
        tvms_in_result_ndim(in, tvms_as_sinfo_shape(shape)->ndim, dtype, x.vdevice);
  }
  return check_view(in, &x, result) ? result : NULL;
}

// ---- Inspection ----

static tvms_node *prim_of(tvms_inference *in, tvms_dtype dtype) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 2) || !tvms_in_tensor(in, 0, &x)) return NULL;
  return tvms_sinfo_prim_new(in->unit, dtype, NULL);
}

tvms_node *tvms_infer_inspect_dtype(tvms_inference *in) {
  return prim_of(in, TVMS_DTYPE(UINT, 8));
}

tvms_node *tvms_infer_inspect_dtype_lanes(tvms_inference *in) {
  return prim_of(in, TVMS_DTYPE(UINT, 16));
}

tvms_node *tvms_infer_inspect_ndim(tvms_inference *in) {
  return prim_of(in, TVMS_DTYPE(INT, 32));
}

tvms_node *tvms_infer_inspect_axis(tvms_inference *in) {
  return prim_of(in, TVMS_DTYPE(INT, 64));
}

tvms_node *tvms_infer_inspect_offset(tvms_inference *in) {
  return prim_of(in, TVMS_DTYPE(UINT, 64));
}
