// Rules of operators that change the shape: joining, cutting, permuting, repeating.
#include "ir/fold.h"
#include "structinfo/infer_common.h"
#include "structinfo/make.h"

tvms_node *tvms_infer_broadcast_to(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 2, 2) || !tvms_in_tensor(in, 0, &x)) return NULL;
  const tvms_node *shape = tvms_in_sinfo(in, 1);
  if (shape->kind != TVMS_NODE_SINFO_SHAPE) return tvms_in_expects(in, 1, "a shape");
  int64_t ndim = tvms_as_sinfo_shape(shape)->ndim;
  if (x.ndim != TVMS_UNKNOWN_NDIM && ndim != TVMS_UNKNOWN_NDIM && ndim < x.ndim) {
    return tvms_in_wrong_ndim(in, 1, x.ndim, ndim);
  }
  tvms_list from, to;
  if (tvms_in_tensor_values(&x, &from) && tvms_sinfo_dims(shape, &to)) {
    for (uint32_t i = 1; i <= from.len; i++) {
      tvms_node *a = from.items[from.len - i], *b = to.items[to.len - i];
      int64_t length;
      if (tvms_sinfo_dim_int(a, &length) && length == 1) continue;
      if (tvms_dim_differ(in->prover, a, b)) {
        return tvms_in_unequal(in, 1, "dimensions", a, b);
      }
    }
  }
  return tvms_sinfo_tensor_new(in->unit, tvms_in_arg(in, 1), x.dtype, x.vdevice);
}

// What tensors that are joined have in common.
typedef struct {
  tvms_tensor_argument *tensors;
  uint32_t count;
  tvms_dtype dtype;
  int64_t ndim;
  tvms_node *vdevice;
  bool known;         // all shapes are written out
  tvms_list *values;  // those that are known, from the shape or its variable
  uint32_t value_count;
} joined;

static bool join_dtypes(tvms_inference *in, joined *all) {
  bool unknown = false;
  for (uint32_t i = 0; i < all->count; i++) {
    tvms_dtype dtype = all->tensors[i].dtype;
    if (tvms_dtype_is_void(dtype)) {
      unknown = true;
    } else if (tvms_dtype_is_void(all->dtype)) {
      all->dtype = dtype;
    } else if (!tvms_dtype_same(all->dtype, dtype)) {
      return tvms_in_wrong_dtype(in, 0, "tensors of one data type", dtype);
    }
  }
  if (unknown) all->dtype = (tvms_dtype){0};
  return true;
}

static bool join_tensors(tvms_inference *in, joined *all, int64_t ndim) {
  *all = (joined){.ndim = ndim, .known = true};
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensors(in, 0, &all->tensors, &all->count)) {
    return false;
  }
  if (all->count == 0) return tvms_in_expects(in, 0, "at least one tensor");
  if (!join_dtypes(in, all)) return false;
  tvms_arena *scratch = &in->unit->context->scratch;
  all->values = tvms_arena_array(scratch, tvms_list, all->count);
  for (uint32_t i = 0; i < all->count; i++) {
    const tvms_tensor_argument *x = &all->tensors[i];
    if (all->ndim == TVMS_UNKNOWN_NDIM) all->ndim = x->ndim;
    if (x->ndim != TVMS_UNKNOWN_NDIM && x->ndim != all->ndim) {
      return tvms_in_wrong_ndim(in, 0, all->ndim, x->ndim);
    }
    all->known = all->known && x->known;
    if (tvms_in_tensor_values(x, &all->values[all->value_count])) all->value_count++;
  }
  all->vdevice = tvms_in_shared_vdevice(in, all->tensors, all->count);
  return true;
}

// True if all known shapes agree on every axis but `axis` (-1: on every axis). `failed`
// is set after a report.
static bool shapes_agree(tvms_inference *in, const joined *all, int64_t axis,
                         bool *failed) {
  bool agree = true;
  *failed = false;
  for (uint32_t d = 0; d < all->values[0].len; d++) {
    for (uint32_t i = 1; i < all->value_count && (int64_t)d != axis; i++) {
      tvms_node *a = all->values[0].items[d], *b = all->values[i].items[d];
      if (tvms_dim_equal(in->prover, a, b)) continue;
      if (tvms_dim_differ(in->prover, a, b)) {
        tvms_in_unequal(in, 0, "dimensions", a, b);
        *failed = true;
        return false;
      }
      agree = false;
    }
  }
  return agree;
}

// The sum of all lengths along `axis`; equal ones are multiplied.
static tvms_node *TVMS_NULLABLE joined_length(tvms_inference *in, const joined *all,
                                              int64_t axis) {
  tvms_node *first = all->values[0].items[axis];
  bool same = true;
  for (uint32_t i = 1; i < all->value_count && same; i++) {
    tvms_node *other = all->values[i].items[axis];
    int64_t a, b;
    same =
        other == first
        || (tvms_sinfo_dim_int(other, &a) && tvms_sinfo_dim_int(first, &b) && a == b);
  }
  if (same)
    return tvms_dim_binary_int(in->prover, TVMS_NODE_MUL, first, all->value_count);
  tvms_node *sum = tvms_sinfo_dim_new(in->unit, 0);
  for (uint32_t i = 0; i < all->value_count && sum; i++) {
    sum = tvms_dim_binary(in->prover, TVMS_NODE_ADD, sum, all->values[i].items[axis]);
  }
  return sum;
}

tvms_node *tvms_infer_concat(tvms_inference *in) {
  joined all;
  bool given = tvms_attr(in->call, TVMS_ATTR_opt_axis_axis);
  if (!join_tensors(in, &all, given ? TVMS_UNKNOWN_NDIM : 1)) return NULL;
  if (all.ndim == TVMS_UNKNOWN_NDIM) {
    if (all.count == 1) return all.tensors[0].sinfo;
    return tvms_in_result_ndim(in, all.ndim, all.dtype, all.vdevice);
  }
  int64_t axis = 0;
  if (given
      && !tvms_in_axis(in, all.ndim,
                       tvms_attr_int(in->call, TVMS_ATTR_opt_axis_axis, 0), &axis)) {
    return NULL;
  }
  if (all.count == 1) return all.tensors[0].sinfo;
  bool failed = false;
  bool agree = all.value_count > 0 && shapes_agree(in, &all, axis, &failed);
  if (failed) return NULL;
  if (!agree || !all.known)
    return tvms_in_result_ndim(in, all.ndim, all.dtype, all.vdevice);
  tvms_dims dims = tvms_dims_copy(in, all.values[0]);
  dims.items[axis] = joined_length(in, &all, axis);
  return dims.items[axis] ? tvms_in_result(in, dims, all.dtype, all.vdevice) : NULL;
}

tvms_node *tvms_infer_stack(tvms_inference *in) {
  joined all;
  if (!join_tensors(in, &all, TVMS_UNKNOWN_NDIM)) return NULL;
  if (all.ndim == TVMS_UNKNOWN_NDIM) {
    return tvms_in_result_ndim(in, all.ndim, all.dtype, all.vdevice);
  }
  int64_t axis;
  if (!tvms_in_axis(in, all.ndim + 1,
                    tvms_attr_int(in->call, TVMS_ATTR_opt_axis_axis, 0), &axis)) {
    return NULL;
  }
  bool failed = false;
  bool agree = all.value_count > 0 && shapes_agree(in, &all, -1, &failed);
  if (failed) return NULL;
  if (!agree || !all.known) {
    return tvms_in_result_ndim(in, all.ndim + 1, all.dtype, all.vdevice);
  }
  tvms_dims dims = tvms_dims_new(in, all.values[0].len + 1);
  for (uint32_t i = 0, k = 0; i < dims.len; i++) {
    dims.items[i] = (int64_t)i == axis ? tvms_sinfo_dim_new(in->unit, all.count)
                                       : all.values[0].items[k++];
  }
  return tvms_in_result(in, dims, all.dtype, all.vdevice);
}

tvms_node *tvms_infer_expand_dims(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  tvms_list list = tvms_attr_list(in->call, TVMS_ATTR_axis_list_axis);
  if (list.len == 0) return x.sinfo;
  if (x.ndim == TVMS_UNKNOWN_NDIM) {
    return tvms_in_result_ndim(in, x.ndim, x.dtype, x.vdevice);
  }
  int64_t ndim = x.ndim + list.len, *axes = tvms_in_ints(in, list.len);
  if (!tvms_in_axes(in, ndim, list, axes)) return NULL;
  if (!x.known) return tvms_in_result_ndim(in, ndim, x.dtype, x.vdevice);
  tvms_dims dims = tvms_dims_new(in, (uint32_t)ndim);
  for (uint32_t i = 0; i < list.len; i++) {
    dims.items[axes[i]] = tvms_sinfo_dim_new(in->unit, 1);
  }
  for (uint32_t i = 0, k = 0; i < dims.len; i++) {
    if (!dims.items[i]) dims.items[i] = x.dims.items[k++];
  }
  return tvms_in_result(in, dims, x.dtype, x.vdevice);
}

tvms_node *tvms_infer_flatten(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  if (x.ndim == 1) return x.sinfo;
  if (!x.known && x.ndim != 0) return tvms_in_result_ndim(in, 1, x.dtype, x.vdevice);
  tvms_dims dims = tvms_dims_new(in, 1);
  dims.items[0] = x.ndim == 0 ? tvms_sinfo_dim_new(in->unit, 1)
                              : tvms_dim_product(in->prover, x.dims);
  return dims.items[0] ? tvms_in_result(in, dims, x.dtype, x.vdevice) : NULL;
}

tvms_node *tvms_infer_batch_flatten(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  if (x.ndim != TVMS_UNKNOWN_NDIM && x.ndim < 2) {
    return tvms_in_expects(in, 0, "a tensor with at least two axes");
  }
  if (x.ndim == 2) return x.sinfo;
  if (!x.known) return tvms_in_result_ndim(in, 2, x.dtype, x.vdevice);
  tvms_dims dims = tvms_dims_new(in, 2);
  dims.items[0] = x.dims.items[0];
  tvms_list rest = {x.dims.items + 1, x.dims.len - 1};
  dims.items[1] = tvms_dim_product(in->prover, rest);
  return dims.items[1] ? tvms_in_result(in, dims, x.dtype, x.vdevice) : NULL;
}

tvms_node *tvms_infer_permute_dims(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  bool given = tvms_attr(in->call, TVMS_ATTR_opt_axes_axes);
  tvms_list list = tvms_attr_list(in->call, TVMS_ATTR_opt_axes_axes);
  if (x.ndim == TVMS_UNKNOWN_NDIM) {
    return given ? tvms_in_expects(in, 0, "a known rank")
                 : tvms_in_result_ndim(in, x.ndim, x.dtype, x.vdevice);
  }
  if (given && list.len != x.ndim) return tvms_in_wrong_ndim(in, 0, list.len, x.ndim);
  int64_t *axes = tvms_in_ints(in, (uint32_t)x.ndim);
  if (given && !tvms_in_axes(in, x.ndim, list, axes)) return NULL;
  bool identity = true;
  for (int64_t i = 0; i < x.ndim; i++) {
    if (!given) axes[i] = x.ndim - 1 - i;
    identity = identity && axes[i] == i;
  }
  if (identity) return x.sinfo;
  if (!x.known) return tvms_in_result_ndim(in, x.ndim, x.dtype, x.vdevice);
  tvms_dims dims = tvms_dims_new(in, x.dims.len);
  for (uint32_t i = 0; i < dims.len; i++) {
    dims.items[i] = x.dims.items[axes[i]];
  }
  return tvms_in_result(in, dims, x.dtype, x.vdevice);
}

tvms_node *tvms_infer_reshape(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 2, 2) || !tvms_in_tensor(in, 0, &x)) return NULL;
  tvms_node *shape = tvms_in_sinfo(in, 1);
  if (shape->kind != TVMS_NODE_SINFO_SHAPE) return tvms_in_expects(in, 1, "a shape");
  tvms_list from, to;
  bool known = tvms_sinfo_dims(shape, &to);
  if (known && tvms_in_tensor_values(&x, &from)) {
    tvms_node *old = tvms_dim_product(in->prover, from);
    tvms_node *new = tvms_dim_product(in->prover, to);
    if (old && new &&tvms_dim_differ(in->prover, old, new)) {
      return tvms_in_unequal(in, 1, "numbers of elements", old, new);
    }
  }
  tvms_node *value = tvms_in_arg(in, 1);
  if (value->kind == TVMS_NODE_VAR && known) {
    return tvms_in_result(in, tvms_dims_copy(in, to), x.dtype, x.vdevice);
  }
  return tvms_sinfo_tensor_new(in->unit, value, x.dtype, x.vdevice);
}

// min(max(value, 0), length)
static tvms_node *TVMS_NULLABLE clamp(tvms_inference *in, tvms_node *value,
                                      tvms_node *length) {
  value = tvms_dim_binary_int(in->prover, TVMS_NODE_MAX, value, 0);
  return value ? tvms_dim_binary(in->prover, TVMS_NODE_MIN, value, length) : NULL;
}

// The piece of a tensor between two indices of an axis.
static tvms_node *TVMS_NULLABLE piece(tvms_inference *in, const tvms_tensor_argument *x,
                                      int64_t axis, tvms_node *left, tvms_node *right) {
  tvms_node *length = x->dims.items[axis];
  left = clamp(in, left, length);
  right = clamp(in, right, length);
  if (!left || !right) return NULL;
  tvms_node *size = tvms_dim_binary(in->prover, TVMS_NODE_SUB, right, left);
  if (size) size = tvms_dim_binary_int(in->prover, TVMS_NODE_MAX, size, 0);
  if (!size) return NULL;
  tvms_dims dims = tvms_dims_copy(in, x->dims);
  dims.items[axis] = tvms_dim_simplify(in->prover, size);
  return tvms_in_result(in, dims, x->dtype, x->vdevice);
}

static tvms_node *TVMS_NULLABLE split_at(tvms_inference *in,
                                         const tvms_tensor_argument *x, int64_t axis,
                                         tvms_list indices) {
  if (indices.len == 0) return x->sinfo;
  tvms_dims fields = tvms_dims_new(in, indices.len + 1);
  for (uint32_t i = 0; i < fields.len; i++) {
    if (!x->known) {
      fields.items[i] = tvms_in_result_ndim(in, x->ndim, x->dtype, x->vdevice);
      continue;
    }
    int64_t from = i ? tvms_attr_item_int(indices.items[i - 1]) : 0;
    tvms_node *left = tvms_sinfo_dim_new(in->unit, from);
    tvms_node *right = x->dims.items[axis];
    if (i < indices.len) {
      right = tvms_sinfo_dim_new(in->unit, tvms_attr_item_int(indices.items[i]));
    }
    fields.items[i] = piece(in, x, axis, left, right);
    if (!fields.items[i]) return NULL;
  }
  return tvms_sinfo_tuple_new(in->unit, fields.items, fields.len);
}

// `sections` pieces: all but the last have the length rounded up.
static tvms_node *TVMS_NULLABLE split_into(tvms_inference *in,
                                           const tvms_tensor_argument *x, int64_t axis,
                                           int64_t sections) {
  enum { MOST_SECTIONS = 1 << 20 };
  if (sections < 1 || sections > MOST_SECTIONS) {
    return tvms_in_expects(in, TVMS_THE_CALL, "a positive number of sections");
  }
  if (sections == 1) return x->sinfo;
  tvms_dims fields = tvms_dims_new(in, (uint32_t)sections);
  if (!x->known) {
    tvms_node *each = tvms_in_result_ndim(in, x->ndim, x->dtype, x->vdevice);
    for (uint32_t i = 0; i < fields.len; i++) {
      fields.items[i] = each;
    }
    return tvms_sinfo_tuple_new(in->unit, fields.items, fields.len);
  }
  tvms_node *length = x->dims.items[axis];
  tvms_node *count = tvms_sinfo_dim_new(in->unit, sections);
  tvms_node *size = tvms_build_ceil_div(in->unit, length, count, TVMS_NO_SPAN);
  if (!size) return NULL;
  size = tvms_dim_simplify(in->prover, size);
  tvms_dims dims = tvms_dims_copy(in, x->dims);
  dims.items[axis] = size;
  tvms_node *each = tvms_in_result(in, dims, x->dtype, x->vdevice);
  for (uint32_t i = 0; i + 1 < fields.len; i++) {
    fields.items[i] = each;
  }
  tvms_node *before =
      tvms_dim_binary_int(in->prover, TVMS_NODE_MUL, size, sections - 1);
  tvms_node *last =
      before ? tvms_dim_binary(in->prover, TVMS_NODE_SUB, length, before) : NULL;
  if (!last) return NULL;
  dims.items[axis] = tvms_dim_simplify(in->prover, last);
  fields.items[fields.len - 1] = tvms_in_result(in, dims, x->dtype, x->vdevice);
  return tvms_sinfo_tuple_new(in->unit, fields.items, fields.len);
}

tvms_node *tvms_infer_split(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  int64_t axis = -1;
  if (x.ndim != TVMS_UNKNOWN_NDIM
      && !tvms_in_axis(in, x.ndim, tvms_attr_int(in->call, TVMS_ATTR_split_axis, 0),
                       &axis)) {
    return NULL;
  }
  const tvms_node *how = tvms_attr(in->call, TVMS_ATTR_split_indices_or_sections);
  if (how && how->kind == TVMS_NODE_OBJECT_ARRAY) {
    return split_at(in, &x, axis, tvms_as_object_array(how)->items);
  }
  return split_into(in, &x, axis, how ? tvms_attr_item_int(how) : 0);
}

// Marks the axes that squeeze removes. Returns false if they cannot be told.
static bool squeezed(tvms_inference *in, tvms_list dims, const int64_t *axes,
                     uint32_t count, bool given, bool *gone) {
  (void)in;
  for (uint32_t i = 0; i < (given ? count : dims.len); i++) {
    uint32_t axis = given ? (uint32_t)axes[i] : i;
    int64_t length;
    bool constant = tvms_sinfo_dim_int(dims.items[axis], &length);
    if (!given && !constant) return false;
    gone[axis] = constant ? length == 1 : given;
  }
  return true;
}

tvms_node *tvms_infer_squeeze(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  bool given = tvms_attr(in->call, TVMS_ATTR_opt_axis_list_axis);
  tvms_list list = tvms_attr_list(in->call, TVMS_ATTR_opt_axis_list_axis), values;
  if (given && list.len == 0) return x.sinfo;
  tvms_node *unknown = tvms_in_result_ndim(in, TVMS_UNKNOWN_NDIM, x.dtype, x.vdevice);
  if (x.ndim == TVMS_UNKNOWN_NDIM) return unknown;
  int64_t *axes = tvms_in_ints(in, list.len);
  if (given && !tvms_in_axes(in, x.ndim, list, axes)) return NULL;
  if (!tvms_in_tensor_values(&x, &values)) {
    if (!given) return unknown;
    return tvms_in_result_ndim(in, x.ndim - list.len, x.dtype, x.vdevice);
  }
  bool *gone = tvms_arena_array(&in->unit->context->scratch, bool, values.len + 1);
  if (!squeezed(in, values, axes, list.len, given, gone)) return unknown;
  tvms_dims dims = tvms_dims_new(in, values.len);
  dims.len = 0;
  for (uint32_t i = 0; i < values.len; i++) {
    if (!gone[i]) dims.items[dims.len++] = values.items[i];
  }
  if (x.known) return tvms_in_result(in, dims, x.dtype, x.vdevice);
  if (dims.len == values.len) return x.sinfo;
  return given ? tvms_in_result_ndim(in, dims.len, x.dtype, x.vdevice) : unknown;
}

// Checks that `data` can be summed down to `target`.
static bool collapses(tvms_inference *in, tvms_list data, tvms_list target) {
  uint32_t left = target.len;
  for (uint32_t i = data.len; i > 0 && left > 0; i--) {
    tvms_node *a = data.items[i - 1], *b = target.items[left - 1];
    int64_t length;
    bool one = tvms_sinfo_dim_int(b, &length) && length == 1;
    if (!one && !tvms_dim_equal(in->prover, a, b)) {
      return tvms_in_unequal(in, 1, "dimensions", a, b);
    }
    left--;
  }
  return true;
}

tvms_node *tvms_infer_collapse_sum_like(tvms_inference *in) {
  tvms_tensor_argument x, like;
  if (!tvms_in_count(in, 2, 2) || !tvms_in_tensor(in, 0, &x)
      || !tvms_in_tensor(in, 1, &like)) {
    return NULL;
  }
  tvms_list from, to;
  if (tvms_in_tensor_values(&x, &from) && tvms_in_tensor_values(&like, &to)
      && !collapses(in, from, to)) {
    return NULL;
  }
  return tvms_in_result_like(in, &like, x.dtype);
}

tvms_node *tvms_infer_collapse_sum_to(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 2, 2) || !tvms_in_tensor(in, 0, &x)) return NULL;
  const tvms_node *shape = tvms_in_sinfo(in, 1);
  if (shape->kind != TVMS_NODE_SINFO_SHAPE) return tvms_in_expects(in, 1, "a shape");
  tvms_list from, to;
  if (tvms_in_tensor_values(&x, &from) && tvms_sinfo_dims(shape, &to)
      && !collapses(in, from, to)) {
    return NULL;
  }
  return tvms_sinfo_tensor_new(in->unit, tvms_in_arg(in, 1), x.dtype, x.vdevice);
}

tvms_node *tvms_infer_repeat(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  int64_t repeats = tvms_attr_int(in->call, TVMS_ATTR_repeat_repeats, 1), axis = 0;
  bool given = tvms_attr(in->call, TVMS_ATTR_repeat_axis);
  if (given && x.ndim != TVMS_UNKNOWN_NDIM
      && !tvms_in_axis(in, x.ndim, tvms_attr_int(in->call, TVMS_ATTR_repeat_axis, 0),
                       &axis)) {
    return NULL;
  }
  if (!x.known) {
    if (given && repeats == 1) return x.sinfo;
    return tvms_in_result_ndim(in, given ? x.ndim : 1, x.dtype, x.vdevice);
  }
  tvms_dims dims = given ? tvms_dims_copy(in, x.dims) : tvms_dims_new(in, 1);
  tvms_node *old = given ? dims.items[axis] : tvms_dim_product(in->prover, x.dims);
  tvms_node *length =
      old ? tvms_dim_binary_int(in->prover, TVMS_NODE_MUL, old, repeats) : NULL;
  if (!length) return NULL;
  dims.items[axis] = tvms_dim_simplify(in->prover, length);
  return tvms_in_result(in, dims, x.dtype, x.vdevice);
}

tvms_node *tvms_infer_tile(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  tvms_list repeats = tvms_attr_list(in->call, TVMS_ATTR_tile_repeats);
  if (x.ndim == TVMS_UNKNOWN_NDIM) {
    return tvms_in_result_ndim(in, x.ndim, x.dtype, x.vdevice);
  }
  int64_t ndim = x.ndim > repeats.len ? x.ndim : repeats.len;
  if (!x.known) {
    bool same = repeats.len <= x.ndim;
    for (uint32_t i = 0; i < repeats.len; i++) {
      same = same && tvms_attr_item_int(repeats.items[i]) == 1;
    }
    return same ? x.sinfo : tvms_in_result_ndim(in, ndim, x.dtype, x.vdevice);
  }
  tvms_dims dims = tvms_dims_new(in, (uint32_t)ndim);
  uint32_t skip = dims.len - repeats.len, pad = dims.len - x.dims.len;
  for (uint32_t i = 0; i < dims.len; i++) {
    int64_t times = i < skip ? 1 : tvms_attr_item_int(repeats.items[i - skip]);
    if (i < pad) {
      dims.items[i] = tvms_sinfo_dim_new(in->unit, times);
      continue;
    }
    tvms_node *length = x.dims.items[i - pad];
    if (i >= skip)
      length = tvms_dim_binary_int(in->prover, TVMS_NODE_MUL, length, times);
    if (!length) return NULL;
    dims.items[i] = i < skip ? length : tvms_dim_simplify(in->prover, length);
  }
  return tvms_in_result(in, dims, x.dtype, x.vdevice);
}

tvms_node *tvms_infer_flip(tvms_inference *in) {
  tvms_tensor_argument x;
  int64_t axis;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  if (x.ndim != TVMS_UNKNOWN_NDIM
      && !tvms_in_axis(in, x.ndim, tvms_attr_int(in->call, TVMS_ATTR_axis_axis, 0),
                       &axis)) {
    return NULL;
  }
  return x.sinfo;
}
