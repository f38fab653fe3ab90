// Rules of operators that take and write elements by indices.
#include "ir/fold.h"
#include "ir/fold_ops.h"
#include "structinfo/infer_common.h"
#include "structinfo/make.h"

tvms_node *tvms_infer_take(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 2, 2) || !tvms_in_tensor(in, 0, &x)) return NULL;
  tvms_node *type = tvms_in_sinfo(in, 1);
  if (!tvms_sinfo_is_tensor(type) && !tvms_sinfo_is_prim(type)) {
    return tvms_in_expects(in, 1, "a tensor or a scalar of indices");
  }
  tvms_tensor_argument at = {.known = true, .dtype = type->dtype};
  if (tvms_sinfo_is_tensor(type)) at = tvms_in_tensor_of(type);
  if (!tvms_dtype_is_void(at.dtype) && !tvms_dtype_is_integer(at.dtype)) {
    return tvms_in_wrong_dtype(in, 1, "integer indices", at.dtype);
  }
  bool given = tvms_attr(in->call, TVMS_ATTR_take_axis);
  if (!given && x.ndim != 1) return tvms_in_wrong_ndim(in, 0, 1, x.ndim);
  if (x.ndim == TVMS_UNKNOWN_NDIM || at.ndim == TVMS_UNKNOWN_NDIM) {
    return tvms_in_result_ndim(in, TVMS_UNKNOWN_NDIM, x.dtype, x.vdevice);
  }
  int64_t axis = 0;
  if (given
      && !tvms_in_axis(in, x.ndim, tvms_attr_int(in->call, TVMS_ATTR_take_axis, 0),
                       &axis)) {
    return NULL;
  }
  if (!x.known || !at.known) {
    return tvms_in_result_ndim(in, x.ndim + at.ndim - 1, x.dtype, x.vdevice);
  }
  tvms_dims dims = tvms_dims_new(in, x.dims.len + at.dims.len - 1);
  uint32_t k = 0;
  for (uint32_t i = 0; i < x.dims.len; i++) {
    if ((int64_t)i != axis) {
      dims.items[k++] = x.dims.items[i];
      continue;
    }
    for (uint32_t j = 0; j < at.dims.len; j++) {
      dims.items[k++] = at.dims.items[j];
    }
  }
  return tvms_in_result(in, dims, x.dtype, x.vdevice);
}

// ---- strided_slice ----

// The scalars of an argument that is a tuple written out. Returns false if it is not.
static bool unpack(const tvms_node *arg, tvms_node **items) {
  if (arg->kind != TVMS_NODE_TUPLE) return false;
  tvms_list fields = tvms_as_tuple(arg)->fields;
  for (uint32_t i = 0; i < fields.len; i++) {
    const tvms_node *field = fields.items[i];
    if (field->kind != TVMS_NODE_PRIM_VALUE) return false;
    items[i] = tvms_as_prim_value(field)->value;
  }
  return true;
}

static bool is_int_tuple(const tvms_node *sinfo) {
  if (sinfo->kind == TVMS_NODE_SINFO_OBJECT) return true;
  if (sinfo->kind != TVMS_NODE_SINFO_TUPLE) return false;
  tvms_list fields = tvms_as_sinfo_tuple(sinfo)->fields;
  for (uint32_t i = 0; i < fields.len; i++) {
    if (!tvms_sinfo_is_prim(fields.items[i])
        || !tvms_dtype_is_int(fields.items[i]->dtype)) {
      return false;
    }
  }
  return true;
}

static int64_t clamp_int(int64_t index, int64_t extent, int64_t stride) {
  int64_t least = stride < 0 ? -1 : 0, most = stride < 0 ? extent - 1 : extent;
  if (index < 0) index += extent;
  if (index < least) index = least;
  return index > most ? most : index;
}

// An index counted from the end if negative, and brought into the range of the axis.
static tvms_node *TVMS_NULLABLE clamp_index(tvms_inference *in, tvms_node *index,
                                            tvms_node *extent, tvms_node *stride) {
  tvms_unit *unit = in->unit;
  int64_t i, e, s;
  bool constant = tvms_sinfo_dim_int(index, &i);
  if (!tvms_sinfo_dim_int(stride, &s)) return NULL;
  if (constant && tvms_sinfo_dim_int(extent, &e)) {
    return tvms_sinfo_dim_new(unit, clamp_int(i, e, s));
  }
  // An index that is the extent itself is taken as it is; from 0.27 on only forwards.
  bool keeps =
      s > 0
      || tvms_release_has(unit->dialect, TVMS_FACT_backward_slices_keep_own_extent);
  if (keeps && index->kind == TVMS_NODE_VAR && extent->kind == TVMS_NODE_VAR
      && tvms_as_var(index)->name == tvms_as_var(extent)->name) {
    return index;
  }
  tvms_node *zero = tvms_sinfo_dim_new(unit, 0);
  tvms_node *most = extent;
  if (s < 0) most = tvms_dim_binary_int(in->prover, TVMS_NODE_SUB, extent, 1);
  if (!constant || i < 0) {
    tvms_node *negative = tvms_dim_binary(in->prover, TVMS_NODE_LT, index, zero);
    tvms_node *wrapped = tvms_dim_binary(in->prover, TVMS_NODE_ADD, index, extent);
    if (!negative || !wrapped) return NULL;
    index = tvms_build_if_then_else(unit, negative, wrapped, index, TVMS_NO_SPAN);
  }
  if (!index || !most) return NULL;
  tvms_node *least = tvms_sinfo_dim_new(unit, s < 0 ? -1 : 0);
  index = tvms_dim_binary(in->prover, TVMS_NODE_MAX, index, least);
  return index ? tvms_dim_binary(in->prover, TVMS_NODE_MIN, index, most) : NULL;
}

// Number of elements from `begin` to `end` by `stride`.
static tvms_node *TVMS_NULLABLE slice_length(tvms_inference *in, tvms_node *begin,
                                             tvms_node *end, tvms_node *stride,
                                             tvms_node *extent) {
  bool inbound = tvms_attr_bool(in->call, TVMS_ATTR_strided_slice_assume_inbound);
  int64_t step;
  if (!tvms_sinfo_dim_int(stride, &step) || step == 0) return NULL;
  if (!inbound) {
    begin = clamp_index(in, begin, extent, stride);
    end = clamp_index(in, end, extent, stride);
    if (!begin || !end) return NULL;
  }
  tvms_node *from = begin, *to = end, *by = stride;
  if (!inbound && step < 0) {
    from = end;
    to = begin;
    by = tvms_sinfo_dim_new(in->unit, -step);
  }
  tvms_node *length = tvms_dim_binary(in->prover, TVMS_NODE_SUB, to, from);
  if (length) length = tvms_build_ceil_div(in->unit, length, by, TVMS_NO_SPAN);
  return length ? tvms_dim_simplify(in->prover, length) : NULL;
}

typedef struct {
  tvms_node **axes, **begin, **end, **strides;
  uint32_t count;
} slices;

// The bounds of the slice if all of them are written out.
static bool take_slices(tvms_inference *in, slices *s, bool *failed) {
  *failed = false;
  tvms_node *tuple = tvms_in_arg(in, 1);
  if (tuple->kind != TVMS_NODE_TUPLE) return false;
  s->count = tvms_as_tuple(tuple)->fields.len;
  tvms_node ***parts[] = {&s->axes, &s->begin, &s->end, &s->strides};
  for (uint32_t i = 0; i < 4; i++) {
    *parts[i] = tvms_dims_new(in, s->count).items;
    if (i == 3 && in->call->args.len < 5) {
      for (uint32_t k = 0; k < s->count; k++) {
        s->strides[k] = tvms_sinfo_dim_new(in->unit, 1);
      }
      continue;
    }
    tvms_node *arg = tvms_in_arg(in, i + 1);
    if (arg->kind != TVMS_NODE_TUPLE) return false;
    if (tvms_as_tuple(arg)->fields.len != s->count) {
      *failed = true;
      tvms_in_expects(in, i + 1, "as many indices as axes");
      return false;
    }
    if (!unpack(arg, *parts[i])) return false;
  }
  return true;
}

tvms_node *tvms_infer_strided_slice(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 4, 5) || !tvms_in_tensor(in, 0, &x)) return NULL;
  for (uint32_t i = 1; i < in->call->args.len; i++) {
    if (!is_int_tuple(tvms_in_sinfo(in, i))) {
      return tvms_in_expects(in, i, "a tuple of integers");
    }
  }
  slices s;
  bool failed;
  tvms_list values;
  bool known = take_slices(in, &s, &failed);
  if (failed) return NULL;
  tvms_node *unknown = tvms_in_result_ndim(in, x.ndim, x.dtype, x.vdevice);
  if (!known || !x.shape) return unknown;
  if (!tvms_in_tensor_values(&x, &values)) return s.count == 0 ? x.sinfo : unknown;
  tvms_dims dims = tvms_dims_copy(in, values);
  bool *seen = tvms_arena_array(&in->unit->context->scratch, bool, values.len + 1);
  for (uint32_t i = 0; i < s.count; i++) {
    int64_t axis;
    if (!tvms_sinfo_dim_int(s.axes[i], &axis)) return unknown;
    if (!tvms_in_axis(in, x.ndim, axis, &axis)) return NULL;
    if (seen[axis]) return tvms_in_expects(in, 1, "each axis once");
    seen[axis] = true;
    tvms_node *length =
        slice_length(in, s.begin[i], s.end[i], s.strides[i], dims.items[axis]);
    if (!length) return unknown;
    dims.items[axis] = length;
  }
  return tvms_in_result(in, dims, x.dtype, x.vdevice);
}

tvms_node *tvms_infer_dynamic_strided_slice(tvms_inference *in) {
  tvms_tensor_argument x, at;
  if (!tvms_in_count(in, 4, 4) || !tvms_in_tensor(in, 0, &x)) return NULL;
  for (uint32_t i = 1; i < 4 && x.ndim != TVMS_UNKNOWN_NDIM; i++) {
    if (!tvms_in_tensor(in, i, &at)) return NULL;
    if (at.ndim != 1) return tvms_in_wrong_ndim(in, i, 1, at.ndim);
    int64_t length;
    if (!at.known || !tvms_sinfo_dim_int(at.dims.items[0], &length)
        || length != x.ndim) {
      return tvms_in_expects(in, i, "one index per axis");
    }
    if (!tvms_dtype_is_void(at.dtype)
        && !tvms_dtype_same(at.dtype, TVMS_DTYPE(INT, 64))) {
      return tvms_in_wrong_dtype(in, i, "indices of int64", at.dtype);
    }
  }
  return tvms_in_result_ndim(in, x.ndim, x.dtype, x.vdevice);
}

// ---- Gathering and scattering ----

static bool integer_indices(tvms_inference *in, uint32_t i,
                            const tvms_tensor_argument *at) {
  if (tvms_dtype_is_void(at->dtype) || tvms_dtype_is_integer(at->dtype)) return true;
  return tvms_in_wrong_dtype(in, i, "integer indices", at->dtype);
}

tvms_node *tvms_infer_gather_elements(tvms_inference *in) {
  tvms_tensor_argument x, at;
  int64_t axis;
  if (!tvms_in_count(in, 2, 2) || !tvms_in_tensor(in, 0, &x)
      || !tvms_in_tensor(in, 1, &at) || !integer_indices(in, 1, &at)) {
    return NULL;
  }
  if (x.ndim == TVMS_UNKNOWN_NDIM || at.ndim == TVMS_UNKNOWN_NDIM) {
    return tvms_in_result_ndim(in, TVMS_UNKNOWN_NDIM, x.dtype, x.vdevice);
  }
  if (!tvms_in_axis(in, x.ndim, tvms_attr_int(in->call, TVMS_ATTR_axis_axis, 0),
                    &axis)) {
    return NULL;
  }
  if (x.ndim != at.ndim) return tvms_in_wrong_ndim(in, 1, x.ndim, at.ndim);
  if (at.shape) return tvms_sinfo_tensor_new(in->unit, at.shape, x.dtype, x.vdevice);
  return tvms_in_result_ndim(in, at.ndim, x.dtype, x.vdevice);
}

tvms_node *tvms_infer_gather_nd(tvms_inference *in) {
  tvms_tensor_argument x, at;
  if (!tvms_in_count(in, 2, 2) || !tvms_in_tensor(in, 0, &x)
      || !tvms_in_tensor(in, 1, &at) || !integer_indices(in, 1, &at)) {
    return NULL;
  }
  if (!tvms_dtype_is_void(at.dtype) && at.dtype.bits != 64) {
    return tvms_in_wrong_dtype(in, 1, "int64 indices", at.dtype);
  }
  tvms_node *unknown = tvms_in_result_ndim(in, TVMS_UNKNOWN_NDIM, x.dtype, x.vdevice);
  if (x.ndim == TVMS_UNKNOWN_NDIM || at.ndim == TVMS_UNKNOWN_NDIM) return unknown;
  int64_t batch = tvms_attr_int(in->call, TVMS_ATTR_gather_nd_batch_dims, 0), depth;
  if (batch < 0 || batch > x.ndim || batch > at.ndim - 1) {
    return tvms_in_expects(in, TVMS_THE_CALL, "batch_dims within the ranks");
  }
  if (!at.known || at.ndim == 0
      || !tvms_sinfo_dim_int(at.dims.items[at.dims.len - 1], &depth)) {
    return unknown;
  }
  int64_t ndim = at.ndim + x.ndim - depth - 1 - batch;
  if (depth > x.ndim - batch) {
    return tvms_in_expects(in, 1, "indices no longer than the rank of the data");
  }
  if (!x.known) return tvms_in_result_ndim(in, ndim, x.dtype, x.vdevice);
  tvms_dims dims = tvms_dims_new(in, (uint32_t)ndim);
  uint32_t k = 0;
  for (uint32_t i = 0; i + 1 < at.dims.len; i++) {
    dims.items[k++] = at.dims.items[i];
  }
  for (uint32_t i = (uint32_t)(batch + depth); i < x.dims.len; i++) {
    dims.items[k++] = x.dims.items[i];
  }
  return tvms_in_result(in, dims, x.dtype, x.vdevice);
}

// Data, indices and updates of a scattering operator.
static bool take_scatter(tvms_inference *in, tvms_tensor_argument *t) {
  if (!tvms_in_count(in, 3, 3)) return false;
  for (uint32_t i = 0; i < 3; i++) {
    if (!tvms_in_tensor(in, i, &t[i])) return false;
  }
  if (!integer_indices(in, 1, &t[1])) return false;
  bool unknown = tvms_dtype_is_void(t[0].dtype) || tvms_dtype_is_void(t[2].dtype);
  if (unknown || tvms_dtype_same(t[0].dtype, t[2].dtype)) return true;
  return tvms_in_wrong_dtype(in, 2, "updates of the data's type", t[2].dtype);
}

static tvms_node *scattered(tvms_inference *in, const tvms_tensor_argument *x) {
  if (x->known) return x->sinfo;
  return tvms_in_result_ndim(in, x->ndim, x->dtype, x->vdevice);
}

tvms_node *tvms_infer_scatter_elements(tvms_inference *in) {
  tvms_tensor_argument t[3];
  if (!take_scatter(in, t)) return NULL;
  if (t[0].ndim == TVMS_UNKNOWN_NDIM) return scattered(in, &t[0]);
  if (t[1].ndim != TVMS_UNKNOWN_NDIM && t[2].ndim != TVMS_UNKNOWN_NDIM) {
    if (t[1].ndim != t[0].ndim) return tvms_in_wrong_ndim(in, 1, t[0].ndim, t[1].ndim);
    if (t[2].ndim != t[1].ndim) return tvms_in_wrong_ndim(in, 2, t[1].ndim, t[2].ndim);
  }
  for (uint32_t i = 0; t[1].known && t[2].known && i < t[1].dims.len; i++) {
    if (!tvms_dim_differ(in->prover, t[1].dims.items[i], t[2].dims.items[i])) continue;
    return tvms_in_unequal(in, 2, "dimensions", t[1].dims.items[i], t[2].dims.items[i]);
  }
  return scattered(in, &t[0]);
}

tvms_node *tvms_infer_scatter_nd(tvms_inference *in) {
  tvms_tensor_argument t[3];
  if (!take_scatter(in, t)) return NULL;
  for (uint32_t i = 0; i < 3; i += 2) {
    if (tvms_dtype_is_void(t[i].dtype))
      return tvms_in_expects(in, i, "a known data type");
  }
  if (!t[0].known || !t[1].known || !t[2].known || t[1].ndim == 0) {
    return scattered(in, &t[0]);
  }
  int64_t depth;
  uint32_t outer = t[1].dims.len - 1;
  if (!tvms_sinfo_dim_int(t[1].dims.items[outer], &depth)) {
    return tvms_in_expects(in, 1, "indices whose last axis has a constant length");
  }
  if (depth > t[0].ndim || t[0].ndim + outer - depth != t[2].ndim) {
    return tvms_in_wrong_ndim(in, 2, t[0].ndim + outer - depth, t[2].ndim);
  }
  for (uint32_t i = 0; i < t[2].dims.len; i++) {
    tvms_node *want =
        i < outer ? t[1].dims.items[i] : t[0].dims.items[(uint32_t)depth + i - outer];
    if (tvms_dim_equal(in->prover, want, t[2].dims.items[i])) continue;
    return tvms_in_unequal(in, 2, "dimensions", want, t[2].dims.items[i]);
  }
  return scattered(in, &t[0]);
}

tvms_node *tvms_infer_slice_scatter(tvms_inference *in) {
  tvms_tensor_argument x, src;
  tvms_node *bounds[3];
  if (!tvms_in_count(in, 5, 5) || !tvms_in_tensor(in, 0, &x)
      || !tvms_in_tensor(in, 1, &src)) {
    return NULL;
  }
  for (uint32_t i = 0; i < 3; i++) {
    if (!tvms_in_prim(in, i + 2, &bounds[i])) return NULL;
  }
  if (x.ndim == TVMS_UNKNOWN_NDIM) return x.sinfo;
  int64_t axis;
  if (!tvms_in_axis(in, x.ndim, tvms_attr_int(in->call, TVMS_ATTR_axis_axis, 0),
                    &axis)) {
    return NULL;
  }
  if (src.ndim != TVMS_UNKNOWN_NDIM && src.ndim != x.ndim) {
    return tvms_in_wrong_ndim(in, 1, x.ndim, src.ndim);
  }
  bool unknown = tvms_dtype_is_void(x.dtype) || tvms_dtype_is_void(src.dtype);
  if (!unknown && !tvms_dtype_same(x.dtype, src.dtype)) {
    return tvms_in_wrong_dtype(in, 1, "a source of the data's type", src.dtype);
  }
  for (uint32_t i = 0; x.known && src.known && i < x.dims.len; i++) {
    if ((int64_t)i == axis) continue;
    if (!tvms_dim_differ(in->prover, x.dims.items[i], src.dims.items[i])) continue;
    return tvms_in_unequal(in, 1, "dimensions", x.dims.items[i], src.dims.items[i]);
  }
  int64_t begin, end, step, length;
  bool constant = src.known && tvms_sinfo_dim_int(bounds[0], &begin)
                  && tvms_sinfo_dim_int(bounds[1], &end)
                  && tvms_sinfo_dim_int(bounds[2], &step) && step > 0
                  && tvms_sinfo_dim_int(src.dims.items[axis], &length);
  if (constant && length != (end - begin + step - 1) / step) {
    return tvms_in_expects(in, 1, "a source as long as the slice");
  }
  return x.sinfo;
}

tvms_node *tvms_infer_index_tensor(tvms_inference *in) {
  tvms_tensor_argument x, *at;
  uint32_t count;
  if (!tvms_in_count(in, 2, 2) || !tvms_in_tensor(in, 0, &x)
      || !tvms_in_tensors(in, 1, &at, &count)) {
    return NULL;
  }
  if (count == 0) return tvms_in_expects(in, 1, "at least one tensor of indices");
  if (x.ndim != TVMS_UNKNOWN_NDIM && count > x.ndim) {
    return tvms_in_expects(in, 1, "no more indices than axes");
  }
  tvms_dims common = tvms_dims_new(in, 0);
  bool known = x.known;
  for (uint32_t i = 0; i < count; i++) {
    if (!integer_indices(in, 1, &at[i])) return NULL;
    known = known && at[i].known;
    if (!known) continue;
    tvms_list both = {common.items, common.len};
    tvms_broadcasting outcome = tvms_in_broadcast(in, both, at[i].dims, &common);
    if (outcome == TVMS_BROADCAST_FAILED) return NULL;
    known = outcome == TVMS_BROADCAST_KNOWN;
  }
  if (!known) return tvms_in_result_ndim(in, TVMS_UNKNOWN_NDIM, x.dtype, x.vdevice);
  tvms_dims dims = tvms_dims_new(in, common.len + x.dims.len - count);
  for (uint32_t i = 0; i < dims.len; i++) {
    dims.items[i] =
        i < common.len ? common.items[i] : x.dims.items[count + i - common.len];
  }
  return tvms_in_result(in, dims, x.dtype, x.vdevice);
}

tvms_node *tvms_infer_index_put(tvms_inference *in) {
  tvms_tensor_argument x, values;
  if (!tvms_in_count(in, 3, 3) || !tvms_in_tensor(in, 0, &x)
      || !tvms_in_tensor(in, 2, &values)) {
    return NULL;
  }
  tvms_tensor_argument *at;
  uint32_t count = 1;
  bool one = tvms_sinfo_is_tensor(tvms_in_sinfo(in, 1));
  if (!one && !tvms_in_tensors(in, 1, &at, &count)) return NULL;
  if (x.ndim == TVMS_UNKNOWN_NDIM) return x.sinfo;
  if (count != x.ndim) return tvms_in_expects(in, 1, "one tensor of indices per axis");
  for (uint32_t i = 0; !one && i < count; i++) {
    if (!integer_indices(in, 1, &at[i])) return NULL;
    if (at[i].ndim == 0) return tvms_in_expects(in, 1, "indices with an axis");
  }
  bool unknown = tvms_dtype_is_void(x.dtype) || tvms_dtype_is_void(values.dtype);
  if (!unknown && !tvms_dtype_same(x.dtype, values.dtype)) {
    return tvms_in_wrong_dtype(in, 2, "values of the data's type", values.dtype);
  }
  return scattered(in, &x);
}

tvms_node *tvms_infer_reverse_sequence(tvms_inference *in) {
  tvms_tensor_argument x, lengths;
  if (!tvms_in_count(in, 2, 2) || !tvms_in_tensor(in, 0, &x)
      || !tvms_in_tensor(in, 1, &lengths) || !integer_indices(in, 1, &lengths)) {
    return NULL;
  }
  if (lengths.ndim != TVMS_UNKNOWN_NDIM && lengths.ndim != 1) {
    return tvms_in_wrong_ndim(in, 1, 1, lengths.ndim);
  }
  if (x.ndim == TVMS_UNKNOWN_NDIM) return x.sinfo;
  int64_t sequence = tvms_attr_int(in->call, TVMS_ATTR_reverse_sequence_seq_axis, 1);
  int64_t batch = tvms_attr_int(in->call, TVMS_ATTR_reverse_sequence_batch_axis, 0);
  if (!tvms_in_axis(in, x.ndim, sequence, &sequence)
      || !tvms_in_axis(in, x.ndim, batch, &batch)) {
    return NULL;
  }
  if (x.known && lengths.known
      && tvms_dim_differ(in->prover, lengths.dims.items[0], x.dims.items[batch])) {
    return tvms_in_unequal(in, 1, "dimensions", lengths.dims.items[0],
                           x.dims.items[batch]);
  }
  return x.sinfo;
}
