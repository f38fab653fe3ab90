// Definitions of operators that move, choose and make elements.
#include "interp/operators_shape.h"

#include <string.h>

static int rank_of(const tvms_tensor *tensor) {
  return tensor->view.ndim;
}

static int64_t axis_of(const tvms_tensor *tensor, int64_t axis) {
  return axis < 0 ? axis + rank_of(tensor) : axis;
}

void tvms_interp_define_same_elements(const tvms_interp_operator *o) {
  const tvms_tensor *from = tvms_interp_operand(o, 0);
  tvms_interp_need(o, tvms_tensor_len(from) == tvms_tensor_len(o->result));
  for (int64_t i = 0; i < tvms_tensor_len(from); i++)
    tvms_interp_put_element(o, i, from, i);
}

void tvms_interp_define_broadcast_to(const tvms_interp_operator *o) {
  const tvms_tensor *from = tvms_interp_operand(o, 0);
  tvms_interp_need(o, rank_of(from) <= rank_of(o->result));
  tvms_interp_place at = {0};
  if (tvms_tensor_len(o->result) == 0) return;
  do {
    int64_t place = tvms_interp_broadcast(o, from, at.index);
    tvms_interp_put_element(o, at.flat, from, place);
  } while (tvms_interp_next(o, o->result, &at));
}

void tvms_interp_define_fill(const tvms_interp_operator *o) {
  bool given = o->opcode == TVMS_R_full || o->opcode == TVMS_R_full_like;
  bool one = o->opcode == TVMS_R_ones || o->opcode == TVMS_R_ones_like;
  const tvms_tensor *value = given ? tvms_interp_operand(o, 1) : NULL;
  tvms_interp_need(o, !value || tvms_tensor_len(value) == 1);
  for (int64_t i = 0; i < tvms_tensor_len(o->result); i++) {
    if (value)
      tvms_interp_put_element(o, i, value, 0);
    else
      tvms_interp_put_whole(o, i, one);
  }
}

void tvms_interp_define_clip(const tvms_interp_operator *o) {
  const tvms_tensor *from = tvms_interp_operand(o, 0);
  double low = tvms_interp_element_real(tvms_interp_operand(o, 1), 0);
  double high = tvms_interp_element_real(tvms_interp_operand(o, 2), 0);
  for (int64_t i = 0; i < tvms_tensor_len(from); i++) {
    double value = tvms_interp_element_real(from, i);
    bool low_is_it = value<low, high_is_it = value> high;
    if (low_is_it || high_is_it)
      tvms_interp_put_real(o, i, low_is_it ? low : high);
    else
      tvms_interp_put_element(o, i, from, i);
  }
}

void tvms_interp_define_where(const tvms_interp_operator *o) {
  const tvms_tensor *condition = tvms_interp_operand(o, 0);
  tvms_interp_place at = {0};
  if (tvms_tensor_len(o->result) == 0) return;
  do {
    int64_t place = tvms_interp_broadcast(o, condition, at.index);
    bool first = tvms_interp_element_real(condition, place) != 0;
    const tvms_tensor *from = tvms_interp_operand(o, first ? 1 : 2);
    place = tvms_interp_broadcast(o, from, at.index);
    tvms_interp_put_element(o, at.flat, from, place);
  } while (tvms_interp_next(o, o->result, &at));
}

// tril keeps what is not above the diagonal k, triu what is not below it.
void tvms_interp_define_triangle(const tvms_interp_operator *o) {
  const tvms_tensor *from = tvms_interp_operand(o, 0);
  int64_t k = o->call->args.len > 1
                  ? tvms_interp_element_whole(tvms_interp_operand(o, 1), 0)
                  : 0;
  int last = rank_of(from) - 1;
  tvms_interp_need(o, last >= 1 && tvms_tensor_len(from) == tvms_tensor_len(o->result));
  tvms_interp_place at = {0};
  if (tvms_tensor_len(from) == 0) return;
  do {
    int64_t diagonal = at.index[last] - at.index[last - 1];
    bool stays = o->opcode == TVMS_R_tril ? diagonal <= k : diagonal >= k;
    if (stays)
      tvms_interp_put_element(o, at.flat, from, at.flat);
    else
      tvms_interp_put_whole(o, at.flat, 0);
  } while (tvms_interp_next(o, from, &at));
}

// The element of a tensor at an index that has all of its axes.
static int64_t flat_of(const tvms_interp_operator *o, const tvms_tensor *tensor,
                       const int64_t *index) {
  int64_t at = 0;
  for (int d = 0; d < rank_of(tensor); d++) {
    tvms_interp_need(o, index[d] >= 0 && index[d] < tensor->shape[d]);
    at = at * tensor->shape[d] + index[d];
  }
  return at;
}

void tvms_interp_define_permute_dims(const tvms_interp_operator *o) {
  const tvms_tensor *from = tvms_interp_operand(o, 0);
  tvms_list axes = tvms_attr_list(o->call, TVMS_ATTR_opt_axes_axes);
  int ndim = rank_of(from);
  tvms_interp_need(o, rank_of(o->result) == ndim
                          && (!axes.len || axes.len == (uint32_t)ndim));
  tvms_interp_place at = {0};
  if (tvms_tensor_len(o->result) == 0) return;
  do {
    int64_t index[TVMS_INTERP_MOST_DIMS] = {0};
    for (int d = 0; d < ndim; d++) {
      int64_t axis =
          axes.len ? axis_of(from, tvms_attr_item_int(axes.items[d])) : ndim - 1 - d;
      tvms_interp_need(o, axis >= 0 && axis < ndim);
      index[axis] = at.index[d];
    }
    tvms_interp_put_element(o, at.flat, from, flat_of(o, from, index));
  } while (tvms_interp_next(o, o->result, &at));
}

void tvms_interp_define_flip(const tvms_interp_operator *o) {
  const tvms_tensor *from = tvms_interp_operand(o, 0);
  int64_t axis = axis_of(from, tvms_attr_int(o->call, TVMS_ATTR_axis_axis, 0));
  tvms_interp_need(o, axis >= 0 && axis < rank_of(from));
  tvms_interp_place at = {0};
  if (tvms_tensor_len(from) == 0) return;
  do {
    int64_t index[TVMS_INTERP_MOST_DIMS];
    memcpy(index, at.index, sizeof index);
    index[axis] = from->shape[axis] - 1 - index[axis];
    tvms_interp_put_element(o, at.flat, from, flat_of(o, from, index));
  } while (tvms_interp_next(o, from, &at));
}

// Without an axis all tensors are rows of elements.
void tvms_interp_define_concat(const tvms_interp_operator *o) {
  tvms_interp_need(o, o->call->args.len == 1 && o->values[0].kind == TVMS_VALUE_TUPLE);
  const tvms_items *tuple = o->values[0].tuple;
  const tvms_node *given = tvms_attr(o->call, TVMS_ATTR_opt_axis_axis);
  int ndim = rank_of(o->result);
  int64_t axis = axis_of(o->result, tvms_attr_int(o->call, TVMS_ATTR_opt_axis_axis, 0));
  int64_t begin = 0;
  tvms_interp_need(o, ndim > 0 && axis >= 0 && axis < ndim);
  for (uint32_t i = 0; i < tuple->len; i++) {
    tvms_interp_need(o, tuple->items[i].kind == TVMS_VALUE_TENSOR);
    const tvms_tensor *part = tuple->items[i].tensor;
    tvms_interp_need(o, !given || rank_of(part) == ndim);
    tvms_interp_place at = {0};
    if (tvms_tensor_len(part) > 0) {
      do {
        int64_t index[TVMS_INTERP_MOST_DIMS];
        memcpy(index, at.index, sizeof index);
        if (given)
          index[axis] += begin;
        else
          index[0] = begin + at.flat;
        tvms_interp_put_element(o, flat_of(o, o->result, index), part, at.flat);
      } while (tvms_interp_next(o, part, &at));
    }
    begin += given ? part->shape[axis] : tvms_tensor_len(part);
  }
}
