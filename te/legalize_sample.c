// Descriptions of image.affine_grid and image.grid_sample.
//
// A grid holds places between -1 and 1, x first. grid_sample turns them into places in the
// image, brings those outside back (border, reflection) or lets them be zero, and weighs the
// elements around each.
#include "te/element.h"
#include "te/legalizers.h"

#include <stdio.h>

enum { MOST_SPATIAL = 3, MOST_RANK = MOST_SPATIAL + 2, CUBIC_TAPS = 4 };

static tvms_node *real(tvms_te *te, double value) {
  return tvms_te_const(te, TVMS_DTYPE(FLOAT, 32), value);
}

static tvms_node *to_int(tvms_te *te, tvms_node *x) {
  return tvms_te_convert(te, TVMS_DTYPE(INT, 32), x);
}

// ---- affine_grid ----

// Where the grid begins along an axis, and its step.
static void grid_steps(int64_t size, bool corners, double *start, double *step) {
  *start = corners ? -1.0 : -1.0 + 1.0 / (double)size;
  *step = corners ? (2.0 - 1e-7) / (double)(size - 1) : 2.0 / (double)size;
}

bool tvms_legalize_affine_grid(tvms_legal *legal) {
  static const char *const flat[] = {"n", "dim", "i", "j"};
  static const char *const any[] = {"n", "dim", "i0", "i1", "i2"};
  legal->name = "affine_grid";
  tvms_te *te = &legal->te;
  tvms_list size;
  tvms_node *data = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  if (!tvms_legal_shape(legal, tvms_legal_arg(legal, 1), &size)) return false;
  bool corners =
      tvms_attr_bool(legal->call, TVMS_ATTR_affine_grid_align_corners)
      || !tvms_release_has(te->unit->dialect, TVMS_FACT_affine_grids_choose_corners);
  tvms_dtype dtype = tvms_te_dtype(data);
  tvms_node *dims[MOST_RANK] = {tvms_te_shape(data).items[0], INT32(size.len)};
  if (size.len > MOST_SPATIAL) return false;
  for (uint32_t i = 0; i < size.len; i++) {
    if (!tvms_node_is_int_imm(size.items[i])) return false;
    dims[2 + i] = INT32(tvms_as_int_imm(size.items[i])->value);
    if (corners && tvms_as_int_imm(size.items[i])->value < 2) return false;
  }
  tvms_stage stage;
  bool by_name =
      !tvms_release_has(te->unit->dialect, TVMS_FACT_affine_grids_choose_corners);
  if (by_name && size.len != 2) return false;
  tvms_te_open_named(te, &stage, tvms_list_copy(te->unit, dims, 2 + size.len),
                     by_name ? flat : any);
  tvms_node *at[] = {stage.axes.items[0], stage.axes.items[1], INT32(size.len)};
  tvms_node *moved = tvms_te_load(te, data, at, 3), *value = by_name ? NULL : moved;
  for (uint32_t n = 0; n < size.len; n++) {
    uint32_t i = by_name ? size.len - 1 - n : n;
    double start, step;
    grid_steps(tvms_as_int_imm(size.items[i])->value, corners, &start, &step);
    tvms_node *place = MUL(stage.axes.items[2 + i], tvms_te_const(te, dtype, step));
    place = ADD(tvms_te_const(te, dtype, start), place);
    at[2] = INT32(size.len - 1 - i);
    place = MUL(tvms_te_load(te, data, at, 3), place);
    value = value ? ADD(value, place) : place;
  }
  if (by_name) value = ADD(value, moved);
  return tvms_legal_return(legal, tvms_te_close(&stage, "compute", value));
}

// ---- grid_sample ----

typedef struct {
  tvms_te *te;
  tvms_node *data, *grid;
  uint32_t spatial;
  bool corners, reflects, clamps;
  tvms_node *const *axes;           // of the stage: n, c, then the spatial ones
  tvms_node *length[MOST_SPATIAL];  // of the data
  tvms_node *place[MOST_SPATIAL];   // in the data
} sample;

// What lies outside of the data is zero.
static tvms_node *pixel(const sample *s, tvms_node *const *at) {
  tvms_te *te = s->te;
  tvms_node *inside = NULL, *indices[MOST_RANK] = {s->axes[0], s->axes[1]};
  for (uint32_t i = 0; i < s->spatial; i++) {
    tvms_node *low = GE(at[i], INT32(0));
    inside = inside ? AND(inside, low) : low;
    indices[2 + i] = at[i];
    if (!at[i]) return NULL;
  }
  for (uint32_t i = 0; i < s->spatial; i++)
    inside = AND(inside, LT(at[i], s->length[i]));
  tvms_node *value = tvms_te_load(te, s->data, indices, 2 + s->spatial);
  return IF(inside, value, tvms_te_const(te, value->dtype, 0));
}

static tvms_node *clamped(const sample *s, tvms_node *x, uint32_t i) {
  tvms_te *te = s->te;
  return MIN(MAX(x, INT32(0)), SUB(s->length[i], INT32(1)));
}

// A place outside, thrown back at the edges as often as it takes.
static tvms_node *thrown_back(tvms_te *te, tvms_node *x, tvms_node *size,
                              tvms_node *corner) {
  tvms_node *away = SUB(corner, x);
  away = away ? tvms_build_abs(te->unit, away, TVMS_NO_SPAN) : NULL;
  tvms_node *whole = to_int(te, away);
  tvms_node *times =
      whole ? tvms_build_trunc_div(te->unit, whole, size, TVMS_NO_SPAN) : NULL;
  times = to_int(te, times);
  tvms_node *extra = SUB(away, MUL(times, size));
  if (!times || !extra) return NULL;
  tvms_node *odd =
      tvms_build_node(te->unit, TVMS_NODE_MOD, times, INT32(2), TVMS_NO_SPAN);
  if (!odd) return NULL;
  tvms_node *even =
      tvms_build_node(te->unit, TVMS_NODE_EQ, odd, INT32(0), TVMS_NO_SPAN);
  return IF(even, ADD(extra, corner), ADD(SUB(size, extra), corner));
}

static tvms_node *reflected(const sample *s, tvms_node *x, uint32_t i) {
  tvms_te *te = s->te;
  tvms_node *size = s->corners ? SUB(s->length[i], INT32(1)) : s->length[i];
  tvms_node *corner = s->corners ? INT32(0) : real(te, -0.5);
  tvms_node *inside = AND(GE(x, corner), LE(x, ADD(size, corner)));
  return IF(inside, x, thrown_back(te, x, size, corner));
}

static tvms_node *brought_back(const sample *s, tvms_node *x, uint32_t i) {
  if (s->reflects) x = reflected(s, x, i);
  return s->reflects || s->clamps ? clamped(s, x, i) : x;
}

// Reads the places of an element from the grid; the last axis has the first one.
static void read_places(sample *s) {
  tvms_te *te = s->te;
  tvms_node *at[MOST_RANK] = {s->axes[0]};
  for (uint32_t i = 0; i < s->spatial; i++)
    at[2 + i] = s->axes[2 + i];
  for (uint32_t i = 0; i < s->spatial; i++) {
    at[1] = INT32(s->spatial - 1 - i);
    tvms_node *x = ADD(tvms_te_load(te, s->grid, at, 2 + s->spatial), INT32(1));
    s->place[i] = s->corners ? DIV(MUL(x, SUB(s->length[i], INT32(1))), INT32(2))
                             : ADD(real(te, -0.5), DIV(MUL(x, s->length[i]), INT32(2)));
  }
}

static tvms_node *nearest(const sample *s) {
  tvms_te *te = s->te;
  tvms_node *at[MOST_SPATIAL];
  for (uint32_t i = 0; i < s->spatial; i++) {
    tvms_node *x = brought_back(s, s->place[i], i);
    at[i] = to_int(te, tvms_te_round(te, TVMS_TIR_nearbyint, x));
  }
  return pixel(s, at);
}

// The 4 or 8 elements around. Bit `i` of `corners` picks the second one along axis `i`.
static tvms_node *linear(const sample *s) {
  static const uint8_t squares[] = {0, 2, 1, 3};
  static const uint8_t cubes[] = {0, 4, 3, 7, 2, 5, 1, 6};
  tvms_te *te = s->te;
  tvms_node *first[MOST_SPATIAL], *share[MOST_SPATIAL], *value = NULL;
  for (uint32_t i = 0; i < s->spatial; i++) {
    tvms_node *x = brought_back(s, s->place[i], i);
    first[i] = to_int(te, tvms_te_round(te, TVMS_TIR_floor, x));
    share[i] = SUB(x, first[i]);
  }
  for (uint32_t k = 0; k < 1u << s->spatial; k++) {
    uint8_t corners = s->spatial == 2 ? squares[k] : cubes[k];
    tvms_node *at[MOST_SPATIAL];
    for (uint32_t i = 0; i < s->spatial; i++)
      at[i] = corners >> i & 1 ? ADD(first[i], INT32(1)) : first[i];
    tvms_node *part = pixel(s, at);
    for (uint32_t n = 0; n < s->spatial; n++) {
      // Two dimensions are weighed from the first axis on, three from the last.
      uint32_t i = s->spatial == 2 ? n : s->spatial - 1 - n;
      part = MUL(part, corners >> i & 1 ? share[i] : SUB(real(te, 1), share[i]));
    }
    value = value ? ADD(value, part) : part;
  }
  return value;
}

// ---- Bicubic ----

static tvms_node *near_weight(tvms_te *te, tvms_node *t) {
  tvms_node *y = SUB(MUL(real(te, 1.25), t), real(te, 2.25));
  return ADD(MUL(MUL(y, t), t), INT32(1));
}

static tvms_node *far_weight(tvms_te *te, tvms_node *t) {
  tvms_node *y = SUB(MUL(real(te, -0.75), t), real(te, -3.75));
  y = ADD(MUL(y, t), real(te, -6));
  return SUB(MUL(y, t), real(te, -3));
}

static tvms_node *cubic_of(tvms_te *te, tvms_node *const values[CUBIC_TAPS],
                           tvms_node *t) {
  tvms_node *weights[] = {
      far_weight(te, ADD(t, INT32(1))),
      near_weight(te, t),
      near_weight(te, SUB(INT32(1), t)),
      far_weight(te, SUB(INT32(2), t)),
  };
  tvms_node *sum = MUL(values[0], weights[0]);
  for (int i = 1; i < CUBIC_TAPS; i++)
    sum = ADD(sum, MUL(values[i], weights[i]));
  return sum;
}

static tvms_node *bicubic(const sample *s) {
  tvms_te *te = s->te;
  tvms_node *first[2], *share[2], *columns[CUBIC_TAPS], *rows[CUBIC_TAPS];
  for (uint32_t i = 0; i < 2; i++) {
    first[i] = to_int(te, tvms_te_round(te, TVMS_TIR_floor, s->place[i]));
    share[i] = SUB(s->place[i], first[i]);
  }
  bool moves = s->reflects || s->clamps;
  for (int i = 0; i < CUBIC_TAPS; i++) {
    tvms_node *at[2] = {ADD(SUB(first[0], INT32(1)), INT32(i))};
    if (moves) at[0] = to_int(te, brought_back(s, at[0], 0));
    for (int k = 0; k < CUBIC_TAPS; k++) {
      at[1] = k ? ADD(first[1], INT32(k - 1)) : SUB(first[1], INT32(1));
      if (moves) at[1] = to_int(te, brought_back(s, at[1], 1));
      columns[k] = pixel(s, at);
    }
    rows[i] = cubic_of(te, columns, share[1]);
  }
  return cubic_of(te, rows, share[0]);
}

static tvms_node *sampled(const sample *s, tvms_bytes method) {
  if (tvms_bytes_is(method, "nearest")) return nearest(s);
  if (tvms_bytes_is(method, "bilinear")) return linear(s);
  return tvms_bytes_is(method, "bicubic") && s->spatial == 2 ? bicubic(s) : NULL;
}

bool tvms_legalize_grid_sample(tvms_legal *legal) {
  static const char *const flat[] = {"n", "c", "h", "w"};
  static const char *const deep[] = {"n", "c", "d", "h", "w"};
  legal->name = "grid_sample";
  const tvms_call *call = legal->call;
  tvms_bytes layout = tvms_attr_text(call, TVMS_ATTR_grid_sample_layout);
  tvms_bytes mode = tvms_attr_text(call, TVMS_ATTR_grid_sample_padding_mode);
  bool is_flat = tvms_bytes_is(layout, "NCHW");
  if (!is_flat && !tvms_bytes_is(layout, "NCDHW")) return false;
  sample s = {.te = &legal->te, .spatial = is_flat ? 2 : 3};
  s.corners = tvms_attr_bool(call, TVMS_ATTR_grid_sample_align_corners);
  s.reflects = tvms_bytes_is(mode, "reflection");
  s.clamps = tvms_bytes_is(mode, "border");
  s.data = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  s.grid = tvms_legal_tensor(legal, tvms_legal_arg(legal, 1));
  tvms_list from = tvms_te_shape(s.data), to = tvms_te_shape(s.grid);
  tvms_list shape = tvms_list_copy(s.te->unit, from.items, from.len);
  for (uint32_t i = 0; i < s.spatial; i++) {
    s.length[i] = from.items[2 + i];
    shape.items[2 + i] = to.items[2 + i];
    // TVM fails where a reflection would divide by zero.
    if (s.reflects && s.corners && tvms_node_is_int(s.length[i], 1)) return false;
  }
  tvms_stage stage;
  tvms_te_open_named(s.te, &stage, shape, is_flat ? flat : deep);
  s.axes = stage.axes.items;
  read_places(&s);
  tvms_node *value = sampled(&s, tvms_attr_text(call, TVMS_ATTR_grid_sample_method));
  return tvms_legal_return(legal, tvms_te_close(&stage, "compute", value));
}
