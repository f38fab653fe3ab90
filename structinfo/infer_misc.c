// Rules of collectives and distribution.
#include "structinfo/infer_common.h"

// Dimension `axis` times or divided by the number of workers.
static tvms_node *TVMS_NULLABLE per_worker(tvms_inference *in, int64_t axis,
                                           int64_t workers, bool gathers) {
  tvms_tensor x;
  tvms_list values;
  if (!tvms_in_count(in, 1, 1) || !tvms_in_tensor(in, 0, &x)) return NULL;
  if (!tvms_tensor_values(&x, &values)) {
    return gathers ? x.sinfo : tvms_in_expects(in, 0, "a tensor of known shape");
  }
  if (workers < 1) return tvms_in_expects(in, TVMS_THE_CALL, "a positive num_workers");
  if (!tvms_in_axis(in, x.ndim, axis, &axis)) return NULL;
  tvms_dims dims = tvms_dims_copy(in, values);
  int64_t length;
  if (!gathers && tvms_dim_int(dims.items[axis], &length) && length % workers != 0) {
    return tvms_in_expects(in, 0, "a dimension that num_workers divides");
  }
  tvms_node_kind kind = gathers ? TVMS_NODE_MUL : TVMS_NODE_DIV;
  dims.items[axis] = tvms_dim_op_int(in->prover, kind, dims.items[axis], workers);
  return dims.items[axis] ? tvms_result(in, dims, x.dtype, x.vdevice) : NULL;
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
