// Descriptions of vision.roi_align, vision.roi_pool and vision.multibox_transform_loc: boxes of
// an image, cut into bins of one size, and boxes decoded from offsets to anchors.
//
// A region is a row of five: the image's number, then x and y of two corners. roi_align takes
// samples between the elements, weighed by their distance; roi_pool takes the greatest element
// of each bin.
#include "te/element.h"
#include "te/legalizers.h"
#include "te/softmax.h"

#include <math.h>

enum { Y, X, BOTH };

typedef struct {
  tvms_te *te;
  tvms_node *data, *rois;
  tvms_dtype dtype;         // of the regions
  tvms_node *scale;         // from the regions to the data
  tvms_node *length[BOTH];  // of the data
  int64_t bins[BOTH];
  tvms_node *region, *channel, *bin[BOTH];  // axes of the stage
} pooled;

static tvms_node *real(const pooled *p, double value) {
  return tvms_te_const(p->te, p->dtype, value);
}

static tvms_node *to_real(const pooled *p, tvms_node *x) {
  return tvms_te_convert(p->te, p->dtype, x);
}

static tvms_node *to_int(const pooled *p, tvms_node *x) {
  return tvms_te_convert(p->te, TVMS_DTYPE(INT, 32), x);
}

static tvms_node *field(const pooled *p, int64_t i) {
  tvms_te *te = p->te;
  tvms_node *at[] = {p->region, INT32(i)};
  return tvms_te_load(te, p->rois, at, 2);
}

// A corner of the region along an axis, in the data: the first or the second.
static tvms_node *corner(const pooled *p, int axis, bool second) {
  tvms_te *te = p->te;
  return MUL(field(p, (axis == Y ? 2 : 1) + (second ? 2 : 0)), p->scale);
}

// ---- roi_align ----

typedef struct {
  pooled p;
  bool aligned, last;  // channels are the last axis
  int64_t ratio;  // samples a bin along each axis; 0 or less: as many as it is long
} aligned;

static tvms_node *bin_length(const aligned *a, int axis) {
  const pooled *p = &a->p;
  tvms_te *te = p->te;
  tvms_node *length = SUB(corner(p, axis, true), corner(p, axis, false));
  if (!a->aligned) length = MAX(length, real(p, 1));
  return DIV(length, real(p, (double)p->bins[axis]));
}

static tvms_node *samples(const aligned *a, int axis) {
  tvms_te *te = a->p.te;
  if (a->ratio > 0) return INT32(a->ratio);
  return to_int(&a->p, tvms_te_round(te, TVMS_TIR_ceil, bin_length(a, axis)));
}

// Where a sample of the bin is.
static tvms_node *sample_place(const aligned *a, int axis, tvms_node *step) {
  const pooled *p = &a->p;
  tvms_te *te = p->te;
  tvms_node *length = bin_length(a, axis);
  tvms_node *start = ADD(corner(p, axis, false), MUL(to_real(p, p->bin[axis]), length));
  tvms_node *inside = MUL(ADD(to_real(p, step), real(p, 0.5)), length);
  return ADD(start, DIV(inside, to_real(p, samples(a, axis))));
}

static tvms_node *weighed_pixel(const aligned *a, tvms_node *const *at,
                                tvms_node *const *weights) {
  const pooled *p = &a->p;
  tvms_te *te = p->te;
  tvms_node *inside = NULL;
  for (int i = 0; i < BOTH; i++) {
    tvms_node *low = LE(INT32(0), at[i]);
    inside = inside ? AND(inside, low) : low;
    inside = AND(inside, LE(at[i], SUB(p->length[i], INT32(1))));
  }
  tvms_node *image = to_int(p, field(p, 0));
  tvms_node *plain[] = {image, p->channel, at[Y], at[X]};
  tvms_node *last[] = {image, at[Y], at[X], p->channel};
  if (!inside) return NULL;
  tvms_node *value = tvms_te_load(te, p->data, a->last ? last : plain, 4);
  return IF(inside, MUL(MUL(weights[X], weights[Y]), value), INT32(0));
}

// The four elements around a place, weighed; zero where it is outside of the data.
static tvms_node *between(const aligned *a, tvms_node *const *places) {
  const pooled *p = &a->p;
  tvms_te *te = p->te;
  tvms_node *low[BOTH], *high_share[BOTH], *low_share[BOTH], *outside = NULL;
  for (int i = Y; i <= X; i++) {
    tvms_node *before = LT(places[i], tvms_te_const(te, TVMS_DTYPE(FLOAT, 32), -1));
    outside = outside ? OR(outside, before) : before;
  }
  for (int i = Y; i <= X; i++) {
    outside = OR(outside, GT(places[i], to_real(p, p->length[i])));
    tvms_node *last = to_real(p, SUB(p->length[i], INT32(1)));
    tvms_node *zero = tvms_te_const(te, TVMS_DTYPE(FLOAT, 32), 0);
    tvms_node *place = MIN(MAX(places[i], zero), last);
    low[i] = to_int(p, tvms_te_round(te, TVMS_TIR_floor, place));
    high_share[i] = SUB(place, low[i]);
    low_share[i] = SUB(INT32(1), high_share[i]);
  }
  tvms_node *sum = INT32(0);
  for (int k = 0; k < 4; k++) {
    bool high[BOTH] = {[Y] = k & 1, [X] = k >> 1};
    tvms_node *at[BOTH], *weights[BOTH];
    for (int i = 0; i < BOTH; i++) {
      at[i] = high[i] ? ADD(low[i], INT32(1)) : low[i];
      weights[i] = high[i] ? high_share[i] : low_share[i];
    }
    sum = ADD(sum, weighed_pixel(a, at, weights));
  }
  return IF(outside, tvms_te_const(te, tvms_te_dtype(p->data), 0), sum);
}

static void read_bins(pooled *p, tvms_list size) {
  for (uint32_t i = 0; i < BOTH; i++)
    p->bins[i] = tvms_attr_item_int(size.items[size.len > 1 ? i : 0]);
}

static pooled open_pooled(tvms_legal *legal, double scale) {
  pooled p = {.te = &legal->te};
  p.data = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  p.rois = tvms_legal_tensor(legal, tvms_legal_arg(legal, 1));
  p.dtype = tvms_te_dtype(p.rois);
  p.scale = tvms_te_const(p.te, TVMS_DTYPE(FLOAT, 32), scale);
  return p;
}

bool tvms_legalize_roi_align(tvms_legal *legal) {
  static const char *const plain[] = {"i", "c", "ph", "pw"};
  static const char *const last[] = {"i", "ph", "pw", "c"};
  legal->name = "roi_align";
  tvms_te *te = &legal->te;
  const tvms_call *call = legal->call;
  tvms_bytes layout = tvms_attr_text(call, TVMS_ATTR_roi_align_layout);
  bool mean = tvms_bytes_is(tvms_attr_text(call, TVMS_ATTR_roi_align_mode), "avg");
  aligned a = {.last = tvms_bytes_is(layout, "NHWC")};
  if (!a.last && !tvms_bytes_is(layout, "NCHW")) return false;
  double scale = tvms_attr_float(call, TVMS_ATTR_roi_align_spatial_scale, 1);
  a.p = open_pooled(legal, scale);
  a.aligned = tvms_attr_bool(call, TVMS_ATTR_roi_align_aligned);
  a.ratio = tvms_attr_int(call, TVMS_ATTR_roi_align_sample_ratio, -1);
  pooled *p = &a.p;
  read_bins(p, tvms_attr_list(call, TVMS_ATTR_roi_align_pooled_size));
  tvms_list from = tvms_te_shape(p->data);
  tvms_list shape = tvms_list_copy(te->unit, from.items, from.len);
  uint32_t first = a.last ? 1 : 2;
  shape.items[0] = tvms_te_shape(p->rois).items[0];
  for (uint32_t i = 0; i < BOTH; i++) {
    p->length[i] = from.items[first + i];
    shape.items[first + i] = INT32(p->bins[i]);
  }
  tvms_stage stage;
  tvms_te_open_named(te, &stage, shape, a.last ? last : plain);
  p->region = stage.axes.items[0];
  p->channel = stage.axes.items[a.last ? 3 : 1];
  for (uint32_t i = 0; i < BOTH; i++)
    p->bin[i] = stage.axes.items[first + i];
  tvms_node *counts[] = {samples(&a, Y), samples(&a, X)}, *places[BOTH];
  if (!counts[Y] || !counts[X]) return false;
  tvms_node *steps[] = {tvms_te_reduce(&stage, "rh", counts[Y]),
                        tvms_te_reduce(&stage, "rw", counts[X])};
  for (int i = 0; i < BOTH; i++)
    places[i] = sample_place(&a, i, steps[i]);
  tvms_node *value = between(&a, places);
  if (mean) value = DIV(value, to_real(p, MUL(counts[Y], counts[X])));
  return tvms_legal_return(
      legal, tvms_te_close_fold(&stage, "compute", mean ? TVMS_FOLD_SUM : TVMS_FOLD_MAX,
                                value));
}

// ---- roi_pool ----

// Halves go up.
static tvms_node *rounded_corner(const pooled *p, int axis, bool second) {
  tvms_te *te = p->te;
  tvms_node *x = ADD(corner(p, axis, second), real(p, 0.5));
  return to_int(p, tvms_te_round(te, TVMS_TIR_floor, x));
}

// Where a bin begins, or ends, in the data.
static tvms_node *bin_edge(const pooled *p, int axis, bool end) {
  tvms_te *te = p->te;
  tvms_node *start = rounded_corner(p, axis, false);
  tvms_node *length = ADD(SUB(rounded_corner(p, axis, true), start), INT32(1));
  length = to_real(p, MAX(length, INT32(1)));
  tvms_node *width = DIV(length, real(p, (double)p->bins[axis]));
  tvms_node *bin = end ? ADD(p->bin[axis], INT32(1)) : p->bin[axis];
  tvms_node *edge = tvms_te_round(te, end ? TVMS_TIR_ceil : TVMS_TIR_floor,
                                  MUL(to_real(p, bin), width));
  edge = ADD(to_int(p, edge), start);
  return MIN(MAX(edge, INT32(0)), p->length[axis]);
}

static tvms_list open_bins(pooled *p, tvms_stage *stage) {
  static const char *const names[] = {"i", "c", "ph", "pw"};
  tvms_te *te = p->te;
  tvms_list from = tvms_te_shape(p->data);
  tvms_node *dims[] = {tvms_te_shape(p->rois).items[0], from.items[1],
                       INT32(p->bins[Y]), INT32(p->bins[X])};
  tvms_list shape = tvms_list_copy(te->unit, dims, 4);
  tvms_te_open_named(te, stage, shape, names);
  p->region = stage->axes.items[0];
  p->channel = stage->axes.items[1];
  for (uint32_t i = 0; i < BOTH; i++) {
    p->bin[i] = stage->axes.items[2 + i];
    p->length[i] = from.items[2 + i];
  }
  return shape;
}

bool tvms_legalize_roi_pool(tvms_legal *legal) {
  legal->name = "roi_pool";
  tvms_te *te = &legal->te;
  const tvms_call *call = legal->call;
  if (!tvms_bytes_is(tvms_attr_text(call, TVMS_ATTR_roi_pool_layout), "NCHW")) {
    return false;
  }
  double scale = tvms_attr_float(call, TVMS_ATTR_roi_pool_spatial_scale, 1);
  pooled p = open_pooled(legal, scale);
  read_bins(&p, tvms_attr_list(call, TVMS_ATTR_roi_pool_pooled_size));
  tvms_dtype dtype = tvms_te_dtype(p.data);
  tvms_stage stage;
  open_bins(&p, &stage);
  tvms_node *at[] = {to_int(&p, field(&p, 0)), p.channel,
                     tvms_te_reduce(&stage, "rh", p.length[Y]),
                     tvms_te_reduce(&stage, "rw", p.length[X])};
  tvms_node *inside = NULL;
  for (int i = 0; i < BOTH; i++) {
    tvms_node *begun = LE(bin_edge(&p, i, false), at[2 + i]);
    inside = inside ? AND(inside, begun) : begun;
    inside = AND(inside, LT(at[2 + i], bin_edge(&p, i, true)));
  }
  tvms_node *least = tvms_te_const(te, dtype, -INFINITY);
  tvms_node *value = IF(inside, tvms_te_load(te, p.data, at, 4), least);
  tvms_node *most = tvms_te_close_fold(&stage, "compute", TVMS_FOLD_MAX, value);
  if (!most) return false;
  open_bins(&p, &stage);
  tvms_node *empty = OR(LE(bin_edge(&p, Y, true), bin_edge(&p, Y, false)),
                        LE(bin_edge(&p, X, true), bin_edge(&p, X, false)));
  value = tvms_te_load(te, most, stage.axes.items, 4);
  value = IF(empty, tvms_te_const(te, dtype, 0), value);
  return tvms_legal_return(legal, tvms_te_close(&stage, "compute", value));
}

// ---- multibox_transform_loc ----

typedef struct {
  tvms_te *te;
  tvms_dtype dtype;
  tvms_node *anchors, *offsets;
  tvms_node *batch, *anchor;  // axes of the stage
  double variances[4];
  bool clips;
} multibox;

static tvms_node *anchor_at(const multibox *m, int64_t i) {
  tvms_te *te = m->te;
  tvms_node *at[] = {INT32(0), m->anchor, INT32(i)};
  return tvms_te_load(te, m->anchors, at, 3);
}

static tvms_node *offset_at(const multibox *m, int64_t i) {
  tvms_te *te = m->te;
  tvms_node *at[] = {m->batch, m->anchor, INT32(i)};
  tvms_node *scale = tvms_te_const(te, m->dtype, m->variances[i]);
  return MUL(tvms_te_load(te, m->offsets, at, 3), scale);
}

// One side of the decoded box: axis 0 is x.
static tvms_node *side(const multibox *m, int axis, bool second) {
  tvms_te *te = m->te;
  tvms_node *half = tvms_te_const(te, m->dtype, 0.5);
  tvms_node *low = anchor_at(m, axis), *high = anchor_at(m, axis + 2);
  tvms_node *middle = MUL(ADD(low, high), half), *width = SUB(high, low);
  tvms_node *center = ADD(MUL(offset_at(m, axis), width), middle);
  tvms_node *stretch = offset_at(m, axis + 2);
  if (!stretch) return NULL;
  stretch = MUL(MUL(half, tvms_te_call(te, TVMS_TIR_exp, stretch)), width);
  tvms_node *edge = second ? ADD(center, stretch) : SUB(center, stretch);
  if (!m->clips) return edge;
  tvms_node *zero = tvms_te_const(te, m->dtype, 0);
  return MAX(zero, MIN(tvms_te_const(te, m->dtype, 1), edge));
}

static tvms_node *decoded(multibox *m, tvms_node *batch, tvms_node *anchors) {
  static const char *const names[] = {"b", "a", "k"};
  tvms_te *te = m->te;
  tvms_node *dims[] = {batch, anchors, INT32(4)};
  tvms_stage stage;
  tvms_te_open_named(te, &stage, tvms_list_copy(te->unit, dims, 3), names);
  m->batch = stage.axes.items[0];
  m->anchor = stage.axes.items[1];
  tvms_node *k = stage.axes.items[2];
  tvms_node *value = side(m, 0, true);
  value = tvms_te_select(te, EQ(k, INT32(2)), side(m, 1, true), value);
  value = tvms_te_select(te, EQ(k, INT32(1)), side(m, 0, false), value);
  value = tvms_te_select(te, EQ(k, INT32(0)), side(m, 1, false), value);
  return tvms_te_close(&stage, "multibox_boxes", value);
}

static tvms_node *at_least(tvms_te *te, tvms_node *a, tvms_node *b) {
  return GE(a, b);
}

// The scores of the class that stands for nothing are zero.
static tvms_node *without_background(tvms_te *te, tvms_node *scores) {
  static const char *const names[] = {"b", "c", "n"};
  if (!scores) return NULL;
  tvms_stage stage;
  tvms_te_open_named(te, &stage, tvms_te_shape(scores), names);
  tvms_node *value = tvms_te_load(te, scores, stage.axes.items, 3);
  tvms_node *zero = tvms_te_const(te, value->dtype, 0);
  value = IF(EQ(stage.axes.items[1], INT32(0)), zero, value);
  return tvms_te_close(&stage, "multibox_scores_bg", value);
}

bool tvms_legalize_multibox(tvms_legal *legal) {
  legal->name = "multibox_transform_loc";
  tvms_te *te = &legal->te;
  const tvms_call *call = legal->call;
  tvms_node *classes = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_node *offsets = tvms_legal_tensor(legal, tvms_legal_arg(legal, 1));
  multibox m = {.te = te, .dtype = tvms_te_dtype(classes)};
  m.anchors = tvms_legal_tensor(legal, tvms_legal_arg(legal, 2));
  m.clips = tvms_attr_bool(call, TVMS_ATTR_multibox_clip);
  tvms_list variances = tvms_attr_list(call, TVMS_ATTR_multibox_variances);
  if (variances.len != 4) return false;
  for (uint32_t i = 0; i < 4; i++)
    m.variances[i] = tvms_attr_item_float(variances.items[i]);
  tvms_list from = tvms_te_shape(classes);
  tvms_node *dims[] = {from.items[0], from.items[2], INT32(4)};
  m.offsets = tvms_te_reshape(te, offsets, tvms_list_copy(te->unit, dims, 3));
  tvms_node *boxes = decoded(&m, from.items[0], from.items[2]);
  bool softmax =
      tvms_attr_bool(call, TVMS_ATTR_multibox_apply_softmax)
      || !tvms_release_has(te->unit->dialect, TVMS_FACT_multibox_softmax_is_optional);
  tvms_node *scores = softmax ? tvms_te_softmax(te, classes, 1) : classes;
  double least = tvms_attr_float(call, TVMS_ATTR_multibox_threshold, 0);
  tvms_node *mask = tvms_te_broadcast(te, scores, tvms_te_const(te, m.dtype, least),
                                      "T_greater_equal", at_least);
  mask = tvms_te_cast(te, mask, m.dtype, "compute", "i");
  scores = tvms_te_multiply(te, scores, mask);
  if (!tvms_attr_bool(call, TVMS_ATTR_multibox_keep_background)) {
    scores = without_background(te, scores);
  }
  return tvms_legal_return(legal, boxes) && tvms_legal_return(legal, scores);
}
