// Descriptions that are statements: grad.take_backward and vision.get_valid_counts.
//
// take_backward adds every element of the gradient to where it was taken from, which may be
// the same place several times. get_valid_counts moves the boxes that score enough to the
// front and counts them; -1 fills the rest.
#include "te/element.h"
#include "te/extern.h"
#include "te/legalizers.h"

// Since 0.25 TVM builds such bodies with its script builder; what it made before is not known
// here.
static bool is_built_by_script(const tvms_te *te) {
  return !tvms_release_has(te->unit->dialect, TVMS_FACT_externs_name_loops);
}

// ---- take_backward ----

static tvms_node *add_flat(tvms_te *te, tvms_node *tensor, tvms_node *position,
                           tvms_node *value) {
  tvms_node *sum = ADD(tvms_te_flat_load(te, tensor, position), value);
  return tvms_te_flat_store(te, tensor, position, sum);
}

typedef struct {
  tvms_te *te;
  tvms_node *gradient, *data, *places, *out;
} take;

// Elements are taken from the data as a row.
static tvms_node *gather_row(const take *t) {
  tvms_te *te = t->te;
  tvms_node *count = tvms_te_shape(t->places).items[0];
  tvms_node *l = tvms_te_loop_var(te, "serial", count);
  tvms_node *place = tvms_te_load(te, t->places, &l, 1);
  tvms_node *body = add_flat(te, t->out, place, tvms_te_flat_load(te, t->gradient, l));
  return tvms_te_loop(te, TVMS_FOR_SERIAL, l, count, body);
}

// Slices are taken along an axis.
static tvms_node *gather_slices(const take *t, uint32_t axis) {
  tvms_te *te = t->te;
  tvms_list shape = tvms_te_shape(t->gradient);
  tvms_node *before = INT32(1), *behind = INT32(1);
  for (uint32_t i = 0; i < shape.len; i++) {
    if (i < axis) before = MUL(before, shape.items[i]);
    if (i > axis) behind = MUL(behind, shape.items[i]);
  }
  tvms_node *count = tvms_te_shape(t->places).items[0];
  tvms_node *length = tvms_te_shape(t->data).items[axis];
  tvms_node *slices = MUL(before, behind);
  tvms_node *fused = tvms_te_loop_var(te, "parallel", slices),
            *l = tvms_te_loop_var(te, "serial", count);
  tvms_node *i = FLOOR_DIV(fused, behind), *j = FLOOR_MOD(fused, behind);
  tvms_node *place = MUL(tvms_te_load(te, t->places, &l, 1), behind);
  tvms_node *to = ADD(ADD(MUL(MUL(i, behind), length), place), j);
  tvms_node *from = ADD(ADD(MUL(MUL(i, behind), count), MUL(l, behind)), j);
  if (!to || !from) return NULL;
  tvms_node *body = add_flat(te, t->out, to, tvms_te_flat_load(te, t->gradient, from));
  body = tvms_te_loop(te, TVMS_FOR_SERIAL, l, count, body);
  return tvms_te_loop(te, TVMS_FOR_SERIAL, fused, slices, body);
}

bool tvms_legalize_take_backward(tvms_legal *legal) {
  legal->name = "take_backward";
  tvms_te *te = &legal->te;
  bool has_axis = tvms_attr(legal->call, TVMS_ATTR_take_axis) != NULL;
  int64_t axis = tvms_attr_int(legal->call, TVMS_ATTR_take_axis, 0);
  take t = {.te = te};
  tvms_node **args[] = {&t.gradient, &t.data, &t.places};
  for (uint32_t i = 0; i < 3; i++) {
    *args[i] = tvms_legal_tensor(legal, tvms_legal_arg(legal, i));
    tvms_te_extern_input(te, *args[i]);
  }
  tvms_list shape = tvms_te_shape(t.data);
  if (tvms_te_shape(t.places).len != 1 || axis < 0) return false;
  if (shape.len == 0 || axis >= (int64_t)shape.len) return false;
  t.out = tvms_te_extern_output(te, "out_buf", shape, tvms_te_dtype(t.data), false);
  tvms_node *size = INT32(1);
  for (uint32_t i = 0; i < shape.len; i++)
    size = MUL(size, shape.items[i]);
  tvms_node *i = tvms_te_loop_var(te, "i", size);
  tvms_node *zero = tvms_te_const(te, tvms_te_dtype(t.data), 0);
  tvms_node *parts[] = {
      tvms_te_extern_scope(te),  // of the script builder
      tvms_te_loop(te, TVMS_FOR_SERIAL, i, size,
                   tvms_te_flat_store(te, t.out, i, zero)),
      has_axis ? gather_slices(&t, (uint32_t)axis) : gather_row(&t),
  };
  if (!tvms_te_sequence(te, parts, 3)) return false;
  uint32_t from = is_built_by_script(te) ? 0 : 1;
  tvms_te_extern_close(te, t.out, "take_backward", parts + from, 3 - from);
  return tvms_legal_return(legal, t.out);
}

// ---- get_valid_counts ----

typedef struct {
  tvms_te *te;
  tvms_node *data, *counts, *boxes, *indices;
  tvms_node *i;  // the image
  tvms_node *anchors, *width;
} valid;

static tvms_node *count_of(const valid *v) {
  return tvms_te_load(v->te, v->counts, &v->i, 1);
}

// A row of the result, from the data or of -1.
static tvms_node *write_row(const valid *v, tvms_node *row, tvms_node *from) {
  tvms_te *te = v->te;
  tvms_node *k = tvms_te_loop_var(te, "k", v->width), *at[] = {v->i, row, k}, *value;
  if (from) {
    tvms_node *place[] = {v->i, from, k};
    value = tvms_te_load(te, v->data, place, 3);
  } else {
    tvms_node *minus_one = tvms_te_const(te, TVMS_DTYPE(FLOAT, 32), -1);
    tvms_cast *cast = tvms_node_make(te->unit, CAST, TVMS_NO_SPAN);
    cast->head.dtype = tvms_te_dtype(v->data);
    cast->value = minus_one;
    value = &cast->head;
  }
  tvms_node *body = tvms_te_store(te, v->boxes, at, 3, value);
  return tvms_te_loop(te, TVMS_FOR_SERIAL, k, v->width, body);
}

// Moves the boxes that count to the front.
static tvms_node *collect(const valid *v, const tvms_call *call) {
  tvms_te *te = v->te;
  int64_t id = tvms_attr_int(call, TVMS_ATTR_get_valid_counts_id_index, 0);
  int64_t score = tvms_attr_int(call, TVMS_ATTR_get_valid_counts_score_index, 1);
  double least = tvms_attr_float(call, TVMS_ATTR_get_valid_counts_score_threshold, 0);
  tvms_node *j = tvms_te_loop_var(te, "j", v->anchors);
  tvms_node *at[] = {v->i, j, INT32(score)};
  tvms_node *counts = GT(tvms_te_load(te, v->data, at, 3),
                         tvms_te_const(te, tvms_te_dtype(v->data), least));
  if (id >= 0) {
    at[2] = INT32(id);
    counts = AND(counts, GE(tvms_te_load(te, v->data, at, 3), INT32(0)));
  }
  tvms_node *to[] = {v->i, count_of(v)};
  tvms_node *parts[] = {
      write_row(v, count_of(v), j),
      tvms_te_store(te, v->indices, to, 2, j),
      tvms_te_store(te, v->counts, &v->i, 1, ADD(count_of(v), INT32(1))),
  };
  tvms_node *body = tvms_te_when(te, counts, tvms_te_sequence(te, parts, 3));
  return tvms_te_loop(te, TVMS_FOR_SERIAL, j, v->anchors, body);
}

static tvms_node *fill_rest(const valid *v) {
  tvms_te *te = v->te;
  tvms_node *j = tvms_te_loop_var(te, "j", v->anchors), *to[] = {v->i, j};
  tvms_node *parts[] = {
      write_row(v, j, NULL),
      tvms_te_store(te, v->indices, to, 2, INT32(-1)),
  };
  tvms_node *behind = GE(j, count_of(v));
  tvms_node *body = tvms_te_when(te, behind, tvms_te_sequence(te, parts, 2));
  return tvms_te_loop(te, TVMS_FOR_SERIAL, j, v->anchors, body);
}

bool tvms_legalize_get_valid_counts(tvms_legal *legal) {
  legal->name = "get_valid_counts";
  tvms_te *te = &legal->te;
  if (!is_built_by_script(te)) return false;
  valid v = {.te = te};
  v.data = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_te_extern_rename(te, v.data, "data");
  tvms_list shape = tvms_te_shape(v.data);
  tvms_list images = {shape.items, 1}, rows = {shape.items, 2};
  tvms_dtype i32 = TVMS_DTYPE(INT, 32);
  v.anchors = shape.items[1];
  v.width = shape.items[2];
  v.counts = tvms_te_extern_output(te, "valid_count", images, i32, false);
  v.boxes =
      tvms_te_extern_output(te, "out_tensor", shape, tvms_te_dtype(v.data), false);
  v.indices = tvms_te_extern_output(te, "out_indices", rows, i32, false);
  v.i = tvms_te_loop_var(te, "i", shape.items[0]);
  tvms_node *parts[] = {
      tvms_te_store(te, v.counts, &v.i, 1, INT32(0)),
      collect(&v, legal->call),
      fill_rest(&v),
  };
  tvms_node *body = tvms_te_sequence(te, parts, 3);
  body = tvms_te_loop(te, TVMS_FOR_PARALLEL, v.i, shape.items[0], body);
  if (!body) return false;
  tvms_te_extern_close(te, v.counts, "get_valid_counts", &body, 1);
  return tvms_legal_return(legal, v.counts) && tvms_legal_return(legal, v.boxes)
         && tvms_legal_return(legal, v.indices);
}
