// Descriptions of operators that take elements from places which other tensors name.
//
// TVM: topi/transform.h (take, gather, gather_nd, adv_index, one_hot, reverse_sequence,
// meshgrid).
#include "te/legalize_gather.h"

#include "te/element.h"
#include "te/legalizers.h"
#include "te/topi_index.h"

#include <string.h>

static tvms_memory *memory_of(tvms_te *te) {
  return &te->unit->context->memory;
}

// The tensors of a tuple that is written where it is used; false for another value.
static bool take_tensors(tvms_legal *legal, uint32_t place, tvms_list *tensors) {
  const tvms_node *arg = tvms_legal_arg(legal, place);
  if (arg->kind != TVMS_NODE_TUPLE) return false;
  tvms_list fields = tvms_as_tuple(arg)->fields;
  *tensors = tvms_list_copy(legal->te.unit, fields.items, fields.len);
  for (uint32_t i = 0; i < fields.len; i++) {
    if (tvms_legal_is_prim(fields.items[i])) return false;
    tensors->items[i] = tvms_legal_tensor(legal, fields.items[i]);
  }
  return fields.len > 0;
}

static tvms_take_mode mode_of(const tvms_call *call) {
  tvms_bytes text = tvms_attr_text(call, TVMS_ATTR_take_mode);
  if (tvms_bytes_is(text, "fast")) return TVMS_TAKE_FAST;
  if (tvms_bytes_is(text, "clip")) return TVMS_TAKE_CLIP;
  return tvms_bytes_is(text, "nan") ? TVMS_TAKE_NAN : TVMS_TAKE_WRAP;
}

// Is it a number, or a constant, with a place below 0? Its elements are integers with the lowest byte first.
static bool counts_from_the_end(const tvms_node *index) {
  if (index->kind == TVMS_NODE_PRIM_VALUE) index = tvms_as_prim_value(index)->value;
  if (index->kind == TVMS_NODE_INT_IMM) return tvms_as_int_imm(index)->value < 0;
  if (index->kind != TVMS_NODE_CONSTANT) return false;
  const tvms_constant *constant = tvms_as_constant(index);
  size_t size = constant->element.bits / 8;
  if (constant->element.code != TVMS_INT || constant->omitted || size == 0)
    return false;
  for (size_t i = size; i <= constant->data.len; i += size)
    if ((unsigned char)constant->data.text[i - 1] & 0x80) return true;
  return false;
}

// `inside`: places below 0 that the text shows count from the end, as in PyTorch, whose x[:, -1] is exported so. TVM reads in
// front of the tensor.
static bool take(tvms_legal *legal, bool inside) {
  legal->name = "take";
  tvms_te *te = &legal->te;
  // The place may be a number of Relax.
  const tvms_node *index = tvms_legal_arg(legal, 1);
  bool prim = tvms_legal_is_prim(index);
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_node *places =
      prim ? tvms_legal_expr(legal, index) : tvms_legal_tensor(legal, index);
  tvms_take_mode mode = mode_of(legal->call);
  if (inside && mode == TVMS_TAKE_FAST && counts_from_the_end(index))
    mode = TVMS_TAKE_WRAP;
  if (!tvms_attr(legal->call, TVMS_ATTR_take_axis)) {
    if (prim || mode == TVMS_TAKE_NAN) return false;
    return tvms_legal_return(legal, tvms_te_take_flat(te, x, places, mode));
  }
  int64_t axis = tvms_attr_int(legal->call, TVMS_ATTR_take_axis, 0);
  uint32_t place = tvms_legal_axis(axis, tvms_te_shape(x).len);
  return tvms_legal_return(legal, tvms_te_take(te, x, places, place, mode));
}

bool tvms_legalize_take(tvms_legal *legal) {
  return take(legal, false);
}

bool tvms_legalize_take_inside(tvms_legal *legal) {
  return take(legal, true);
}

bool tvms_legalize_gather_elements(tvms_legal *legal) {
  legal->name = "gather";
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_node *places = tvms_legal_tensor(legal, tvms_legal_arg(legal, 1));
  int64_t axis = tvms_attr_int(legal->call, TVMS_ATTR_axis_axis, 0);
  uint32_t place = tvms_legal_axis(axis, tvms_te_shape(x).len);
  return tvms_legal_return(legal, tvms_te_gather(&legal->te, x, place, places));
}

// Along the first axis of `places` stand the indices of one element.
static tvms_node *gather_nd(tvms_te *te, tvms_node *x, tvms_node *places,
                            uint32_t batch) {
  tvms_list from = tvms_te_shape(x), at = tvms_te_shape(places);
  if (!tvms_node_is_int_imm(at.items[0])) return NULL;
  uint32_t given = (uint32_t)tvms_as_int_imm(at.items[0])->value;
  if (given + batch > from.len) return NULL;
  tvms_node_vec dims = {0};
  for (uint32_t i = 1; i < at.len; i++)
    tvms_vec_push(memory_of(te), &dims, at.items[i]);
  for (uint32_t i = given + batch; i < from.len; i++)
    tvms_vec_push(memory_of(te), &dims, from.items[i]);
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_list_copy(te->unit, dims.items, dims.len), "ax");
  dims.len = 0;
  for (uint32_t i = 0; i < batch; i++)
    tvms_vec_push(memory_of(te), &dims, stage.axes.items[i]);
  tvms_node **place = tvms_arena_array(&te->unit->arena, tvms_node *, at.len);
  memcpy(place + 1, stage.axes.items, (at.len - 1) * sizeof *place);
  for (uint32_t i = 0; i < given; i++) {
    place[0] = INDEX(i);
    tvms_node *index = tvms_te_load(te, places, place, at.len);
    bool whole = index->dtype.code == TVMS_INT || index->dtype.code == TVMS_UINT;
    if (!whole) index = tvms_te_convert(te, TVMS_DTYPE(INT, 32), index);
    tvms_vec_push(memory_of(te), &dims, index);
  }
  for (uint32_t i = at.len - 1; i < stage.shape.len && dims.len < from.len; i++)
    tvms_vec_push(memory_of(te), &dims, stage.axes.items[i]);
  tvms_node *value =
      dims.len == from.len ? tvms_te_load(te, x, dims.items, dims.len) : NULL;
  tvms_vec_fini(memory_of(te), &dims);
  return tvms_te_close(&stage, "T_gather_nd", value);
}

bool tvms_legalize_gather_nd(tvms_legal *legal) {
  legal->name = "te_gather_nd";
  tvms_te *te = &legal->te;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_node *places = tvms_legal_tensor(legal, tvms_legal_arg(legal, 1));
  uint32_t rank = tvms_te_shape(places).len;
  if (rank == 0) return false;
  uint32_t *axes = tvms_arena_array(&te->unit->arena, uint32_t, rank);
  axes[0] = rank - 1;
  for (uint32_t i = 1; i < rank; i++)
    axes[i] = i - 1;
  places = tvms_te_transpose(te, places, axes);
  int64_t batch = tvms_attr_int(legal->call, TVMS_ATTR_gather_nd_batch_dims, 0);
  return batch >= 0
         && tvms_legal_return(legal, gather_nd(te, x, places, (uint32_t)batch));
}

// The indices broadcast together; the axes of the data without an index follow.
bool tvms_legalize_index_tensor(tvms_legal *legal) {
  legal->name = "index_tensor";
  tvms_te *te = &legal->te;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_list places, from = tvms_te_shape(x);
  if (!take_tensors(legal, 1, &places) || places.len > from.len) return false;
  tvms_list common = tvms_te_shape(places.items[0]);
  for (uint32_t i = 1; i < places.len; i++) {
    common = tvms_te_broadcast_shape(te, common, tvms_te_shape(places.items[i]));
  }
  for (uint32_t i = 0; i < places.len && places.len > 1; i++) {
    places.items[i] = tvms_te_broadcast_to(te, places.items[i], common);
  }
  tvms_node_vec dims = {0};
  for (uint32_t i = 0; i < common.len; i++)
    tvms_vec_push(memory_of(te), &dims, common.items[i]);
  for (uint32_t i = places.len; i < from.len; i++)
    tvms_vec_push(memory_of(te), &dims, from.items[i]);
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_list_copy(te->unit, dims.items, dims.len), "ax");
  dims.len = 0;
  for (uint32_t i = 0; i < places.len; i++) {
    tvms_vec_push(memory_of(te), &dims,
                  tvms_te_load(te, places.items[i], stage.axes.items, common.len));
  }
  for (uint32_t i = common.len; i < stage.shape.len; i++)
    tvms_vec_push(memory_of(te), &dims, stage.axes.items[i]);
  tvms_node *value = tvms_te_load(te, x, dims.items, dims.len);
  tvms_vec_fini(memory_of(te), &dims);
  return tvms_legal_return(legal, tvms_te_close(&stage, "advanced_index", value));
}

bool tvms_legalize_one_hot(tvms_legal *legal) {
  legal->name = "one_hot";
  tvms_te *te = &legal->te;
  const tvms_call *call = legal->call;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_node *on = tvms_legal_expr(legal, tvms_legal_arg(legal, 1));
  tvms_node *off = tvms_legal_expr(legal, tvms_legal_arg(legal, 2));
  tvms_list from = tvms_te_shape(x);
  int64_t given = tvms_attr_int(call, TVMS_ATTR_one_hot_axis, -1);
  uint32_t axis = given == -1 ? from.len : (uint32_t)given;
  if (given < -1 || axis > from.len) return false;
  tvms_node **dims = tvms_arena_array(&te->unit->arena, tvms_node *, from.len + 1);
  for (uint32_t i = 0; i <= from.len; i++)
    dims[i] = i == axis ? INT32(tvms_attr_int(call, TVMS_ATTR_one_hot_depth, 0))
                        : from.items[i - (i > axis)];
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_list_copy(te->unit, dims, from.len + 1), "ax");
  for (uint32_t i = 0; i < from.len; i++)
    dims[i] = stage.axes.items[i + (i >= axis)];
  tvms_node *same = EQ(tvms_te_load(te, x, dims, from.len), stage.axes.items[axis]);
  off = tvms_te_convert(te, on->dtype, off);
  tvms_node *value =
      same && off ? tvms_select_new(te->unit, same, on, off, TVMS_NO_SPAN) : NULL;
  return tvms_legal_return(legal, tvms_te_close(&stage, "T_one_hot", value));
}

// The first elements of each sequence in reverse, as many as its length says.
bool tvms_legalize_reverse_sequence(tvms_legal *legal) {
  legal->name = "reverse_sequence";
  tvms_te *te = &legal->te;
  const tvms_call *call = legal->call;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_node *lengths = tvms_legal_tensor(legal, tvms_legal_arg(legal, 1));
  tvms_list shape = tvms_te_shape(x);
  uint32_t along = tvms_legal_axis(
      tvms_attr_int(call, TVMS_ATTR_reverse_sequence_seq_axis, 1), shape.len);
  uint32_t batch = tvms_legal_axis(
      tvms_attr_int(call, TVMS_ATTR_reverse_sequence_batch_axis, 0), shape.len);
  // TVM compares the numbers; sizes that are none count as equal.
  tvms_list sizes = tvms_te_shape(lengths);
  if (sizes.len != 1
      || tvms_node_is_int_imm(sizes.items[0])
             != tvms_node_is_int_imm(shape.items[batch])) {
    return false;
  }
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "ax");
  tvms_list indices = tvms_list_copy(te->unit, stage.axes.items, shape.len);
  tvms_node *length = tvms_te_load(te, lengths, &stage.axes.items[batch], 1);
  tvms_node *at = stage.axes.items[along], *dim = shape.items[along];
  tvms_node *stays = OR(LE(length, INT32(1)), LE(length, at));
  tvms_node *all = SUB(SUB(dim, INT32(1)), at);
  tvms_node *turned = IF(GT(length, dim), all, SUB(SUB(length, INT32(1)), at));
  indices.items[along] = IF(stays, at, turned);
  tvms_node *value = tvms_te_load(te, x, indices.items, indices.len);
  return tvms_legal_return(legal, tvms_te_close(&stage, "T_reverse_sequence", value));
}

bool tvms_legalize_meshgrid(tvms_legal *legal) {
  legal->name = "meshgrid";
  tvms_te *te = &legal->te;
  tvms_list inputs;
  if (!take_tensors(legal, 0, &inputs)) return false;
  bool swaps =
      tvms_bytes_is(tvms_attr_text(legal->call, TVMS_ATTR_meshgrid_indexing), "xy")
      && inputs.len >= 2;
  tvms_list shape = tvms_list_copy(te->unit, inputs.items, inputs.len);
  for (uint32_t i = 0; i < inputs.len; i++) {
    tvms_list from = tvms_te_shape(inputs.items[swaps && i < 2 ? 1 - i : i]);
    shape.items[i] = from.len ? from.items[0] : INT32(1);
  }
  for (uint32_t i = 0; i < inputs.len; i++) {
    uint32_t axis = swaps && i < 2 ? 1 - i : i;
    uint32_t rank = tvms_te_shape(inputs.items[i]).len;
    tvms_stage stage;
    tvms_te_open(te, &stage, shape, "ax");
    tvms_node *value =
        tvms_te_load(te, inputs.items[i], &stage.axes.items[axis], rank ? 1 : 0);
    if (!tvms_legal_return(legal, tvms_te_close(&stage, "T_meshgrid", value))) {
      return false;
    }
  }
  return true;
}
