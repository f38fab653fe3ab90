// Descriptions of image.resize2d and image.resize3d: every element looks up where it comes
// from, and takes the nearest element there or weighs the 2 or 4 around it along each axis.
//
// Places are computed in float32 from the axes; elements over the edge are those at the edge.
// Axes are in the order of the layout: depth, height, width.
#include "te/element.h"
#include "te/legalizers.h"

#include <math.h>
#include <string.h>

enum { MOST_SPATIAL = 3, MOST_TAPS = 4 };

typedef struct {
  tvms_te *te;
  tvms_node *data;
  tvms_bytes mode, method, rounding;
  double alpha, extrapolation;
  bool exclude;
  uint32_t spatial, first;  // axis `first` of the data is the first spatial one
  tvms_node *length[MOST_SPATIAL], *target[MOST_SPATIAL];
  tvms_node *begin[MOST_SPATIAL], *end[MOST_SPATIAL];  // of the region of interest
  tvms_node *axis[MOST_SPATIAL];                       // of the stage
  tvms_node *place[MOST_SPATIAL];                      // in the data, float32
  bool divides[MOST_SPATIAL];  // places are quotients of integers
  tvms_list indices;           // of the stage
} resize;

static tvms_node *real(tvms_te *te, double value) {
  return tvms_te_const(te, TVMS_DTYPE(FLOAT, 32), value);
}

static tvms_node *to_real(tvms_te *te, tvms_node *x) {
  return tvms_te_convert(te, TVMS_DTYPE(FLOAT, 32), x);
}

static tvms_node *to_int(tvms_te *te, tvms_node *x) {
  return tvms_te_convert(te, TVMS_DTYPE(INT, 32), x);
}

// ---- Where an element comes from ----

// The size is a multiple of the image's, so that places divide without remainder.
static bool is_multiple(const resize *r, uint32_t i) {
  int64_t length = tvms_as_int_imm(r->length[i])->value;
  int64_t target = tvms_as_int_imm(r->target[i])->value;
  double ratio = (double)((float)target / (float)length);
  return fmod(ratio, 1) == 0 && ratio <= 1 / (1e-5 * (double)length + 1e-5);
}

static tvms_node *place_in_crop(const resize *r, uint32_t i) {
  tvms_te *te = r->te;
  tvms_node *last = SUB(r->length[i], INT32(1)), *steps = SUB(r->target[i], INT32(1));
  tvms_node *width = SUB(r->end[i], r->begin[i]);
  tvms_node *inside = MUL(MUL(r->axis[i], width), to_real(te, last));
  inside = ADD(MUL(r->begin[i], last), DIV(inside, steps));
  tvms_node *middle = MUL(MUL(real(te, 0.5), ADD(r->begin[i], r->end[i])), last);
  return IF(GT(r->target[i], INT32(1)), inside, middle);
}

// NULL for a mode that is not known.
static tvms_node *place_of(const resize *r, uint32_t i) {
  tvms_te *te = r->te;
  tvms_node *x = r->axis[i], *target = r->target[i];
  tvms_node *scale = DIV(to_real(te, r->length[i]), to_real(te, target));
  tvms_node *middle = MUL(ADD(x, real(te, 0.5)), scale);
  if (tvms_bytes_is(r->mode, "half_pixel")) return SUB(middle, real(te, 0.5));
  if (tvms_bytes_is(r->mode, "align_corners")) {
    tvms_node *last = to_real(te, SUB(r->length[i], INT32(1)));
    return MUL(DIV(last, SUB(target, INT32(1))), x);
  }
  if (tvms_bytes_is(r->mode, "asymmetric")) {
    return r->divides[i] ? DIV(x, DIV(target, r->length[i])) : MUL(scale, x);
  }
  if (tvms_bytes_is(r->mode, "pytorch_half_pixel")) {
    return IF(GT(target, INT32(1)), SUB(middle, real(te, 0.5)), real(te, 0));
  }
  if (tvms_bytes_is(r->mode, "tf_half_pixel_for_nn")) return middle;
  if (tvms_bytes_is(r->mode, "tf_crop_and_resize")) return place_in_crop(r, i);
  return NULL;
}

// NULL for a method of rounding that is not known.
static tvms_node *nearest(const resize *r, uint32_t i) {
  tvms_te *te = r->te;
  tvms_node *x = r->place[i];
  if (r->divides[i]) return to_int(te, x);
  tvms_bytes how = r->rounding;
  bool aligned = how.len == 0 && tvms_bytes_is(r->mode, "align_corners");
  if (aligned || tvms_bytes_is(how, "round")) {
    return to_int(te, tvms_te_round(te, TVMS_TIR_round, x));
  }
  if (tvms_bytes_is(how, "round_prefer_floor")) {
    return to_int(te, tvms_te_round(te, TVMS_TIR_ceil, SUB(x, real(te, 0.5))));
  }
  if (tvms_bytes_is(how, "round_prefer_ceil")) {
    return to_int(te, tvms_te_round(te, TVMS_TIR_floor, ADD(x, real(te, 0.5))));
  }
  if (how.len == 0 || tvms_bytes_is(how, "floor")) {
    return to_int(te, tvms_te_round(te, TVMS_TIR_floor, ADD(x, real(te, 1e-5))));
  }
  if (tvms_bytes_is(how, "ceil")) {
    return to_int(te, tvms_te_round(te, TVMS_TIR_ceil, SUB(x, real(te, 1e-5))));
  }
  return NULL;
}

// The element at a place of integers, or the one at the edge.
static tvms_node *pixel(const resize *r, tvms_node *const *at) {
  tvms_te *te = r->te;
  tvms_list indices = tvms_list_copy(te->unit, r->indices.items, r->indices.len);
  for (uint32_t i = 0; i < r->spatial; i++) {
    tvms_node *last = SUB(r->length[i], INT32(1));
    indices.items[r->first + i] = MAX(MIN(at[i], last), INT32(0));
    if (!indices.items[r->first + i]) return NULL;
  }
  return to_real(te, tvms_te_load(te, r->data, indices.items, indices.len));
}

// ---- Linear and cubic ----

typedef struct {
  const resize *r;
  uint32_t taps;  // 2 or 4
  tvms_node *start[MOST_SPATIAL];
  tvms_node *share[MOST_SPATIAL];  // linear: how much the second one counts
  tvms_node *weights[MOST_SPATIAL][MOST_TAPS];
  tvms_node *at[MOST_SPATIAL];
} taps;

static tvms_node *combined(const taps *t, uint32_t axis, tvms_node *const *values) {
  tvms_te *te = t->r->te;
  if (t->taps == 2) {
    tvms_node *share = t->share[axis];
    return ADD(MUL(values[0], SUB(real(te, 1), share)), MUL(values[1], share));
  }
  tvms_node *sum = INT32(0);
  for (uint32_t i = 0; i < t->taps; i++)
    sum = ADD(sum, MUL(values[i], t->weights[axis][i]));
  return sum;
}

// What is around the place along this axis and those behind, combined. At most three deep.
static tvms_node *around(taps *t, uint32_t axis) {
  tvms_te *te = t->r->te;
  if (axis == t->r->spatial) return pixel(t->r, t->at);
  tvms_node *values[MOST_TAPS];
  for (uint32_t i = 0; i < t->taps; i++) {
    tvms_node *at = ADD(t->start[axis], INT32(i));
    t->at[axis] = t->taps == 4 ? SUB(at, INT32(1)) : at;
    values[i] = around(t, axis + 1);
  }
  return combined(t, axis, values);
}

static tvms_node *linear(const resize *r) {
  tvms_te *te = r->te;
  taps t = {.r = r, .taps = 2};
  for (uint32_t i = 0; i < r->spatial; i++) {
    t.start[i] = to_int(te, tvms_te_round(te, TVMS_TIR_floor, r->place[i]));
    t.share[i] = SUB(r->place[i], t.start[i]);
  }
  return around(&t, 0);
}

static void spline(const resize *r, tvms_node *t, tvms_node *weights[MOST_TAPS]) {
  tvms_te *te = r->te;
  double alpha = r->alpha;
  tvms_node *t2 = MUL(t, t), *t3 = MUL(MUL(t, t), t);
  tvms_node *bent = ADD(SUB(t3, MUL(INT32(2), t2)), t);
  weights[0] = MUL(real(te, alpha), bent);
  weights[1] = SUB(MUL(real(te, alpha + 2), t3), MUL(real(te, 3 + alpha), t2));
  weights[1] = ADD(weights[1], INT32(1));
  weights[2] = ADD(MUL(real(te, -(alpha + 2)), t3), MUL(real(te, 3 + 2 * alpha), t2));
  weights[2] = SUB(weights[2], MUL(real(te, alpha), t));
  weights[3] = ADD(MUL(real(te, -alpha), t3), MUL(real(te, alpha), t2));
}

static tvms_node *unless_outside(const resize *r, tvms_node *start, tvms_node *length,
                                 uint32_t i, tvms_node *weight) {
  tvms_te *te = r->te;
  tvms_node *before = LT(ADD(SUB(start, INT32(1)), INT32(i)), INT32(0));
  tvms_node *behind = GT(ADD(start, INT32(i)), length);
  return IF(OR(before, behind), real(te, 0), weight);
}

// Weights of what is outside go, and the others are scaled to make 1. In three dimensions
// TVM takes height and the weights along the width for the depth; so does this.
static void exclude_outside(const resize *r, taps *t) {
  tvms_te *te = r->te;
  uint32_t width = r->spatial - 1;
  for (uint32_t i = 0; i < MOST_TAPS; i++) {
    for (uint32_t k = 0; k < r->spatial; k++) {
      bool depth = r->spatial == 3 && k == 0;
      uint32_t from = depth ? width : k;
      tvms_node *length = r->length[depth ? 1 : k];
      t->weights[k][i] =
          unless_outside(r, t->start[from], length, i, t->weights[from][i]);
    }
  }
  for (uint32_t k = 0; k < r->spatial; k++) {
    tvms_node *sum = INT32(0);
    for (uint32_t i = 0; i < MOST_TAPS; i++)
      sum = ADD(sum, t->weights[k][i]);
    for (uint32_t i = 0; i < MOST_TAPS; i++)
      t->weights[k][i] = DIV(t->weights[k][i], sum);
  }
}

static tvms_node *cubic(const resize *r) {
  tvms_te *te = r->te;
  taps t = {.r = r, .taps = MOST_TAPS};
  for (uint32_t i = 0; i < r->spatial; i++) {
    tvms_node *floor = tvms_te_round(te, TVMS_TIR_floor, r->place[i]);
    t.start[i] = to_int(te, floor);
    spline(r, SUB(r->place[i], floor), t.weights[i]);
  }
  if (r->exclude) exclude_outside(r, &t);
  return around(&t, 0);
}

// ---- The operator ----

static tvms_node *sampled(const resize *r) {
  if (tvms_bytes_is(r->method, "linear")) return linear(r);
  if (tvms_bytes_is(r->method, "cubic")) return cubic(r);
  if (!tvms_bytes_is(r->method, "nearest_neighbor")) return NULL;
  tvms_node *at[MOST_SPATIAL];
  for (uint32_t i = 0; i < r->spatial; i++)
    at[i] = nearest(r, i);
  return pixel(r, at);
}

// Places outside of the image have a value of their own. The depth does not count.
static tvms_node *cropped(const resize *r, tvms_node *value) {
  tvms_te *te = r->te;
  tvms_node *outside = real(te, r->extrapolation);
  for (uint32_t i = r->spatial - 2; i < r->spatial; i++) {
    tvms_node *x = r->place[i], *last = SUB(r->length[i], INT32(1));
    value = IF(LT(x, INT32(0)), outside, IF(GT(x, last), outside, value));
  }
  return value;
}

// Layouts that topi knows: channels last, or behind the batch, with parts of them at the end.
static bool find_axes(resize *r, tvms_bytes layout) {
  const char *plain = r->spatial == 3 ? "NCDHW" : "NCHW";
  if (tvms_bytes_is(layout, r->spatial == 3 ? "NDHWC" : "NHWC")) {
    r->first = 1;
    return true;
  }
  r->first = 2;
  return layout.len >= strlen(plain) && !memcmp(layout.text, plain, strlen(plain));
}

static tvms_node *roi_at(const resize *r, tvms_list roi, uint32_t i) {
  return i < roi.len ? real(r->te, tvms_attr_item_float(roi.items[i])) : NULL;
}

// The region of interest: in two dimensions first y, in three first x.
static bool set_region(resize *r, tvms_list roi) {
  for (uint32_t i = 0; i < r->spatial; i++) {
    uint32_t at = r->spatial == 3 ? r->spatial - 1 - i : i;
    r->begin[i] = roi_at(r, roi, at);
    r->end[i] = roi_at(r, roi, at + r->spatial);
    if (!r->begin[i] || !r->end[i]) return false;
  }
  return true;
}

// Whether places are quotients; false if TVM cannot tell and fails.
static bool choose_division(resize *r) {
  bool candidate = r->spatial == 2 && tvms_bytes_is(r->method, "nearest_neighbor")
                   && tvms_bytes_is(r->mode, "asymmetric")
                   && (r->rounding.len == 0 || tvms_bytes_is(r->rounding, "floor"));
  for (uint32_t i = 0; candidate && i < r->spatial; i++) {
    if (!tvms_node_is_int_imm(r->target[i])) continue;
    if (!tvms_node_is_int_imm(r->length[i])) return false;
    r->divides[i] = is_multiple(r, i);
  }
  return true;
}

static bool resized(tvms_legal *legal, const char *name, uint32_t spatial) {
  // Both schemas have the same attributes in the same places.
  const tvms_call *call = legal->call;
  tvms_te *te = &legal->te;
  resize r = {.te = te, .spatial = spatial};
  r.mode = tvms_attr_text(call, TVMS_ATTR_resize2d_coordinate_transformation_mode);
  r.method = tvms_attr_text(call, TVMS_ATTR_resize2d_method);
  r.rounding = tvms_attr_text(call, TVMS_ATTR_resize2d_rounding_method);
  r.alpha = tvms_attr_float(call, TVMS_ATTR_resize2d_cubic_alpha, -0.75);
  r.exclude = tvms_attr_int(call, TVMS_ATTR_resize2d_cubic_exclude, 0) != 0;
  r.extrapolation = tvms_attr_float(call, TVMS_ATTR_resize2d_extrapolation_value, 0);
  tvms_list size;
  if (!find_axes(&r, tvms_attr_text(call, TVMS_ATTR_resize2d_layout))
      || !set_region(&r, tvms_attr_list(call, TVMS_ATTR_resize2d_roi))) {
    return false;
  }
  legal->name = name;
  r.data = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  if (!tvms_legal_shape(legal, tvms_legal_arg(legal, 1), &size)) return false;
  tvms_list from = tvms_te_shape(r.data);
  tvms_list shape = tvms_list_copy(te->unit, from.items, from.len);
  for (uint32_t i = 0; i < spatial; i++) {
    r.length[i] = from.items[r.first + i];
    r.target[i] = shape.items[r.first + i] = size.items[i];
  }
  if (!choose_division(&r)) return false;
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "i");
  r.indices = tvms_list_copy(te->unit, stage.axes.items, shape.len);
  for (uint32_t i = 0; i < spatial; i++) {
    r.axis[i] = r.indices.items[r.first + i];
    r.place[i] = place_of(&r, i);
    if (!r.place[i]) return false;
  }
  tvms_node *value = sampled(&r);
  if (tvms_bytes_is(r.mode, "tf_crop_and_resize")) value = cropped(&r, value);
  value = tvms_te_convert(te, tvms_te_dtype(r.data), value);
  return tvms_legal_return(legal, tvms_te_close(&stage, "resize", value));
}

bool tvms_legalize_resize2d(tvms_legal *legal) {
  return resized(legal, "resize2d", 2);
}

bool tvms_legalize_resize3d(tvms_legal *legal) {
  return resized(legal, "resize3d", 3);
}
