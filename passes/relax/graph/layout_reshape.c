// Reshapes that split axes and join axes, part by part, and how they take other orders of axes.
//
// (1, 128, 32, 32) to (1, 32, 4, 32, 32) splits axis B. Of a value whose order is "ACDB" the new one is
// "ADEBC". Axes of length 1 may be anywhere.
#include "passes/relax/graph/layout_reshape.h"

#include "structinfo/make.h"
#include "structinfo/sinfo.h"

#include <string.h>

// Takes axes until both sides hold as many elements. False: they never do.
static bool take_part(const tvms_moved_shape *from, const tvms_moved_shape *to,
                      tvms_reshape_part *part) {
  if (part->from == from->count || part->to == to->count) return false;
  part->from_end = part->from + 1;
  part->to_end = part->to + 1;
  int64_t left = from->sizes[part->from], right = to->sizes[part->to];
  while (left != right) {
    bool more_left = left < right;
    if (more_left ? part->from_end == from->count : part->to_end == to->count)
      return false;
    if (more_left) {
      left *= from->sizes[part->from_end++];
    } else {
      right *= to->sizes[part->to_end++];
    }
  }
  return true;
}

uint32_t tvms_relax_reshape_parts(const tvms_moved_shape *from,
                                  const tvms_moved_shape *to,
                                  tvms_reshape_part parts[TVMS_MOST_MOVED_AXES]) {
  uint32_t count = 0;
  tvms_reshape_part part = {0};
  while (take_part(from, to, &part)) {
    parts[count++] = part;
    part = (tvms_reshape_part){.from = part.from_end, .to = part.to_end};
  }
  if (!count) return 0;
  // Axes of length 1 at the end belong to the last part.
  tvms_reshape_part *last = &parts[count - 1];
  for (; last->from_end < from->count; last->from_end++)
    if (from->sizes[last->from_end] != 1) return 0;
  for (; last->to_end < to->count; last->to_end++)
    if (to->sizes[last->to_end] != 1) return 0;
  return count;
}

static uint32_t axis_at(const tvms_layout *order, uint32_t at) {
  return (uint32_t)(tvms_relax_layout_letter(order, at) - 'A');
}

// Takes the axes of a part off the order: those that are longer than 1 must come one behind the
// other.
static bool take_axes(const tvms_layout *order, uint32_t *at,
                      const tvms_moved_shape *from, const tvms_reshape_part *part) {
  for (uint32_t k = part->from; k < part->from_end; k++) {
    if (from->sizes[k] == 1) continue;
    while (*at < from->count && from->sizes[axis_at(order, *at)] == 1)
      ++*at;
    if (*at == from->count || axis_at(order, *at) != k) return false;
    ++*at;
  }
  return true;
}

// Is everything in a part of length 1?
static bool is_one(const tvms_reshape_part *part, const tvms_moved_shape *from) {
  for (uint32_t k = part->from; k < part->from_end; k++)
    if (from->sizes[k] != 1) return false;
  return true;
}

// The order of the result of a value in this order, of which it is a reshape; false: it is none.
static bool order_of_result(const tvms_layout *order, const tvms_moved_shape *from,
                            const tvms_moved_shape *to, tvms_layout *output) {
  tvms_reshape_part parts[TVMS_MOST_MOVED_AXES];
  uint32_t count = tvms_relax_reshape_parts(from, to, parts), at = 0;
  size_t len = 0;
  *output = (tvms_layout){{0}};
  if (!count) return false;
  while (at < from->count) {
    uint32_t axis = axis_at(order, at), i = 0;
    while (axis >= parts[i].from_end)
      i++;
    bool one = is_one(&parts[i], from);
    bool skips = from->sizes[axis] == 1 && !(one && axis == parts[i].from);
    if (skips || one) {
      at++;
    } else if (!take_axes(order, &at, from, &parts[i])) {
      return false;
    }
    for (uint32_t k = parts[i].to; k < parts[i].to_end && !skips; k++)
      output->text[len++] = (char)('A' + k);
  }
  return len == to->count;
}

// The shape with its axes in this order.
static tvms_node *shape_in_order(tvms_unit *unit, const tvms_node *shape,
                                 const tvms_layout *order) {
  tvms_list old = tvms_as_shape_expr(shape)->values;
  tvms_node *dims[TVMS_MOST_MOVED_AXES];
  for (uint32_t i = 0; i < old.len; i++)
    dims[i] = old.items[tvms_relax_layout_letter(order, i) - 'A'];
  return tvms_sinfo_shape_value_new(unit, dims, old.len, shape->span);
}

bool tvms_relax_layout_reshape(tvms_relax_layout_query *q) {
  tvms_layout order, output;
  tvms_moved_shape from, to;
  const tvms_node *shape = q->call->args.items[1];
  if (!tvms_relax_layout_query_plain_order(q, 0, &order)
      || !tvms_relax_moves_shape(q->call->args.items[0], &from)
      || !tvms_relax_moves_shape(&q->call->head, &to)
      || shape->kind != TVMS_NODE_SHAPE_EXPR
      || tvms_as_shape_expr(shape)->values.len != to.count)
    return false;
  if (!order_of_result(&order, &from, &to, &output)) return false;
  q->second = shape_in_order(q->unit, shape, &output);
  return tvms_relax_layout_query_answer(q, &order, &output);
}
