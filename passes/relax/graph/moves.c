// Following elements through operators that move them.
//
// Each axis of a value is a row of pieces, the outer one first; a piece is some steps through the origin, all of one
// stride. An operator makes pieces of the result of those of its operand. The elements are in order if the pieces of all axes, one
// after the other, are those of the origin's memory.
#include "passes/relax/graph/moves.h"

#include "structinfo/make.h"
#include "structinfo/sinfo.h"

#include <string.h>

enum { MOST_MOVES = 12, MOST_PIECES = 24 };

typedef struct {
  int64_t size, stride;
} piece;

// All pieces in a row; axis i has counts[i] of them.
typedef struct {
  piece pieces[MOST_PIECES];
  uint32_t counts[TVMS_MOST_MOVED_AXES];
  uint32_t axes, count;
} layout;

bool tvms_relax_moves_shape(const tvms_node *value, tvms_moved_shape *shape) {
  tvms_list dims;
  if (!value->sinfo || !tvms_sinfo_is_tensor(value->sinfo)
      || !tvms_sinfo_dims(value->sinfo, &dims) || dims.len > TVMS_MOST_MOVED_AXES)
    return false;
  shape->count = dims.len;
  for (uint32_t i = 0; i < dims.len; i++) {
    if (!tvms_sinfo_dim_int(dims.items[i], &shape->sizes[i]) || shape->sizes[i] < 1)
      return false;
  }
  return true;
}

bool tvms_relax_moves_is_unary(tvms_opcode op) {
  switch ((int)op) {
  case TVMS_R_nn_relu:
  case TVMS_R_nn_leakyrelu:
  case TVMS_R_nn_gelu:
  case TVMS_R_nn_gelu_tanh:
  case TVMS_R_nn_silu:
  case TVMS_R_sigmoid:
  case TVMS_R_tanh:
  case TVMS_R_sqrt:
  case TVMS_R_rsqrt:
  case TVMS_R_square:
  case TVMS_R_exp:
  case TVMS_R_negative: return true;
  default: return false;
  }
}

bool tvms_relax_moves_axes(const tvms_node *value, int64_t *axes) {
  tvms_moved_shape shape;
  if (tvms_op_called(value) != TVMS_R_permute_dims
      || !tvms_relax_moves_shape(value, &shape))
    return false;
  const tvms_call *call = tvms_as_call(value);
  bool listed = tvms_attr(call, TVMS_ATTR_opt_axes_axes) != NULL;
  tvms_list given = tvms_attr_list(call, TVMS_ATTR_opt_axes_axes);
  if (listed && given.len != shape.count) return false;
  for (uint32_t i = 0; i < shape.count; i++) {
    int64_t axis = listed ? tvms_attr_item_int(given.items[i]) : shape.count - 1 - i;
    axes[i] = axis < 0 ? axis + shape.count : axis;
    if (axes[i] < 0 || axes[i] >= shape.count) return false;
  }
  return true;
}

static bool is_reshape(const tvms_node *value) {
  switch ((int)tvms_op_called(value)) {
  case TVMS_R_reshape:
  case TVMS_R_expand_dims:
  case TVMS_R_squeeze:
  case TVMS_R_flatten: return true;
  default: return false;
  }
}

// ---- Pieces ----

static layout in_memory(const tvms_moved_shape *shape) {
  layout made = {.axes = shape->count, .count = shape->count};
  int64_t stride = 1;
  for (uint32_t i = shape->count; i-- > 0; stride *= shape->sizes[i]) {
    made.pieces[i] = (piece){shape->sizes[i], stride};
    made.counts[i] = 1;
  }
  return made;
}

static layout permuted(const layout *old, const int64_t *axes) {
  layout made = {.axes = old->axes, .count = old->count};
  uint32_t to = 0;
  for (uint32_t i = 0; i < old->axes; i++) {
    uint32_t from = 0;
    for (int64_t k = 0; k < axes[i]; k++)
      from += old->counts[k];
    made.counts[i] = old->counts[axes[i]];
    memcpy(made.pieces + to, old->pieces + from, made.counts[i] * sizeof(piece));
    to += made.counts[i];
  }
  return made;
}

// Takes pieces for one axis of `size` steps from the row *left, whose first one may be cut in two; false: none fit.
static bool take(layout *made, uint32_t axis, int64_t size, const piece *row,
                 uint32_t *at, uint32_t count, piece *first) {
  while (size > 1) {
    if (first->size == 1) {
      if (++*at >= count) return false;
      *first = row[*at];
      continue;
    }
    bool whole = size % first->size == 0;
    if ((!whole && first->size % size) || made->count == MOST_PIECES) return false;
    int64_t steps = whole ? first->size : size;
    int64_t rest = first->size / steps;
    made->pieces[made->count++] = (piece){steps, first->stride * rest};
    made->counts[axis]++;
    first->size = rest;
    size /= steps;
  }
  return true;
}

static bool reshaped(const layout *old, const tvms_moved_shape *shape, layout *made) {
  *made = (layout){.axes = shape->count};
  uint32_t at = 0;
  piece first = old->count ? old->pieces[0] : (piece){1, 1};
  for (uint32_t i = 0; i < shape->count; i++) {
    if (!take(made, i, shape->sizes[i], old->pieces, &at, old->count, &first))
      return false;
  }
  return true;
}

static bool is_in_order(const layout *l) {
  int64_t stride = 1;
  for (uint32_t i = l->count; i-- > 0;) {
    if (l->pieces[i].size == 1) continue;
    if (l->pieces[i].stride != stride) return false;
    stride *= l->pieces[i].size;
  }
  return true;
}

// ---- Chains ----

// The pieces of an operator's result.
static bool step(const tvms_node *value, const layout *old, layout *made) {
  int64_t axes[TVMS_MOST_MOVED_AXES];
  tvms_moved_shape shape;
  if (tvms_relax_moves_axes(value, axes)) {
    *made = permuted(old, axes);
    return true;
  }
  return is_reshape(value) && tvms_relax_moves_shape(value, &shape)
         && reshaped(old, &shape, made);
}

// Are the elements of `origin` in order behind these operators, the last one first, and a permutation?
static bool keeps_order(const tvms_node *origin, const tvms_node *const *moves,
                        uint32_t count, const int64_t *axes) {
  tvms_moved_shape shape;
  if (!tvms_relax_moves_shape(origin, &shape)) return false;
  layout now = in_memory(&shape);
  while (count-- > 0) {
    layout next;
    if (!step(moves[count], &now, &next)) return false;
    now = next;
  }
  now = permuted(&now, axes);
  return is_in_order(&now);
}

tvms_node *TVMS_NULLABLE tvms_relax_moves_origin(
    const tvms_relax_definitions *definitions, tvms_node *value, const int64_t *axes) {
  const tvms_node *moves[MOST_MOVES] = {0};
  tvms_node *found = keeps_order(value, moves, 0, axes) ? value : NULL;
  for (uint32_t count = 0; count < MOST_MOVES;) {
    tvms_node *call = tvms_relax_definitions_unwrap(definitions, value);
    int64_t unused[TVMS_MOST_MOVED_AXES];
    if (!is_reshape(call) && !tvms_relax_moves_axes(call, unused)) break;
    moves[count++] = call;
    value = tvms_as_call(call)->args.items[0];
    if (keeps_order(value, moves, count, axes)) found = value;
  }
  return found;
}
