// Matching attention backwards, from its result to q, k, v and what is done with the scores.
#include "passes/relax/fuse/attention_match.h"

#include "ir/op.h"
#include "passes/relax/fuse/safe_softmax.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

#include <math.h>
#include <string.h>

typedef tvms_attention_matcher matcher;

enum { MOST_DEPTH = 4 * TVMS_MOST_ATTENTION_STEPS };

// The call that a variable is bound to, by whatever name, or NULL.
static const tvms_call *TVMS_NULLABLE call_of(const matcher *m, const tvms_node *node) {
  const tvms_node *value =
      tvms_relax_definitions_unwrap(m->definitions, (tvms_node *)(uintptr_t)node);
  return value->kind == TVMS_NODE_CALL ? tvms_as_call(value) : NULL;
}

// The same if the value is used in so many places of its block.
static const tvms_call *TVMS_NULLABLE call_used(const matcher *m, const tvms_node *node,
                                                uint32_t uses) {
  while (node->kind == TVMS_NODE_VAR) {
    tvms_relax_definition definition = tvms_relax_definitions_of(m->definitions, node);
    const tvms_node *value = tvms_relax_definitions_value(m->definitions, node);
    if (!value || definition.uses != uses || definition.elsewhere) return NULL;
    node = value;
  }
  return node->kind == TVMS_NODE_CALL ? tvms_as_call(node) : NULL;
}

// The same if only the value that was come from uses it.
static const tvms_call *TVMS_NULLABLE inner_call(const matcher *m,
                                                 const tvms_node *node) {
  return call_used(m, node, 1);
}

static tvms_opcode op_of(const tvms_call *TVMS_NULLABLE call) {
  return call ? tvms_op_called(&call->head) : TVMS_R_NONE;
}

static bool dims_of(const tvms_node *node, tvms_list *dims) {
  return node->sinfo && tvms_sinfo_is_tensor(node->sinfo)
         && tvms_sinfo_dims(node->sinfo, dims) && dims->len <= TVMS_MOST_ATTENTION_AXES;
}

// ---- Operators that move elements ----

static bool read_permute(const tvms_call *call, uint32_t rank,
                         tvms_attention_move *move) {
  *move = (tvms_attention_move){.kind = TVMS_MOVE_PERMUTE, .rank = rank};
  bool listed = tvms_attr(call, TVMS_ATTR_opt_axes_axes) != NULL;
  tvms_list axes = tvms_attr_list(call, TVMS_ATTR_opt_axes_axes);
  if (listed && axes.len != rank) return false;
  for (uint32_t i = 0; i < rank; i++) {
    int64_t axis = listed ? tvms_attr_item_int(axes.items[i]) : (int64_t)rank - 1 - i;
    move->axes[i] = axis < 0 ? axis + rank : axis;
    if (move->axes[i] < 0 || move->axes[i] >= rank) return false;
  }
  return true;
}

static bool read_repeat(const tvms_call *call, uint32_t rank,
                        tvms_attention_move *move) {
  *move = (tvms_attention_move){.kind = TVMS_MOVE_REPEAT, .rank = rank};
  if (!tvms_attr(call, TVMS_ATTR_repeat_axis)) return false;
  int64_t axis = tvms_attr_int(call, TVMS_ATTR_repeat_axis, 0);
  move->axis = (uint32_t)(axis < 0 ? axis + rank : axis);
  move->times = tvms_attr_int(call, TVMS_ATTR_repeat_repeats, 0);
  return move->axis < rank && move->times > 0;
}

static bool read_expand(const tvms_call *call, uint32_t rank,
                        tvms_attention_move *move) {
  *move = (tvms_attention_move){.kind = TVMS_MOVE_EXPAND, .rank = rank};
  tvms_list axes = tvms_attr_list(call, TVMS_ATTR_axis_list_axis);
  uint32_t after = rank + axes.len;
  if (after > TVMS_MOST_ATTENTION_AXES) return false;
  for (uint32_t i = 0; i < axes.len; i++) {
    int64_t axis = tvms_attr_item_int(axes.items[i]);
    if (axis < 0) axis += after;
    if (axis < 0 || axis >= after || move->axes[axis]) return false;
    move->axes[axis] = 1;
  }
  return true;
}

static void read_broadcast(tvms_list from, tvms_attention_move *move) {
  *move = (tvms_attention_move){.kind = TVMS_MOVE_BROADCAST, .rank = from.len};
  for (uint32_t i = 0; i < from.len; i++)
    move->axes[i] = tvms_node_is_int(from.items[i], 1);
}

// A reshape that makes one axis of two, neither of them the last one.
static bool read_join(const matcher *m, tvms_list from, tvms_list to,
                      tvms_attention_move *move) {
  *move = (tvms_attention_move){.kind = TVMS_MOVE_JOIN, .rank = from.len};
  if (from.len != to.len + 1) return false;
  uint32_t axis = 0;
  while (axis < to.len && tvms_dim_equal(m->prover, from.items[axis], to.items[axis]))
    axis++;
  if (axis + 2 >= from.len || !tvms_sinfo_dim_int(from.items[axis + 1], &move->times)
      || move->times <= 0)
    return false;
  tvms_node *both =
      tvms_dim_binary(m->prover, TVMS_NODE_MUL, from.items[axis], from.items[axis + 1]);
  if (!both || !tvms_dim_equal(m->prover, both, to.items[axis])) return false;
  for (uint32_t i = axis + 1; i < to.len; i++) {
    if (!tvms_dim_equal(m->prover, from.items[i + 1], to.items[i])) return false;
  }
  move->axis = axis;
  return true;
}

// Is the cast of a call from a float to a wider one?
static bool widens(const tvms_call *call) {
  tvms_dtype from = call->args.items[0]->sinfo->dtype, to = call->head.sinfo->dtype;
  return tvms_dtype_is_real(from) && tvms_dtype_is_real(to) && from.bits <= to.bits
         && to.bits <= 32;
}

// One operator in front of an operand; false: it is computed as it stands.
static bool read_move(const matcher *m, const tvms_call *call,
                      tvms_attention_operand *operand) {
  tvms_list from, to;
  if (call->args.len == 0 || !dims_of(call->args.items[0], &from) || !call->head.sinfo
      || !dims_of(&call->head, &to))
    return false;
  if (op_of(call) == TVMS_R_astype) return widens(call);
  if (operand->move_count == TVMS_MOST_ATTENTION_MOVES) return false;
  tvms_attention_move *move = &operand->moves[operand->move_count];
  bool fits = false;
  switch ((int)op_of(call)) {
  case TVMS_R_permute_dims: fits = read_permute(call, from.len, move); break;
  case TVMS_R_repeat: fits = read_repeat(call, from.len, move); break;
  case TVMS_R_expand_dims: fits = read_expand(call, from.len, move); break;
  case TVMS_R_broadcast_to:
    read_broadcast(from, move);
    fits = true;
    break;
  case TVMS_R_reshape:
    // Others are free, and better for whoever reads them.
    fits = op_of(call_of(m, call->args.items[0])) == TVMS_R_broadcast_to
           && read_join(m, from, to, move);
    break;
  default: break;
  }
  operand->move_count += fits;
  return fits;
}

static bool read_operand(const matcher *m, const tvms_node *node,
                         tvms_attention_operand *operand) {
  *operand = (tvms_attention_operand){0};
  if (!dims_of(node, &operand->dims)) return false;
  for (const tvms_call *call = call_of(m, node); call && read_move(m, call, operand);
       call = call_of(m, node))
    node = call->args.items[0];
  operand->value = node;
  return true;
}

// ---- Sizes ----

// Can an operand be read at indices of these sizes? What has one step may stand for any number.
static bool reaches(const matcher *m, const tvms_attention_operand *operand,
                    tvms_node *const *dims, uint32_t rank) {
  if (operand->dims.len > rank) return false;
  for (uint32_t i = 0; i < operand->dims.len; i++) {
    tvms_node *own = operand->dims.items[i], *dim = dims[rank - operand->dims.len + i];
    if (!tvms_node_is_int(own, 1) && !tvms_dim_equal(m->prover, own, dim)) return false;
  }
  return true;
}

// The same for a matrix, whose own axes are no broadcast ones.
static bool reaches_matrix(const matcher *m, const tvms_attention *a,
                           const tvms_attention_operand *operand, tvms_node *rows,
                           tvms_node *columns) {
  tvms_node *dims[TVMS_MOST_ATTENTION_AXES];
  memcpy(dims, a->dims, (a->rank - 2) * sizeof *dims);
  dims[a->rank - 2] = rows;
  dims[a->rank - 1] = columns;
  uint32_t rank = operand->dims.len;
  return rank >= 2 && reaches(m, operand, dims, a->rank)
         && tvms_dim_equal(m->prover, operand->dims.items[rank - 2], rows)
         && tvms_dim_equal(m->prover, operand->dims.items[rank - 1], columns);
}

static bool is_number(const tvms_node *TVMS_NULLABLE dim) {
  int64_t value;
  return dim && tvms_sinfo_dim_int(dim, &value) && value > 0;
}

static bool is_float(const tvms_attention *a, const tvms_node *value) {
  tvms_dtype dtype = value->sinfo->dtype;
  bool known =
      dtype.lanes == 1 && (dtype.code == TVMS_FLOAT || dtype.code == TVMS_BFLOAT);
  return known && (dtype.bits == 16 || dtype.bits == 32 || dtype.bits == 64)
         && (dtype.bits == 64) == (a->dtype.bits == 64);
}

static bool is_bool(const tvms_node *value) {
  return tvms_dtype_is_bool(value->sinfo->dtype);
}

static const char *TVMS_NULLABLE check_steps(const matcher *m,
                                             const tvms_attention *a) {
  for (uint32_t i = 0; i < a->step_count; i++) {
    const tvms_attention_step *step = &a->steps[i];
    bool where = step->op == TVMS_R_where;
    for (uint32_t n = 0; n <= where; n++) {
      const tvms_attention_operand *other = &step->others[n];
      if (!reaches(m, other, a->dims, a->rank))
        return "what is done with its scores does not go element by element";
      if (where && n == 0 ? !is_bool(other->value) : !is_float(a, other->value))
        return "its data types are not floats of one kind";
    }
  }
  return NULL;
}

static const char *TVMS_NULLABLE check(const matcher *m, const tvms_attention *a) {
  tvms_node *queries = a->dims[a->rank - 2], *keys = a->dims[a->rank - 1];
  if (!is_number(a->depth) || !is_number(a->width))
    return "the size of its heads is not known";
  if (!reaches_matrix(m, a, &a->q, queries, a->depth)
      || !reaches_matrix(m, a, &a->k, a->depth, keys)
      || !reaches_matrix(m, a, &a->v, keys, a->width))
    return "its sizes are not known to fit";
  if (!is_float(a, a->q.value) || !is_float(a, a->k.value) || !is_float(a, a->v.value))
    return "its data types are not floats of one kind";
  return check_steps(m, a);
}

// ---- R.nn.attention ----

static void permute_operand(tvms_unit *unit, const int64_t axes[4],
                            tvms_attention_operand *operand) {
  tvms_list old = operand->dims;
  operand->dims = tvms_list_copy(unit, old.items, old.len);
  for (uint32_t i = 0; i < 4; i++)
    operand->dims.items[i] = old.items[axes[i]];
  memmove(operand->moves + 1, operand->moves,
          operand->move_count * sizeof *operand->moves);
  operand->move_count++;
  operand->moves[0] = (tvms_attention_move){.kind = TVMS_MOVE_PERMUTE, .rank = 4};
  memcpy(operand->moves[0].axes, axes, 4 * sizeof *axes);
}

static bool match_operator(const matcher *m, const tvms_call *call, tvms_attention *a,
                           const char **why) {
  static const int64_t swapped[] = {0, 2, 1, 3}, keys[] = {0, 2, 3, 1};
  *why = "its sizes are not known";
  if (!read_operand(m, call->args.items[0], &a->q)
      || !read_operand(m, call->args.items[1], &a->k)
      || !read_operand(m, call->args.items[2], &a->v) || a->q.dims.len != 4
      || a->k.dims.len != 4 || a->v.dims.len != 4)
    return false;
  *why = "operators in front of it are too many";
  if (a->q.move_count >= TVMS_MOST_ATTENTION_MOVES
      || a->k.move_count >= TVMS_MOST_ATTENTION_MOVES
      || a->v.move_count >= TVMS_MOST_ATTENTION_MOVES)
    return false;
  *why = "it has a sliding window";
  if (tvms_attr(call, TVMS_ATTR_attention_window_size)) return false;
  permute_operand(m->unit, swapped, &a->q);
  permute_operand(m->unit, keys, &a->k);
  permute_operand(m->unit, swapped, &a->v);
  a->rank = 4;
  memcpy(a->dims, a->q.dims.items, 3 * sizeof *a->dims);
  a->dims[3] = a->k.dims.items[3];
  a->depth = a->q.dims.items[3];
  a->width = a->v.dims.items[3];
  memcpy(a->order, swapped, sizeof swapped);
  tvms_bytes mask = tvms_attr_text(call, TVMS_ATTR_attention_causal_mask);
  *why = "its mask is not known";
  if (tvms_bytes_is(mask, "TopLeft")) {
    a->causal = "TopLeft";
  } else if (tvms_bytes_is(mask, "BottomRight")) {
    a->causal = "BottomRight";
  } else if (mask.len) {
    return false;
  }
  int64_t depth;
  bool known = tvms_sinfo_dim_int(a->depth, &depth) && depth > 0;
  a->scale = tvms_attr_float(call, TVMS_ATTR_attention_scale,
                             known ? 1 / sqrt((double)depth) : 1);
  if (call->args.len > 3) {
    a->steps[a->step_count++].op = TVMS_R_add;
    *why = "its sizes are not known";
    if (!read_operand(m, call->args.items[3], &a->steps[0].others[0])) return false;
  }
  *why = check(m, a);
  return !*why;
}

// ---- Written out ----

static bool is_step(tvms_opcode op) {
  switch ((int)op) {
  case TVMS_R_add:
  case TVMS_R_subtract:
  case TVMS_R_multiply:
  case TVMS_R_divide:
  case TVMS_R_maximum:
  case TVMS_R_minimum:
  case TVMS_R_where: return true;
  default: return false;
  }
}

// The product that the scores come from, with the steps between in `steps`, the last one first; NULL: there is none
// that nothing else uses.
typedef struct {
  const matcher *m;
  tvms_attention_empty empty;
  struct {
    const tvms_call *call;
    uint32_t place;
  } steps[TVMS_MOST_ATTENTION_STEPS];
  uint32_t count;
} score_path;

static const tvms_call *TVMS_NULLABLE find_product(score_path *path,
                                                   const tvms_node *node,
                                                   uint32_t depth) {
  // What makes a softmax safe may look at the scores, too.
  uint32_t uses = depth == 0 && path->empty == TVMS_EMPTY_ZERO ? 2 : 1;
  const tvms_call *call = call_used(path->m, node, uses);
  tvms_opcode op = op_of(call);
  if (op == TVMS_R_matmul) return call;
  if (!call || depth == MOST_DEPTH) return NULL;
  if (op == TVMS_R_astype)
    return tvms_dtype_is_real(call->head.sinfo->dtype)
               ? find_product(path, call->args.items[0], depth + 1)
               : NULL;
  if (!is_step(op) || path->count == TVMS_MOST_ATTENTION_STEPS) return NULL;
  uint32_t count = path->count++;
  for (uint32_t i = op == TVMS_R_where ? 1 : 0; i < call->args.len; i++) {
    path->steps[count].call = call;
    path->steps[count].place = i;
    const tvms_call *product = find_product(path, call->args.items[i], depth + 1);
    if (product) return product;
    path->count = count + 1;
  }
  return NULL;
}

static bool read_steps(const score_path *path, tvms_attention *a) {
  for (uint32_t i = path->count; i-- > 0;) {
    const tvms_call *call = path->steps[i].call;
    tvms_attention_step *step = &a->steps[a->step_count++];
    *step = (tvms_attention_step){.op = op_of(call), .place = path->steps[i].place};
    uint32_t n = 0;
    for (uint32_t k = 0; k < call->args.len; k++) {
      if (k != step->place
          && !read_operand(path->m, call->args.items[k], &step->others[n++]))
        return false;
    }
  }
  return true;
}

// The softmax of what is weighed with, behind a cast, and what its rows give.
static const tvms_call *TVMS_NULLABLE find_softmax(const matcher *m,
                                                   const tvms_node *node,
                                                   tvms_attention_empty *empty) {
  const tvms_call *call = inner_call(m, node);
  if (op_of(call) == TVMS_R_astype && tvms_dtype_is_real(call->head.sinfo->dtype))
    call = inner_call(m, call->args.items[0]);
  return call ? tvms_relax_safe_softmax(m->definitions, &call->head, empty) : NULL;
}

static bool match_written_out(const matcher *m, const tvms_call *call,
                              tvms_attention *a, const char **why) {
  const tvms_node *powers = call->args.items[0];
  const tvms_call *softmax = find_softmax(m, powers, &a->empty);
  if (!softmax) return false;
  score_path path = {.m = m, .empty = a->empty};
  const tvms_call *product = find_product(&path, softmax->args.items[0], 0);
  if (!product) return false;
  tvms_list scores, result;
  *why = "its sizes are not known";
  if (!dims_of(softmax->args.items[0], &scores) || !dims_of(&call->head, &result)
      || !read_operand(m, product->args.items[0], &a->q)
      || !read_operand(m, product->args.items[1], &a->k)
      || !read_operand(m, call->args.items[1], &a->v) || !read_steps(&path, a))
    return false;
  int64_t axis = tvms_attr_int(softmax, TVMS_ATTR_axis_axis, -1);
  *why = "its softmax does not go along the keys";
  if (axis != -1 && axis != (int64_t)scores.len - 1) return false;
  *why = "it has no axes for queries and keys";
  if (scores.len < 2 || a->q.dims.len < 2 || a->v.dims.len < 2) return false;
  *why = "its values have more axes than its scores";
  if (result.len != scores.len) return false;
  a->rank = scores.len;
  memcpy(a->dims, scores.items, scores.len * sizeof *a->dims);
  a->depth = a->q.dims.items[a->q.dims.len - 1];
  a->width = a->v.dims.items[a->v.dims.len - 1];
  for (uint32_t i = 0; i < a->rank; i++)
    a->order[i] = i;
  for (uint32_t i = 0; i + 2 < a->rank; i++) {
    if (!tvms_dim_equal(m->prover, scores.items[i], result.items[i])) return false;
  }
  *why = check(m, a);
  return !*why;
}

static bool match_product(const matcher *m, const tvms_call *call, tvms_attention *a,
                          const char **why) {
  *a = (tvms_attention){.scale = 1, .dtype = call->head.sinfo->dtype};
  switch ((int)op_of(call)) {
  case TVMS_R_nn_attention:
  case TVMS_R_nn_attention_bias: return match_operator(m, call, a, why);
  case TVMS_R_matmul: return match_written_out(m, call, a, why);
  default: return false;
  }
}

bool tvms_relax_attention_match(const tvms_attention_matcher *m, const tvms_node *value,
                                tvms_attention *found, const char **why) {
  *why = NULL;
  if (value->kind != TVMS_NODE_CALL || !value->sinfo) return false;
  const tvms_call *call = tvms_as_call(value);
  if (op_of(call) != TVMS_R_permute_dims) return match_product(m, call, found, why);
  const tvms_call *inner = inner_call(m, call->args.items[0]);
  tvms_attention_move move;
  if (!inner || !match_product(m, inner, found, why)
      || !read_permute(call, found->rank, &move)) {
    *why = NULL;
    return false;
  }
  int64_t order[TVMS_MOST_ATTENTION_AXES];
  memcpy(order, found->order, sizeof order);
  for (uint32_t i = 0; i < found->rank; i++)
    found->order[i] = order[move.axes[i]];
  return true;
}
