// Descriptions of operators that write where other tensors say: a copy of the data first, and
// then one loop over what is written. bucketize searches in the same way, by statements.
//
// TVM: topi/scatter_elements.py, scatter.py, index_put.py, searchsorted.py.
#include "ir/object.h"
#include "te/element.h"
#include "te/extern.h"
#include "te/legalizers.h"
#include "te/topi_index.h"

#include <string.h>

// How what is written combines with what stands there.
static tvms_node *combine(tvms_te *te, tvms_bytes how, tvms_node *old, tvms_node *new) {
  if (tvms_bytes_is(how, "update")) return new;
  if (tvms_bytes_is(how, "add")) return ADD(old, new);
  if (tvms_bytes_is(how, "mul")) return MUL(old, new);
  if (tvms_bytes_is(how, "min")) return MIN(old, new);
  if (tvms_bytes_is(how, "max")) return MAX(old, new);
  bool mean = tvms_bytes_is(how, "mean") && old && tvms_dtype_is_real(old->dtype);
  return mean ? DIV(ADD(old, new), tvms_te_const(te, old->dtype, 2)) : NULL;
}

static tvms_node *write_at(tvms_te *te, tvms_bytes how, tvms_node *out,
                           tvms_node *place, tvms_node *value) {
  tvms_node *old = tvms_te_flat_load(te, out, place);
  return tvms_te_flat_store(te, out, place, combine(te, how, old, value));
}

// A place that counts from the end if it is negative.
static tvms_node *wrapped(tvms_te *te, tvms_node *place, tvms_node *extent) {
  return ADD(place, MUL(LT(place, INT32(0)), extent));
}

static tvms_node *copy_loop(tvms_te *te, tvms_for_kind kind, tvms_node *from,
                            tvms_node *to) {
  tvms_list shape = tvms_te_shape(from);
  tvms_node *size = tvms_te_product(te, shape, 0, shape.len);
  tvms_node *i = tvms_te_loop_var(te, "i", size);
  return tvms_te_loop(te, kind, i, size,
                      tvms_te_flat_store(te, to, i, tvms_te_flat_load(te, from, i)));
}

// The statements with TVM's mark that they stand in a row, and the result.
static bool close_scatter(tvms_legal *legal, tvms_node *out, const char *name,
                          tvms_node *copy, tvms_node *loop) {
  tvms_te *te = &legal->te;
  if (!copy || !loop) return false;
  tvms_node *stmts[3] = {NULL, copy, loop};
  uint32_t first = 1;
  if (!tvms_release_has(te->unit->dialect, TVMS_FACT_externs_name_loops)) {
    stmts[0] = tvms_te_extern_scope(te);
    first = 0;
  }
  tvms_te_extern_close(te, out, name, stmts + first, 3 - first);
  return tvms_legal_return(legal, out);
}

static tvms_node *input(tvms_legal *legal, const tvms_node *arg) {
  tvms_node *tensor = tvms_legal_tensor(legal, arg);
  tvms_te_extern_input(&legal->te, tensor);
  return tensor;
}

static tvms_node *output_like(tvms_te *te, tvms_node *x) {
  return tvms_te_extern_output(te, "out_buf", tvms_te_shape(x), tvms_te_dtype(x),
                               false);
}

bool tvms_legalize_scatter_elements(tvms_legal *legal) {
  legal->name = "scatter_elements";
  tvms_te *te = &legal->te;
  const tvms_call *call = legal->call;
  tvms_node *x = input(legal, tvms_legal_arg(legal, 0));
  tvms_node *places = input(legal, tvms_legal_arg(legal, 1));
  tvms_node *updates = input(legal, tvms_legal_arg(legal, 2));
  tvms_list shape = tvms_te_shape(x), at = tvms_te_shape(places);
  uint32_t axis = tvms_legal_axis(
      tvms_attr_int(call, TVMS_ATTR_scatter_elements_axis, 0), shape.len);
  if (axis >= shape.len || at.len != shape.len) return false;
  tvms_bytes how = tvms_attr_text(call, TVMS_ATTR_scatter_elements_reduction);
  tvms_node *out = output_like(te, x);
  tvms_node *copy = copy_loop(te, TVMS_FOR_PARALLEL, x, out);
  tvms_node *range = tvms_te_convert(te, tvms_te_dtype(places), shape.items[axis]);
  tvms_node *behind = tvms_te_product(te, shape, axis + 1, shape.len);
  tvms_node *before_at = tvms_te_product(te, at, 0, axis), *range_at = at.items[axis];
  tvms_node *behind_at = tvms_te_product(te, at, axis + 1, at.len);
  tvms_node *count = MUL(before_at, behind_at);
  if (!count || !range) return false;
  tvms_node *fused = tvms_te_loop_var(te, "fused", count);
  tvms_node *i = FLOOR_DIV(fused, behind_at), *j = FLOOR_MOD(fused, behind_at);
  tvms_node *from = ADD(MUL(i, MUL(range_at, behind_at)), j);
  tvms_node *to = ADD(MUL(i, MUL(range, behind)), j);
  tvms_node *k = tvms_te_loop_var(te, "k", range_at);
  from = ADD(from, MUL(k, behind_at));
  tvms_node *place = wrapped(te, tvms_te_flat_load(te, places, from), range);
  to = ADD(to, MUL(place, behind));
  tvms_node *store = write_at(te, how, out, to, tvms_te_flat_load(te, updates, from));
  tvms_node *inner = tvms_te_loop(te, TVMS_FOR_SERIAL, k, range_at, store);
  tvms_node *loop = tvms_te_loop(te, TVMS_FOR_PARALLEL, fused, count, inner);
  return close_scatter(legal, out, "scatter_elements_generic", copy, loop);
}

// The last axis of the places comes first.
static tvms_node *turned(tvms_te *te, tvms_node *places) {
  uint32_t rank = tvms_te_shape(places).len;
  uint32_t *axes = tvms_arena_array(&te->unit->arena, uint32_t, rank);
  axes[0] = rank - 1;
  for (uint32_t i = 1; i < rank; i++)
    axes[i] = i - 1;
  return tvms_te_transpose(te, places, axes);
}

bool tvms_legalize_scatter_nd(tvms_legal *legal) {
  legal->name = "scatter_nd";
  tvms_te *te = &legal->te;
  tvms_node *x = input(legal, tvms_legal_arg(legal, 0));
  tvms_node *places = tvms_legal_tensor(legal, tvms_legal_arg(legal, 1));
  tvms_node *updates = input(legal, tvms_legal_arg(legal, 2));
  tvms_bytes how = tvms_attr_text(legal->call, TVMS_ATTR_scatter_nd_reduction);
  if (tvms_bytes_is(how, "mean") || tvms_te_shape(places).len == 0) return false;
  places = turned(te, places);
  tvms_list shape = tvms_te_shape(x), at = tvms_te_shape(places);
  tvms_list moved = tvms_te_shape(updates);
  if (!tvms_node_is_int_imm(at.items[0])) return false;
  int64_t given = tvms_as_int_imm(at.items[0])->value;
  if (given > shape.len || moved.len + 1 < at.len) return false;
  tvms_node *out = output_like(te, x);
  tvms_node *copy = copy_loop(te, TVMS_FOR_SERIAL, x, out);
  tvms_node *count = tvms_te_product(te, at, 1, at.len);
  tvms_node *part = tvms_te_product(te, moved, at.len - 1, moved.len);
  tvms_node *i = tvms_te_loop_var(te, "j", count);
  tvms_node *j = tvms_te_loop_var(te, "k", part);
  tvms_node *place = j, *offset = part;
  for (int64_t l = given; l > 0; l--) {
    tvms_node *index = tvms_te_flat_load(te, places, ADD(i, MUL(INT32(l - 1), count)));
    place = ADD(place, MUL(offset, index));
    offset = MUL(offset, shape.items[l - 1]);
  }
  tvms_node *value = tvms_te_flat_load(te, updates, ADD(MUL(i, part), j));
  tvms_node *store = write_at(te, how, out, place, value);
  tvms_node *inner = tvms_te_loop(te, TVMS_FOR_PARALLEL, j, part, store);
  tvms_node *loop = tvms_te_loop(te, TVMS_FOR_SERIAL, i, count, inner);
  return close_scatter(legal, out, "scatter_nd_generic", copy, loop);
}

// The shape that the indices broadcast to; false for one that TVM does not take.
static bool common_shape(tvms_te *te, const tvms_list *places, tvms_list *common) {
  uint32_t rank = 0;
  for (uint32_t i = 0; i < places->len; i++) {
    uint32_t own = tvms_te_shape(places->items[i]).len;
    rank = own > rank ? own : rank;
  }
  common->items = tvms_arena_array(&te->unit->arena, tvms_node *, rank + 1);
  common->len = rank;
  for (uint32_t d = 0; d < rank; d++) {
    tvms_node *most = INT32(1);
    for (uint32_t i = 0; i < places->len; i++) {
      tvms_list own = tvms_te_shape(places->items[i]);
      if (own.len + d < rank) continue;
      tvms_node *dim = own.items[own.len + d - rank];
      if (tvms_node_is_int(dim, 1)) continue;
      if (tvms_node_is_int(most, 1)) {
        most = dim;
      } else if (!tvms_node_is_int_imm(most)
                 || !tvms_node_is_int(dim, tvms_as_int_imm(most)->value)) {
        return false;
      }
    }
    common->items[d] = most;
  }
  return true;
}

// The element of one of the indices that belongs to `at`, the place in the common shape.
static tvms_node *index_at(tvms_te *te, tvms_node *places, const tvms_list *at) {
  tvms_list own = tvms_te_shape(places);
  tvms_node *offset = INT32(0), *stride = INT32(1);
  for (uint32_t i = at->len; i > at->len - own.len; i--) {
    tvms_node *dim = own.items[own.len + i - 1 - at->len];
    tvms_node *index = tvms_node_is_int(dim, 1) ? INT32(0) : at->items[i - 1];
    offset = ADD(offset, MUL(index, stride));
    stride = MUL(stride, dim);
  }
  return tvms_te_flat_load(te, places, offset);
}

static bool take_places(tvms_legal *legal, tvms_list *places) {
  const tvms_node *arg = tvms_legal_arg(legal, 1);
  bool tuple = arg->kind == TVMS_NODE_TUPLE;
  if (!tuple && (!arg->sinfo || arg->sinfo->kind != TVMS_NODE_SINFO_TENSOR)) {
    return false;
  }
  tvms_node *lone = (tvms_node *)(uintptr_t)arg;
  tvms_list fields = tuple ? tvms_as_tuple(arg)->fields : (tvms_list){&lone, 1};
  *places = tvms_list_copy(legal->te.unit, fields.items, fields.len);
  for (uint32_t i = 0; i < fields.len; i++)
    places->items[i] = input(legal, fields.items[i]);
  return true;
}

bool tvms_legalize_index_put(tvms_legal *legal) {
  legal->name = "index_put";
  tvms_te *te = &legal->te;
  tvms_node *x = input(legal, tvms_legal_arg(legal, 0));
  tvms_list shape = tvms_te_shape(x), places, common;
  if (!take_places(legal, &places) || places.len != shape.len) return false;
  tvms_node *values = input(legal, tvms_legal_arg(legal, 2));
  if (!common_shape(te, &places, &common)) return false;
  tvms_node *out = output_like(te, x);
  tvms_node *copy = copy_loop(te, TVMS_FOR_PARALLEL, x, out);
  tvms_node *count = tvms_te_product(te, common, 0, common.len);
  tvms_node *k = tvms_te_loop_var(te, "k", count), *rest = k;
  tvms_list at = tvms_list_copy(te->unit, common.items, common.len);
  for (uint32_t i = common.len; i > 0; i--) {
    at.items[i - 1] = FLOOR_MOD(rest, common.items[i - 1]);
    rest = FLOOR_DIV(rest, common.items[i - 1]);
  }
  tvms_node *place = INT32(0), *stride = INT32(1);
  for (uint32_t i = shape.len; i > 0; i--) {
    tvms_node *index = index_at(te, places.items[i - 1], &at);
    place = ADD(place, MUL(wrapped(te, index, shape.items[i - 1]), stride));
    stride = MUL(stride, shape.items[i - 1]);
  }
  bool adds = tvms_attr_bool(legal->call, TVMS_ATTR_index_put_accumulate);
  const char *how = adds ? "add" : "update";
  tvms_node *store = write_at(te, (tvms_bytes){how, (uint32_t)strlen(how)}, out, place,
                              tvms_te_flat_load(te, values, k));
  tvms_node *loop = tvms_te_loop(te, TVMS_FOR_PARALLEL, k, count, store);
  return close_scatter(legal, out, "index_put_generic", copy, loop);
}

// ---- bucketize ----

static tvms_node *half(tvms_te *te, tvms_node *value) {
  tvms_node *one = value ? tvms_te_const(te, value->dtype, 1) : NULL;
  return one ? tvms_build_bitwise(te->unit, TVMS_TIR_shift_right, value, one,
                                  TVMS_NO_SPAN)
             : NULL;
}

// while low < high: the middle becomes one of them.
static tvms_node *search(tvms_te *te, tvms_node *low, tvms_node *high, tvms_node *begin,
                         tvms_node *sorted, tvms_node *value, bool right) {
  tvms_node *middle =
      ADD(tvms_te_cell_get(te, low),
          half(te, SUB(tvms_te_cell_get(te, high), tvms_te_cell_get(te, low))));
  tvms_node *found = tvms_te_flat_load(te, sorted, ADD(begin, middle));
  tvms_if_then_else *turn = tvms_node_make(te->unit, IF_THEN_ELSE, TVMS_NO_SPAN);
  turn->condition = right ? LE(found, value) : LT(found, value);
  turn->then_case = tvms_te_cell_set(te, low, ADD(middle, INT32(1)));
  turn->else_case = tvms_te_cell_set(te, high, middle);
  tvms_while *loop = tvms_node_make(te->unit, WHILE, TVMS_NO_SPAN);
  loop->condition = LT(tvms_te_cell_get(te, low), tvms_te_cell_get(te, high));
  loop->body = &turn->head;
  return turn->condition && turn->then_case && turn->else_case ? &loop->head : NULL;
}

// Places are counted in `dtype`.
static bool bucketize(tvms_legal *legal, tvms_dtype dtype) {
  legal->name = "searchsorted";
  tvms_te *te = &legal->te;
  const tvms_call *call = legal->call;
  tvms_node *sorted = input(legal, tvms_legal_arg(legal, 1));
  tvms_node *values = input(legal, tvms_legal_arg(legal, 0));
  bool right = tvms_attr_bool(call, TVMS_ATTR_bucketize_right);
  tvms_list shape = tvms_te_shape(values), rows = tvms_te_shape(sorted);
  if (rows.len == 0) return false;
  tvms_node *out = tvms_te_extern_output(te, "searchsorted", shape, dtype, true);
  tvms_node *size = tvms_te_product(te, shape, 0, shape.len);
  tvms_node *range = rows.items[rows.len - 1];
  tvms_node *i = tvms_te_loop_var(te, "i", size), *begin = INT32(0);
  if (rows.len > 1) begin = MUL(FLOOR_DIV(i, shape.items[shape.len - 1]), range);
  tvms_node *low = tvms_te_named_cell(te, "lo", dtype);
  tvms_node *high = tvms_te_named_cell(te, "hi", dtype);
  tvms_node *stmts[] = {
      tvms_te_allocation(te, low),
      tvms_te_allocation(te, high),
      tvms_te_cell_set(te, low, INT32(0)),
      tvms_te_cell_set(te, high, range),
      search(te, low, high, begin, sorted, tvms_te_flat_load(te, values, i), right),
      tvms_te_flat_store(te, out, i, tvms_te_cell_get(te, low)),
  };
  tvms_node *body = tvms_te_sequence(te, stmts, 6);
  tvms_node *loop = tvms_te_loop(te, TVMS_FOR_PARALLEL, i, size, body);
  if (!loop) return false;
  tvms_te_extern_close(te, out, "searchsorted", &loop, 1);
  return tvms_legal_return(legal, out);
}

static tvms_dtype dtype_of_places(const tvms_legal *legal) {
  bool narrow = tvms_attr_bool(legal->call, TVMS_ATTR_bucketize_out_int32);
  return narrow ? TVMS_DTYPE(INT, 32) : TVMS_DTYPE(INT, 64);
}

// Up to 0.25 places are counted in the dtype of the values, where TVM fails if those are real.
static tvms_dtype dtype_of_values(const tvms_legal *legal) {
  bool like_values =
      tvms_release_has(legal->te.unit->dialect, TVMS_FACT_buckets_are_like_values);
  return like_values ? tvms_legal_arg(legal, 0)->sinfo->dtype : dtype_of_places(legal);
}

bool tvms_legalize_bucketize(tvms_legal *legal) {
  tvms_dtype dtype = dtype_of_values(legal);
  return bucketize(legal, tvms_dtype_is_real(dtype) ? dtype_of_places(legal) : dtype);
}

bool tvms_te_dispatch_bucketize(tvms_legal *legal) {
  tvms_dtype dtype = dtype_of_values(legal);
  return !tvms_dtype_is_real(dtype) && bucketize(legal, dtype);
}
