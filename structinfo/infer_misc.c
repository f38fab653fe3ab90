// Rules of collectives and distribution.
#include "structinfo/infer_common.h"
#include "structinfo/make.h"
#include "structinfo/placement.h"

// Dimension `axis` times or divided by the number of workers.
static tvms_node *TVMS_NULLABLE per_worker(tvms_inference *in, int64_t axis,
                                           int64_t workers, bool gathers) {
  tvms_tensor_argument x;
  tvms_list values;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  if (!tvms_in_tensor_values(&x, &values)) {
    return gathers ? x.sinfo : tvms_in_expects(in, 0, "a tensor of known shape");
  }
  if (workers < 1) return tvms_in_expects(in, TVMS_THE_CALL, "a positive num_workers");
  if (!tvms_in_axis(in, x.ndim, axis, &axis)) return NULL;
  tvms_dims dims = tvms_dims_copy(in, values);
  int64_t length;
  if (!gathers && tvms_sinfo_dim_int(dims.items[axis], &length)
      && length % workers != 0) {
    return tvms_in_expects(in, 0, "a dimension divisible by num_workers");
  }
  tvms_node_kind kind = gathers ? TVMS_NODE_MUL : TVMS_NODE_DIV;
  dims.items[axis] = tvms_dim_binary_int(in->prover, kind, dims.items[axis], workers);
  return dims.items[axis] ? tvms_in_result(in, dims, x.dtype, x.vdevice) : NULL;
}

tvms_node *tvms_infer_allgather(tvms_inference *in) {
  int64_t workers = tvms_attr_int(in->call, TVMS_ATTR_allgather_num_workers, 1);
  return per_worker(in, 0, workers, true);
}

tvms_node *tvms_infer_scatter_from_worker0(tvms_inference *in) {
  return per_worker(in, tvms_attr_int(in->call, TVMS_ATTR_workers_axis, 0),
                    tvms_attr_int(in->call, TVMS_ATTR_workers_num_workers, 1), false);
}

tvms_node *tvms_infer_replica_to_shard(tvms_inference *in) {
  return tvms_infer_scatter_from_worker0(in);
}

// ---- Sharding ----

tvms_node *tvms_infer_redistribute(tvms_inference *in) {
  tvms_node *type = tvms_in_count(in, 1, 1) ? tvms_in_sinfo(in, 0) : NULL;
  if (!type) return NULL;
  if (type->kind != TVMS_NODE_SINFO_DTENSOR) {
    return tvms_in_expects(in, 0, "a distributed tensor");
  }
  const tvms_node *placement = tvms_attr(in->call, TVMS_ATTR_sharding_placement);
  tvms_sinfo_dtensor *result = tvms_node_make(in->unit, SINFO_DTENSOR, TVMS_NO_SPAN);
  result->tensor = tvms_as_sinfo_dtensor(type)->tensor;
  result->mesh = tvms_attr(in->call, TVMS_ATTR_sharding_device_mesh);
  if (!placement || placement->kind != TVMS_NODE_OBJECT_STR) return &result->head;
  tvms_placement placed;
  result->placement = tvms_as_object_str(placement)->value;
  int64_t ndim = tvms_as_sinfo_tensor(result->tensor)->ndim;
  bool fits = tvms_placement_parse(result->placement, &placed)
              && !tvms_placement_misfit(&placed, result->mesh, ndim);
  return fits ? &result->head
              : tvms_in_expects(in, TVMS_THE_CALL, "a placement for mesh and tensor");
}

// ---- Index maps ----

// The largest value of an index if every variable runs from 0 below its dimension; NULL
// if the form of the index does not tell.
static tvms_node *TVMS_NULLABLE largest(tvms_inference *in, const tvms_index_map *map,
                                        tvms_list dims, tvms_node *index) {
  tvms_prover *prover = in->prover;
  int64_t value;
  if (tvms_sinfo_dim_int(index, &value)) {
    return value >= 0 ? tvms_sinfo_dim_new(in->unit, value) : NULL;
  }
  for (uint32_t i = 0; i < map->initial_indices.len; i++) {
    if (map->initial_indices.items[i] == index) {
      return tvms_dim_binary_int(prover, TVMS_NODE_SUB, dims.items[i], 1);
    }
  }
  bool arithmetic = index->kind == TVMS_NODE_ADD || index->kind == TVMS_NODE_MUL
                    || index->kind == TVMS_NODE_FLOOR_DIV
                    || index->kind == TVMS_NODE_FLOOR_MOD;
  if (!arithmetic || !tvms_memory_enter(&in->unit->context->memory)) return NULL;
  const tvms_binary *binary = (const tvms_binary *)index;
  tvms_node *a = largest(in, map, dims, binary->a);
  tvms_node *b = largest(in, map, dims, binary->b);
  tvms_memory_leave(&in->unit->context->memory);
  if (!a || !b) return NULL;
  // A remainder counts as full: TVM pads what the divisor does not divide.
  if (index->kind == TVMS_NODE_FLOOR_MOD) {
    return tvms_dim_binary_int(prover, TVMS_NODE_SUB, b, 1);
  }
  return tvms_dim_binary(prover, (tvms_node_kind)index->kind, a, b);
}

// The length of an axis of which every `by` elements become one: padded at its end.
static tvms_node *TVMS_NULLABLE quotient(tvms_inference *in, tvms_node *dim,
                                         int64_t by) {
  tvms_prover *prover = in->prover;
  tvms_node *rest = tvms_dim_binary_int(prover, TVMS_NODE_FLOOR_MOD, dim, -by);
  tvms_node *padded = rest ? tvms_dim_binary(prover, TVMS_NODE_SUB, dim, rest) : NULL;
  return padded ? tvms_dim_binary_int(prover, TVMS_NODE_FLOOR_DIV, padded, by) : NULL;
}

// The length of the axis with this index; NULL if the form of the index does not tell.
static tvms_node *TVMS_NULLABLE extent_of(tvms_inference *in, const tvms_index_map *map,
                                          tvms_list dims, tvms_node *index) {
  int64_t by;
  tvms_node *whole = index, *extent = NULL;
  if (index->kind == TVMS_NODE_FLOOR_DIV) whole = tvms_as_binary(index)->a;
  bool divides = whole != index && tvms_sinfo_dim_int(tvms_as_binary(index)->b, &by);
  for (uint32_t i = 0; i < map->initial_indices.len; i++) {
    if (map->initial_indices.items[i] != whole) continue;
    if (whole == index) return dims.items[i];
    if (divides && by > 0) extent = quotient(in, dims.items[i], by);
  }
  if (!extent) {
    tvms_node *most = largest(in, map, dims, index);
    extent = most ? tvms_dim_binary_int(in->prover, TVMS_NODE_ADD, most, 1) : NULL;
  }
  return extent ? tvms_dim_simplify(in->prover, extent) : NULL;
}

tvms_node *tvms_infer_layout_transform(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  const tvms_node *attr = tvms_attr(in->call, TVMS_ATTR_layout_transform_index_map);
  if (!attr || attr->kind != TVMS_NODE_INDEX_MAP) {
    return tvms_in_expects(in, TVMS_THE_CALL, "an index map");
  }
  const tvms_index_map *map = tvms_as_index_map(attr);
  if (x.ndim != TVMS_UNKNOWN_NDIM && x.ndim != map->initial_indices.len) {
    return tvms_in_wrong_ndim(in, 0, map->initial_indices.len, x.ndim);
  }
  uint32_t count = map->final_indices.len;
  tvms_list from;
  if (!tvms_in_tensor_values(&x, &from)) {
    return tvms_in_result_ndim(in, count, x.dtype, x.vdevice);
  }
  tvms_dims dims = tvms_dims_new(in, count);
  bool at_zero = true;
  if (!tvms_dim_map_shape(in->prover, &map->head, from, dims.items, &at_zero)) {
    for (uint32_t i = 0; i < count; i++) {
      dims.items[i] = extent_of(in, map, from, map->final_indices.items[i]);
      if (!dims.items[i]) return tvms_in_result_ndim(in, count, x.dtype, x.vdevice);
    }
  }
  if (!at_zero) {
    return tvms_in_expects(in, TVMS_THE_CALL, "an index map whose places begin at 0");
  }
  return tvms_in_result(in, dims, x.dtype, x.vdevice);
}
