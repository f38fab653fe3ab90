// Descriptions of operators that take or replace every n-th element between two places.
//
// What is known when the program is compiled is computed here; a symbolic bound is brought
// into the range of its axis by the PrimFunc itself. TVM: topi/transform.h and
// topi/slice_scatter.py.
#include "te/legalize_slice.h"

#include "te/element.h"
#include "te/legalizers.h"
#include "te/topi_index.h"

// The bounds of one axis of a slice.
typedef struct {
  uint32_t axis;
  tvms_node *begin, *end, *stride;
} bounds;

typedef struct {
  bounds *items;
  uint32_t len;
  bool constant;  // all bounds and the shape of the data are numbers
} slices;

static bool are_constants(tvms_list list) {
  for (uint32_t i = 0; i < list.len; i++) {
    if (!tvms_node_is_int_imm(list.items[i])) return false;
  }
  return true;
}

// The values of a tuple of scalars; false if it is not written out.
static bool take_tuple(tvms_legal *legal, uint32_t place, tvms_list *values) {
  const tvms_node *arg = tvms_legal_arg(legal, place);
  if (arg->kind != TVMS_NODE_TUPLE) return false;
  tvms_list fields = tvms_as_tuple(arg)->fields;
  *values = tvms_list_copy(legal->te.unit, fields.items, fields.len);
  for (uint32_t i = 0; i < fields.len; i++) {
    if (!tvms_legal_is_prim(fields.items[i])) return false;
    values->items[i] = tvms_legal_expr(legal, fields.items[i]);
  }
  return true;
}

static bool take_slices(tvms_legal *legal, tvms_list shape, slices *found) {
  tvms_te *te = &legal->te;
  tvms_list axes, begin, end, strides = {NULL, 0};
  if (!take_tuple(legal, 2, &begin) || !take_tuple(legal, 3, &end)) return false;
  bool strided = legal->call->args.len > 4;
  if (strided && !take_tuple(legal, 4, &strides)) return false;
  if (!take_tuple(legal, 1, &axes) || !are_constants(axes)) return false;
  found->len = axes.len;
  if (begin.len != axes.len || end.len != axes.len) return false;
  if (strided && strides.len != axes.len) return false;
  found->items = tvms_arena_array(&te->unit->arena, bounds, axes.len + 1);
  found->constant = are_constants(begin) && are_constants(end) && are_constants(strides)
                    && are_constants(shape);
  for (uint32_t i = 0; i < axes.len; i++) {
    int64_t axis = tvms_as_int_imm(axes.items[i])->value;
    tvms_node *stride = strided ? strides.items[i] : INDEX(1);
    found->items[i] = (bounds){tvms_legal_axis(axis, shape.len), begin.items[i],
                               end.items[i], stride};
    if (found->items[i].axis >= shape.len) return false;
  }
  return true;
}

static int64_t clamp(int64_t place, int64_t extent, int64_t stride) {
  int64_t least = stride < 0 ? -1 : 0, most = stride < 0 ? extent - 1 : extent;
  if (place < 0) place += extent;
  if (place < least) place = least;
  return place < most ? place : most;
}

// Fixes the bounds of an axis, all of them numbers; returns how many elements it has.
static tvms_node *fix_bounds(tvms_te *te, bounds *b, const tvms_node *dim) {
  int64_t extent = tvms_as_int_imm(dim)->value;
  int64_t stride = tvms_as_int_imm(b->stride)->value;
  int64_t begin = clamp(tvms_as_int_imm(b->begin)->value, extent, stride);
  int64_t end = clamp(tvms_as_int_imm(b->end)->value, extent, stride);
  int64_t step = stride < 0 ? -stride : stride;
  int64_t interval = stride < 0 ? begin - end : end - begin;
  b->begin = INDEX(begin);
  return step > 0 && interval >= 0 ? INDEX((interval + step - 1) / step) : NULL;
}

static bool same_name(const tvms_node *a, const tvms_node *b) {
  return a->kind == TVMS_NODE_VAR && b->kind == TVMS_NODE_VAR
         && tvms_as_var(a)->name == tvms_as_var(b)->name;
}

// A place that may count from the end and lie outside, as the PrimFunc will find it.
static tvms_node *clamp_place(tvms_te *te, tvms_node *place, tvms_node *extent,
                              tvms_node *stride) {
  if (tvms_node_is_int_imm(place) && tvms_node_is_int_imm(extent)
      && tvms_node_is_int_imm(stride)) {
    return INDEX(clamp(tvms_as_int_imm(place)->value, tvms_as_int_imm(extent)->value,
                       tvms_as_int_imm(stride)->value));
  }
  bool forwards = tvms_node_is_int_imm(stride) && tvms_as_int_imm(stride)->value > 0;
  bool keeps =
      forwards
      || tvms_release_has(te->unit->dialect, TVMS_FACT_backward_slices_keep_own_extent);
  if (keeps && same_name(place, extent)) return place;
  tvms_node *backwards = LT(stride, INDEX(0));
  tvms_node *least = IF(backwards, INDEX(-1), INDEX(0));
  tvms_node *most = IF(backwards, SUB(extent, INDEX(1)), extent);
  if (!tvms_node_is_int_imm(place) || tvms_as_int_imm(place)->value < 0) {
    place = IF(LT(place, INDEX(0)), ADD(place, extent), place);
  }
  return MIN(MAX(place, least), most);
}

// Up to 0.26 only the length of a slice is computed of clamped bounds.
static bool clamps_begin(const tvms_te *te) {
  return tvms_release_has(te->unit->dialect, TVMS_FACT_slices_clamp_begins);
}

static tvms_node *ceil_div(tvms_te *te, tvms_node *a, tvms_node *b) {
  return a && b ? tvms_build_ceil_div(te->unit, a, b, TVMS_NO_SPAN) : NULL;
}

static tvms_node *slice_length(tvms_te *te, const bounds *b, tvms_node *extent,
                               bool inbound) {
  tvms_node *length;
  if (inbound) {
    length = ceil_div(te, SUB(b->end, b->begin), b->stride);
  } else {
    tvms_node *begin = clamp_place(te, b->begin, extent, b->stride);
    tvms_node *end = clamp_place(te, b->end, extent, b->stride);
    tvms_node *opposite = SUB(INDEX(0), b->stride);
    length = IF(LT(b->stride, INDEX(0)), ceil_div(te, SUB(begin, end), opposite),
                ceil_div(te, SUB(end, begin), b->stride));
  }
  return length ? tvms_analyzer_simplify(te->analyzer, length) : NULL;
}

bool tvms_legalize_strided_slice(tvms_legal *legal) {
  legal->name = "strided_slice";
  tvms_te *te = &legal->te;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_list from = tvms_te_shape(x);
  slices s;
  if (!take_slices(legal, from, &s)) return false;
  bool inbound = tvms_attr_bool(legal->call, TVMS_ATTR_strided_slice_assume_inbound);
  tvms_list shape = tvms_list_copy(te->unit, from.items, from.len);
  for (uint32_t i = 0; i < s.len; i++) {
    uint32_t axis = s.items[i].axis;
    tvms_node *dim = shape.items[axis];
    shape.items[axis] = s.constant ? fix_bounds(te, &s.items[i], dim)
                                   : slice_length(te, &s.items[i], dim, inbound);
    if (!shape.items[axis]) return false;
  }
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "ax");
  tvms_list indices = tvms_list_copy(te->unit, stage.axes.items, shape.len);
  for (uint32_t i = 0; i < s.len; i++) {
    const bounds *b = &s.items[i];
    tvms_node **index = &indices.items[b->axis], *begin = b->begin;
    if (!s.constant && !inbound && clamps_begin(te)) {
      begin = clamp_place(te, begin, from.items[b->axis], b->stride);
    }
    *index = ADD(MUL(*index, b->stride), begin);
  }
  const char *names[2][2] = {
      {"T_dynamic_strided_slice", "T_strided_slice"},
      {"T_dynamic_strided_slice_with_axes", "T_strided_slice_with_axes"}};
  tvms_node *value = tvms_te_load(te, x, indices.items, indices.len);
  return tvms_legal_return(legal,
                           tvms_te_close(&stage, names[s.len > 0][s.constant], value));
}

static tvms_node *identity_of(tvms_te *te, tvms_node *x) {
  (void)te;
  return x;
}

#define ELEMENT(function, expression)                                                  \
  static tvms_node *function(tvms_te *te, tvms_node *a, tvms_node *b) {                \
    return (expression);                                                               \
  }
ELEMENT(both, AND(a, b))
ELEMENT(not_less, GE(a, b))
ELEMENT(less, LT(a, b))
ELEMENT(same, EQ(a, b))
ELEMENT(quotient, FLOOR_DIV(a, b))
ELEMENT(remainder_of, FLOOR_MOD(a, b))
#undef ELEMENT

// Which places of the axis are replaced: `mask` says yes to all.
static tvms_node *replaced_places(tvms_te *te, tvms_node *mask, tvms_node *places,
                                  const bounds *b, int64_t extent) {
  if (!tvms_node_is_int(b->begin, 0)) {
    tvms_node *behind =
        tvms_te_broadcast(te, places, b->begin, "T_greater_equal", not_less);
    mask = tvms_te_broadcast(te, mask, behind, "T_logical_and", both);
  }
  if (!tvms_node_is_int(b->end, extent)) {
    tvms_node *before = tvms_te_broadcast(te, places, b->end, "T_less", less);
    mask = tvms_te_broadcast(te, mask, before, "T_logical_and", both);
  }
  if (!tvms_node_is_int(b->stride, 1)) {
    tvms_node *away = tvms_te_subtract(te, places, b->begin);
    away = tvms_te_broadcast(te, away, b->stride, "T_floor_mod", remainder_of);
    away = tvms_te_broadcast(te, away, INT32(0), "T_equal", same);
    mask = tvms_te_broadcast(te, mask, away, "T_logical_and", both);
  }
  return mask;
}

// Where in the source the element of each place stands, if it is replaced; of the others some place before `end`.
static tvms_node *source_places(tvms_te *te, tvms_node *places, const bounds *b,
                                tvms_node *end) {
  tvms_node *away = tvms_te_subtract(te, places, b->begin);
  away = tvms_te_add(te, away, SUB(b->stride, INT32(1)));
  away = tvms_te_broadcast(te, away, b->stride, "T_floor_divide", quotient);
  if (!away) return NULL;
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_te_shape(away), "i");
  tvms_node *value = tvms_te_load(te, away, stage.axes.items, 1);
  tvms_node *last = tvms_te_convert(te, value->dtype, SUB(end, INDEX(1)));
  return tvms_te_close(&stage, "compute", MAX(MIN(value, last), INDEX(0)));
}

static tvms_node *choose(tvms_te *te, tvms_node *mask, tvms_node *yes, tvms_node *no) {
  if (!mask || !yes || !no) return NULL;
  tvms_stage stage;
  tvms_list shape = tvms_te_shape(no);
  tvms_te_open(te, &stage, shape, "ax");
  tvms_node *const *axes = stage.axes.items;
  tvms_node *chosen = tvms_te_broadcast_load(te, mask, shape, axes);
  chosen = NE(tvms_te_convert(te, TVMS_DTYPE(INT, 64), chosen), INDEX(0));
  tvms_node *value =
      tvms_te_select(te, chosen, tvms_te_broadcast_load(te, yes, shape, axes),
                     tvms_te_broadcast_load(te, no, shape, axes));
  return tvms_te_close(&stage, "T_where", value);
}

// `inside`: the source is read inside of its own extent. TVM reads as far as the result has places, and drops that.
static bool scatter_slice(tvms_legal *legal, bool inside) {
  legal->name = "slice_scatter";
  tvms_te *te = &legal->te;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_node *source = tvms_legal_tensor(legal, tvms_legal_arg(legal, 1));
  tvms_list shape = tvms_te_shape(x);
  int64_t given = tvms_attr_int(legal->call, TVMS_ATTR_axis_axis, 0);
  bounds b = {.axis = tvms_legal_axis(given, shape.len)};
  tvms_node **parts[] = {&b.begin, &b.end, &b.stride};
  for (uint32_t i = 0; i < 3; i++) {
    if (!tvms_legal_is_prim(tvms_legal_arg(legal, i + 2))) return false;
    *parts[i] = tvms_legal_expr(legal, tvms_legal_arg(legal, i + 2));
    if (!tvms_node_is_int_imm(*parts[i])) return false;
  }
  if (b.axis >= shape.len || !tvms_node_is_int_imm(shape.items[b.axis])) return false;
  int64_t extent = tvms_as_int_imm(shape.items[b.axis])->value;
  if (tvms_node_is_int(b.begin, 0) && tvms_node_is_int(b.end, extent)
      && tvms_node_is_int(b.stride, 1)) {
    return tvms_legal_return(legal,
                             tvms_te_map(te, source, "compute", "i", identity_of));
  }
  // The numbers are those of Python, int32 until the function is finished.
  tvms_node *length = INT32(extent),
            *yes = tvms_bool_imm_new(te->unit, true, TVMS_NO_SPAN);
  tvms_list flat = tvms_list_copy(te->unit, &length, 1);
  tvms_node *mask = tvms_te_full(te, flat, yes->dtype, yes);
  tvms_node *places =
      tvms_te_arange(te, INT32(0), length, INT32(1), TVMS_DTYPE(INT, 64));
  mask = replaced_places(te, mask, places, &b, extent);
  tvms_list lone = tvms_list_copy(te->unit, shape.items, shape.len);
  for (uint32_t i = 0; i < shape.len; i++)
    lone.items[i] = i == b.axis ? INT32(extent) : INT32(1);
  mask = tvms_te_reshape(te, mask, lone);
  mask = tvms_te_broadcast_to(te, mask, shape);
  tvms_node *end = inside ? tvms_te_shape(source).items[b.axis] : INDEX(extent);
  tvms_node *from = source_places(te, places, &b, end);
  if (!from) return false;
  tvms_node *moved = tvms_te_take(te, source, from, b.axis, TVMS_TAKE_FAST);
  return tvms_legal_return(legal, choose(te, mask, moved, x));
}

bool tvms_legalize_slice_scatter(tvms_legal *legal) {
  return scatter_slice(legal, false);
}

bool tvms_legalize_slice_scatter_inside(tvms_legal *legal) {
  return scatter_slice(legal, true);
}

// ---- Bounds that are tensors ----

static tvms_node *select(tvms_te *te, tvms_node *condition, tvms_node *yes,
                         tvms_node *no) {
  return condition && yes && no
             ? tvms_select_new(te->unit, condition, yes, no, TVMS_NO_SPAN)
             : NULL;
}

static tvms_node *clamp_loaded(tvms_te *te, tvms_node *place, tvms_node *extent,
                               tvms_node *stride) {
  tvms_node *backwards = LT(stride, INDEX(0));
  tvms_node *least = select(te, backwards, INDEX(-1), INDEX(0));
  tvms_node *most = select(te, backwards, SUB(extent, INDEX(1)), extent);
  place = select(te, LT(place, INDEX(0)), ADD(place, extent), place);
  return MIN(MAX(place, least), most);
}

// The tensors of the call: data, begin, end, strides.
static bool take_four(tvms_legal *legal, tvms_node *tensors[4]) {
  if (legal->call->args.len != 4) return false;
  for (uint32_t i = 0; i < 4; i++) {
    if (tvms_legal_is_prim(tvms_legal_arg(legal, i))) return false;
    tensors[i] = tvms_legal_tensor(legal, tvms_legal_arg(legal, i));
    if (i > 0 && tvms_te_shape(tensors[i]).len != 1) return false;
  }
  return true;
}

// How long each axis of the result is.
bool tvms_legalize_slice_shape(tvms_legal *legal) {
  legal->name = "shape_func";
  tvms_te *te = &legal->te;
  tvms_node *x[4], *at[4];
  if (!take_four(legal, x)) return false;
  tvms_list shape = tvms_te_shape(x[0]);
  const char *names[] = {"i"};
  tvms_stage stage;
  tvms_te_open_named(te, &stage, tvms_te_shape(x[1]), names);
  tvms_node *axis = stage.axes.items[0], *extent = INDEX(-1);
  for (uint32_t i = 0; i < shape.len; i++)
    extent = select(te, EQ(axis, INDEX(i)), shape.items[i], extent);
  for (uint32_t i = 1; i < 4; i++)
    at[i] = tvms_te_load(te, x[i], &axis, 1);
  tvms_node *stride = at[3];
  tvms_node *begin = clamp_loaded(te, at[1], extent, stride);
  tvms_node *end = clamp_loaded(te, at[2], extent, stride);
  tvms_node *opposite = tvms_build_negative(te->unit, stride, TVMS_NO_SPAN);
  tvms_node *length =
      select(te, LT(stride, INDEX(0)), ceil_div(te, SUB(begin, end), opposite),
             ceil_div(te, SUB(end, begin), stride));
  return tvms_legal_return(
      legal, tvms_te_close(&stage, "T_shape_func_strided_slice_dynamic", length));
}

bool tvms_legalize_dynamic_strided_slice(tvms_legal *legal) {
  legal->name = "dynamic_strided_slice";
  tvms_te *te = &legal->te;
  tvms_node *x[4];
  tvms_list shape;
  if (!take_four(legal, x)) return false;
  tvms_list from = tvms_te_shape(x[0]);
  if (!tvms_legal_result_shape(legal, &shape) || shape.len != from.len) return false;
  for (uint32_t i = 1; i < 4; i++) {
    if (!tvms_node_is_int(tvms_te_shape(x[i]).items[0], from.len)) return false;
  }
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "ax");
  tvms_list indices = tvms_list_copy(te->unit, stage.axes.items, shape.len);
  for (uint32_t i = 0; i < shape.len; i++) {
    tvms_node *at = INDEX(i);
    tvms_node *begin = tvms_te_load(te, x[1], &at, 1);
    tvms_node *stride = tvms_te_load(te, x[3], &at, 1);
    tvms_node *first = clamps_begin(te) ? clamp_place(te, begin, from.items[i], stride)
                                        : MIN(begin, SUB(from.items[i], INDEX(1)));
    indices.items[i] = ADD(MUL(indices.items[i], stride), first);
  }
  tvms_node *value = tvms_te_load(te, x[0], indices.items, indices.len);
  return tvms_legal_return(legal,
                           tvms_te_close(&stage, "T_strided_slice_dynamic", value));
}
