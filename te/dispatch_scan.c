// Descriptions of running sums and products, which DispatchSortScan asks for: one loop over the
// rows, and one in it along the axis, where every element is the one before it and one more.
// TVM: relax/backend/dispatch_sort_scan.py and topi/scan.py.
#include "te/dispatch_scan.h"

#include "te/element.h"
#include "te/extern.h"
#include "te/legalizers.h"

// In the place of an axis: all elements are one row.
#define NO_AXIS INT64_MIN

typedef struct {
  tvms_te *te;
  tvms_node_kind kind;  // what combines two elements
  tvms_node *data, *out;
  tvms_node *length,
      *behind;  // of the axis; elements from one of its places to the next
  bool exclusive;
} scan;

static tvms_node *element(const scan *s, tvms_node *place) {
  return tvms_te_convert(s->te, tvms_te_dtype(s->out),
                         tvms_te_flat_load(s->te, s->data, place));
}

// What stands first: the element there, or what changes nothing.
static tvms_node *first(const scan *s, tvms_node *place) {
  tvms_te *te = s->te;
  int identity = s->kind == TVMS_NODE_MUL;
  tvms_node *value = s->exclusive ? tvms_te_const(te, tvms_te_dtype(s->out), identity)
                                  : element(s, place);
  return tvms_te_flat_store(te, s->out, place, value);
}

static tvms_node *row(const scan *s, tvms_node *begin) {
  tvms_te *te = s->te;
  tvms_node *count = SUB(s->length, INT32(1));
  if (!count || !begin) return NULL;
  tvms_node *turn = tvms_te_loop_var(te, "_k", count), *k = ADD(turn, INT32(1));
  tvms_node *here = ADD(begin, MUL(k, s->behind));
  tvms_node *before = ADD(begin, MUL(SUB(k, INT32(1)), s->behind));
  tvms_node *added = element(s, s->exclusive ? before : here);
  tvms_node *sum =
      tvms_te_apply(te, s->kind, tvms_te_flat_load(te, s->out, before), added);
  tvms_node *body = tvms_te_flat_store(te, s->out, here, sum);
  tvms_node *stmts[] = {first(s, begin),
                        tvms_te_loop(te, TVMS_FOR_SERIAL, turn, count, body)};
  return tvms_te_sequence(te, stmts, 2);
}

// `axis` NULL: all elements are one row.
static tvms_node *scanned(scan *s, const uint32_t *TVMS_NULLABLE axis, tvms_dtype dtype,
                          const char *block) {
  tvms_te *te = s->te;
  tvms_list shape = tvms_te_shape(s->data);
  s->length = axis ? shape.items[*axis] : tvms_te_product(te, shape, 0, shape.len);
  tvms_node *before = tvms_te_product(te, shape, 0, axis ? *axis : 0);
  s->behind = axis ? tvms_te_product(te, shape, *axis + 1, shape.len) : INT32(1);
  if (!axis) shape = tvms_list_copy(te->unit, &s->length, 1);
  s->out = tvms_te_extern_output(te, "out_buf", shape, dtype, false);
  tvms_node *count = MUL(before, s->behind);
  if (!count) return NULL;
  tvms_node *fused = tvms_te_loop_var(te, "fused", count);
  tvms_node *i = FLOOR_DIV(fused, s->behind), *j = FLOOR_MOD(fused, s->behind);
  tvms_node *begin = ADD(MUL(MUL(i, s->length), s->behind), j);
  tvms_node *loop = tvms_te_loop(te, TVMS_FOR_PARALLEL, fused, count, row(s, begin));
  if (!loop) return NULL;
  tvms_te_extern_close(te, s->out, block, &loop, 1);
  return s->out;
}

static const char sums[] = "cumsum_generic", products[] = "cumprod_generic";

tvms_node *tvms_te_cumsum(tvms_te *te, tvms_node *x, const uint32_t *axis,
                          bool exclusive, tvms_dtype dtype) {
  scan s = {.te = te, .kind = TVMS_NODE_ADD, .data = x, .exclusive = exclusive};
  return scanned(&s, axis, dtype, sums);
}

static bool describe(tvms_legal *legal, tvms_node_kind kind, const char *block) {
  tvms_te *te = &legal->te;
  tvms_dtype dtype = tvms_legal_result_dtype(legal);
  scan s = {.te = te, .kind = kind};
  s.exclusive = tvms_attr_bool(legal->call, TVMS_ATTR_scan_exclusive);
  s.data = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_te_extern_input(te, s.data);
  uint32_t rank = tvms_te_shape(s.data).len;
  int64_t given = tvms_attr_int(legal->call, TVMS_ATTR_scan_axis, NO_AXIS);
  bool flat = given == NO_AXIS;
  uint32_t axis = flat ? 0 : tvms_legal_axis(given, rank);
  if (axis >= rank) return false;
  return tvms_legal_return(legal, scanned(&s, flat ? NULL : &axis, dtype, block));
}

bool tvms_te_dispatch_cumsum(tvms_legal *legal) {
  legal->name = "cumsum";
  return describe(legal, TVMS_NODE_ADD, sums);
}

bool tvms_te_dispatch_cumprod(tvms_legal *legal) {
  legal->name = "cumprod";
  return describe(legal, TVMS_NODE_MUL, products);
}
