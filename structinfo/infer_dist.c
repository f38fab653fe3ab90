// Rules for distributed tensors: what an operator gives is sharded along the axes that come
// from sharded axes of its operands.
//
// The local rule of the operator gives shape and elements. Which axis of the result an axis
// of an operand becomes is one function per kind of operator, after TVM's graphs of axes
// (src/relax/distributed/axis_group_graph.cc).
#include "structinfo/infer_dist.h"

#include "structinfo/infer_common.h"
#include "structinfo/make.h"
#include "structinfo/placement.h"
#include "structinfo/relate.h"

#include <string.h>

enum { MOST_AXES = 32, NOWHERE = -1 };

// An operand: its local type and, for each axis, the dimension of the mesh that shards it.
typedef struct {
  const tvms_sinfo_dtensor *type;
  tvms_tensor_argument local;
  int64_t mesh_dim[MOST_AXES];
  int64_t becomes[MOST_AXES];  // axis of the result, or NOWHERE
} operand;

typedef struct {
  tvms_inference *in;
  operand operands[2];
  uint32_t count;
  tvms_node *result;  // its local type
  int64_t ndim;       // of the result
} work;

typedef bool axes_fn(work *w);

// ---- Which axis becomes which ----

// Axes of two operands that are broadcast, aligned at their ends: `first` of each are.
static void map_broadcast(work *w, int64_t a_count, int64_t b_count) {
  int64_t most = a_count > b_count ? a_count : b_count;
  int64_t counts[] = {a_count, b_count};
  for (uint32_t k = 0; k < 2; k++) {
    operand *own = &w->operands[k], *other = &w->operands[1 - k];
    for (int64_t i = 0; i < counts[k]; i++) {
      int64_t to = i + most - counts[k], beside = to - (most - counts[1 - k]);
      bool stretched = beside >= 0 && tvms_node_is_int(own->local.dims.items[i], 1)
                       && !tvms_dim_equal(w->in->prover, own->local.dims.items[i],
                                          other->local.dims.items[beside]);
      own->becomes[i] = stretched ? NOWHERE : to;
    }
  }
}

static bool map_binary(work *w) {
  map_broadcast(w, w->operands[0].local.ndim, w->operands[1].local.ndim);
  return true;
}

// Dimensions in front that both have are broadcast; TVM follows no others of them. Of the
// last two, those that are not summed stay.
static bool map_matmul(work *w) {
  operand *a = &w->operands[0], *b = &w->operands[1];
  int64_t m = a->local.ndim > 2 ? a->local.ndim - 2 : 0;
  int64_t n = b->local.ndim > 2 ? b->local.ndim - 2 : 0;
  int64_t most = m > n ? m : n;
  map_broadcast(w, m, n);
  for (int64_t i = 0; i < most - (m < n ? m : n); i++) {
    (m > n ? a : b)->becomes[i] = NOWHERE;
  }
  bool row = a->local.ndim > 1;
  if (row) a->becomes[a->local.ndim - 2] = most;
  if (b->local.ndim > 1) b->becomes[b->local.ndim - 1] = most + row;
  return true;
}

static bool map_kept(work *w, const int64_t *axes, uint32_t count, bool keep) {
  operand *x = &w->operands[0];
  int64_t to = 0;
  for (int64_t i = 0; i < x->local.ndim; i++) {
    bool reduced = false;
    for (uint32_t k = 0; k < count; k++) {
      reduced = reduced || axes[k] == i;
    }
    if (!reduced) x->becomes[i] = to;
    to += keep || !reduced;
  }
  return true;
}

static bool map_reduction(work *w) {
  tvms_list list = tvms_attr_list(w->in->call, TVMS_ATTR_reduction_axis);
  int64_t *axes = tvms_in_ints(w->in, list.len);
  if (!tvms_in_axes(w->in, w->operands[0].local.ndim, list, axes)) return false;
  return map_kept(w, axes, list.len,
                  tvms_attr_bool(w->in->call, TVMS_ATTR_reduction_keepdims));
}

static bool map_softmax(work *w) {
  int64_t axis = tvms_attr_int(w->in->call, TVMS_ATTR_axis_axis, -1);
  return tvms_in_axis(w->in, w->operands[0].local.ndim, axis, &axis)
         && map_kept(w, &axis, 1, true);
}

static bool map_permuted(work *w) {
  operand *x = &w->operands[0];
  tvms_list list = tvms_attr_list(w->in->call, TVMS_ATTR_opt_axes_axes);
  int64_t *axes = tvms_in_ints(w->in, (uint32_t)x->local.ndim);
  bool given = tvms_attr(w->in->call, TVMS_ATTR_opt_axes_axes) != NULL;
  if (given && !tvms_in_axes(w->in, x->local.ndim, list, axes)) return false;
  for (int64_t i = 0; i < x->local.ndim; i++) {
    x->becomes[given ? axes[i] : x->local.ndim - 1 - i] = i;
  }
  return true;
}

// From the end on, axes at which the products of both shapes agree are the same.
static bool map_reshaped(work *w) {
  operand *x = &w->operands[0];
  tvms_tensor_argument result = tvms_in_tensor_of(w->result);
  tvms_list from = x->local.dims, to;
  if (!tvms_in_tensor_values(&result, &to)) return true;
  tvms_prover *prover = w->in->prover;
  uint32_t i = from.len, k = to.len;
  tvms_node *a = tvms_sinfo_dim_new(w->in->unit, 1), *b = a;
  while (i > 0 && k > 0) {
    bool old = tvms_dim_less(prover, a, b), new = tvms_dim_less(prover, b, a);
    if (!old && !new &&i < from.len) x->becomes[i] = k;
    if (!new) a = tvms_dim_binary(prover, TVMS_NODE_MUL, a, from.items[--i]);
    if (!old) b = tvms_dim_binary(prover, TVMS_NODE_MUL, b, to.items[--k]);
    if (!a || !b) return false;
  }
  return true;
}

// ---- Placements ----

static tvms_node *placed(work *w, tvms_node *local, const tvms_placement *placement) {
  tvms_sinfo_dtensor *type = tvms_node_make(w->in->unit, SINFO_DTENSOR, TVMS_NO_SPAN);
  type->tensor = local;
  type->mesh = w->operands[0].type->mesh;
  type->placement = tvms_placement_text(w->in->unit, placement);
  return &type->head;
}

static tvms_placement replicated(const work *w) {
  tvms_placement placement = {
      .count = tvms_as_object_mesh(w->operands[0].type->mesh)->shape.len};
  for (uint32_t i = 0; i < TVMS_MOST_MESH; i++) {
    placement.axes[i] = TVMS_REPLICATED;
  }
  return placement;
}

// The result, sharded as the axes that the operands give it.
static tvms_node *TVMS_NULLABLE sharded(work *w) {
  int64_t dim_of_axis[MOST_AXES];
  tvms_placement placement = replicated(w);
  memset(dim_of_axis, -1, sizeof dim_of_axis);
  for (uint32_t k = 0; k < w->count; k++) {
    const operand *x = &w->operands[k];
    for (int64_t i = 0; i < x->local.ndim; i++) {
      int64_t to = x->becomes[i], dim = x->mesh_dim[i];
      if (to == NOWHERE || to >= w->ndim || dim == NOWHERE) continue;
      if (dim_of_axis[to] != NOWHERE && dim_of_axis[to] != dim) {
        return tvms_in_expects(w->in, TVMS_THE_CALL,
                               "operands that agree on their sharding");
      }
      dim_of_axis[to] = dim;
    }
  }
  for (int64_t i = 0; i < w->ndim; i++) {
    if (dim_of_axis[i] != NOWHERE) placement.axes[dim_of_axis[i]] = i;
  }
  return placed(w, w->result, &placement);
}

// ---- Operators ----

typedef enum {
  OWN,         // the operator's own rule knows distributed tensors
  SAME,        // the operand's type
  ALIKE,       // other elements, placed alike
  REPLICATED,  // every device has all of it
  SPLIT,
  MAPPED,  // as the axes of the operands are
} dist_kind;

// Operators that TVM has rules for.
static const struct {
  tvms_opcode op;
  dist_kind kind;
  uint32_t tensors;
  axes_fn *axes;
} operators[] = {
#define UNARY(op)                                                                      \
  { TVMS_R_##op, ALIKE, 1, NULL }
#define BINARY(op)                                                                     \
  { TVMS_R_##op, MAPPED, 2, map_binary }
#define REDUCTION(op)                                                                  \
  { TVMS_R_##op, MAPPED, 1, map_reduction }
    UNARY(abs),
    UNARY(acos),
    UNARY(acosh),
    UNARY(asin),
    UNARY(asinh),
    UNARY(atan),
    UNARY(atanh),
    UNARY(bitwise_not),
    UNARY(ceil),
    UNARY(cos),
    UNARY(cosh),
    UNARY(exp),
    UNARY(floor),
    UNARY(log),
    UNARY(logical_not),
    UNARY(negative),
    UNARY(round),
    UNARY(rsqrt),
    UNARY(sigmoid),
    UNARY(sign),
    UNARY(sin),
    UNARY(sinh),
    UNARY(square),
    UNARY(sqrt),
    UNARY(tan),
    UNARY(tanh),
    UNARY(erf),
    UNARY(isfinite),
    UNARY(isinf),
    UNARY(isnan),
    UNARY(nn_relu),
    UNARY(nn_gelu),
    UNARY(nn_gelu_tanh),
    UNARY(nn_silu),
    BINARY(add),
    BINARY(divide),
    BINARY(floor_divide),
    BINARY(multiply),
    BINARY(power),
    BINARY(subtract),
    BINARY(mod),
    BINARY(floor_mod),
    BINARY(minimum),
    BINARY(maximum),
    BINARY(logical_and),
    BINARY(logical_or),
    BINARY(logical_xor),
    BINARY(bitwise_and),
    BINARY(bitwise_or),
    BINARY(bitwise_xor),
    BINARY(left_shift),
    BINARY(right_shift),
    BINARY(equal),
    BINARY(greater),
    BINARY(greater_equal),
    BINARY(less),
    BINARY(less_equal),
    BINARY(not_equal),
    REDUCTION(max),
    REDUCTION(mean),
    REDUCTION(min),
    REDUCTION(prod),
    REDUCTION(std),
    REDUCTION(sum),
    REDUCTION(variance),
    {TVMS_R_nn_softmax, MAPPED, 1, map_softmax},
    {TVMS_R_matmul, MAPPED, 2, map_matmul},
    {TVMS_R_permute_dims, MAPPED, 1, map_permuted},
    {TVMS_R_reshape, MAPPED, 1, map_reshaped},
    {TVMS_R_ccl_allreduce, REPLICATED, 1, NULL},
    {TVMS_R_dist_redistribute_replica_to_shard, SPLIT, 1, NULL},
    {TVMS_R_dist_annotate_sharding, OWN, 1, NULL},
    {TVMS_R_dist_redistribute, OWN, 1, NULL},
    {TVMS_R_call_tir, OWN, 0, NULL},
    {TVMS_R_builtin_stop_lift_params, SAME, 1, NULL},
};

static bool take_operands(work *w, uint32_t count, bool shapes) {
  w->count = count;
  for (uint32_t k = 0; k < count; k++) {
    operand *x = &w->operands[k];
    tvms_node *sinfo = k < w->in->call->args.len ? tvms_in_sinfo(w->in, k) : NULL;
    if (!sinfo || sinfo->kind != TVMS_NODE_SINFO_DTENSOR) {
      return tvms_in_expects(w->in, k, "a distributed tensor, as the others are");
    }
    x->type = tvms_as_sinfo_dtensor(sinfo);
    x->local = tvms_in_tensor_of(x->type->tensor);
    if (shapes && (!x->local.known || x->local.ndim > MOST_AXES)) {
      return tvms_in_expects(w->in, k,
                             "a distributed tensor whose shape is written out");
    }
    memset(x->mesh_dim, -1, sizeof x->mesh_dim);
    memset(x->becomes, -1, sizeof x->becomes);
    tvms_placement placement;
    if (!tvms_placement_parse(x->type->placement, &placement)) continue;
    for (uint32_t i = 0; i < placement.count; i++) {
      int64_t axis = placement.axes[i];
      if (axis != TVMS_REPLICATED && axis < MOST_AXES) x->mesh_dim[axis] = i;
    }
  }
  return true;
}

bool tvms_infer_is_distributed(const tvms_inference *in) {
  for (uint32_t i = 0; i < in->call->args.len; i++) {
    if (tvms_in_sinfo(in, i)->kind == TVMS_NODE_SINFO_DTENSOR) return true;
  }
  return false;
}

// What every device has is split, on a mesh of one dimension.
static tvms_node *TVMS_NULLABLE split(work *w) {
  const operand *x = &w->operands[0];
  if (!tvms_bytes_is(x->type->placement, "R")) {
    return tvms_in_expects(w->in, 0,
                           "a tensor that a mesh of one dimension replicates");
  }
  tvms_placement placement = {.count = 1};
  placement.axes[0] = tvms_attr_int(w->in->call, TVMS_ATTR_workers_axis, 0);
  return placed(w, x->type->tensor, &placement);
}

static tvms_node *alike(work *w) {
  const tvms_sinfo_dtensor *like = w->operands[0].type;
  tvms_sinfo_dtensor *type = tvms_node_make(w->in->unit, SINFO_DTENSOR, TVMS_NO_SPAN);
  type->tensor = w->result;
  type->mesh = like->mesh;
  type->placement = like->placement;
  return &type->head;
}

static tvms_node *TVMS_NULLABLE mapped(work *w, axes_fn *axes) {
  w->ndim = tvms_in_tensor_of(w->result).ndim;
  if (w->count > 1
      && !tvms_sinfo_same_place(w->in->unit, w->operands[0].type->mesh,
                                w->operands[1].type->mesh)) {
    return tvms_in_expects(w->in, 1, "operands on one mesh");
  }
  if (!axes(w)) return NULL;
  // Nothing is permuted: the type of the operand stays, whatever its placement says.
  bool stays = w->in->op == TVMS_R_permute_dims;
  for (int64_t i = 0; i < w->operands[0].local.ndim; i++) {
    stays = stays && w->operands[0].becomes[i] == i;
  }
  return stays ? alike(w) : sharded(w);
}

tvms_node *tvms_infer_distributed(tvms_inference *in, tvms_infer_fn *rule) {
  uint32_t row = 0, count = sizeof operators / sizeof operators[0];
  while (row < count && operators[row].op != in->op) {
    row++;
  }
  if (row == count) {
    return tvms_in_expects(in, TVMS_THE_CALL, "tensors that are not distributed");
  }
  work w = {.in = in};
  dist_kind kind = operators[row].kind;
  if (kind == OWN) return rule(in);
  if (kind == SAME) return tvms_in_count(in, 1, 1) ? tvms_in_sinfo(in, 0) : NULL;
  if (!take_operands(&w, operators[row].tensors, kind == MAPPED)) return NULL;
  w.result = rule(in);
  if (!w.result) return NULL;
  if (kind == ALIKE) return alike(&w);
  tvms_placement everywhere = replicated(&w);
  if (kind == REPLICATED) return placed(&w, w.result, &everywhere);
  return kind == SPLIT ? split(&w) : mapped(&w, operators[row].axes);
}
