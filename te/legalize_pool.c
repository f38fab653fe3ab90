// Descriptions of pooling: windows that move over the spatial axes, and windows that divide
// them (adaptive).
//
// What is averaged is summed first; how many elements a window has is computed next to the
// division, since windows at the edge have fewer. Axes other than the spatial ones stay as
// they are, so any layout will do whose spatial axes are whole (NCHW16c, not NCHW16w).
#include "ir/object.h"
#include "structinfo/windows.h"
#include "te/element.h"
#include "te/legalizers.h"

#include <stdio.h>
#include <string.h>

enum { MOST_SPATIAL = 3 };

typedef struct {
  tvms_legal *legal;
  tvms_te *te;
  tvms_windows attrs;
  tvms_node *data;
  tvms_list shape;                // of the data
  uint32_t spatial;               // how many axes are pooled
  uint32_t places[MOST_SPATIAL];  // where they stand in the layout
  bool includes_padding;          // what is padded counts in an average
} pool;

// Finds the axes D, H, W in a layout, in this order. Numbers are sizes of parts.
static bool find_places(pool *p) {
  static const char letters[] = "DHW";
  tvms_bytes layout = p->attrs.data_layout;
  bool found[MOST_SPATIAL] = {false};
  uint32_t axis = 0;
  for (uint32_t i = 0; i < layout.len; i++) {
    char c = layout.text[i];
    if (c >= '0' && c <= '9') continue;
    for (uint32_t k = 0; k < p->spatial; k++) {
      char letter = letters[MOST_SPATIAL - p->spatial + k];
      if (c == (letter | 0x20) || (c == letter && found[k])) return false;
      if (c != letter) continue;
      found[k] = true;
      p->places[k] = axis;
    }
    axis++;
  }
  for (uint32_t k = 0; k < p->spatial; k++) {
    if (!found[k]) return false;
  }
  return axis == p->shape.len;
}

// False if the result has another layout than the data, or one with parts of spatial axes.
static bool open_pool(pool *p, tvms_legal *legal, uint32_t spatial) {
  *p = (pool){.legal = legal, .te = &legal->te, .spatial = spatial};
  p->attrs = tvms_windows_of(legal->call);
  if (!tvms_bytes_same(p->attrs.data_layout, p->attrs.out_layout)) return false;
  p->data = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  p->shape = tvms_te_shape(p->data);
  return find_places(p);
}

static int64_t item(tvms_list list, uint32_t i) {
  return tvms_attr_item_int(list.items[i]);
}

static int64_t pad_before(const pool *p, uint32_t i) {
  return item(p->attrs.padding, i);
}

// Rounding the size up takes some more behind.
static int64_t pad_after(const pool *p, uint32_t i) {
  int64_t more = p->attrs.ceil_mode ? item(p->attrs.strides, i) - 1 : 0;
  return item(p->attrs.padding, p->spatial + i) + more;
}

static tvms_node *padded(const pool *p, tvms_node *fill) {
  tvms_te *te = p->te;
  int64_t *before = tvms_arena_array(&te->unit->arena, int64_t, p->shape.len);
  int64_t *after = tvms_arena_array(&te->unit->arena, int64_t, p->shape.len);
  for (uint32_t i = 0; i < p->shape.len; i++)
    before[i] = after[i] = 0;
  bool any = false;
  for (uint32_t i = 0; i < p->spatial; i++) {
    before[p->places[i]] = pad_before(p, i);
    after[p->places[i]] = pad_after(p, i);
    any = any || pad_before(p, i) || pad_after(p, i);
  }
  return any ? tvms_te_pad(te, p->data, before, after, fill, "pad_temp", "ax", true)
             : p->data;
}

static void set_rule(tvms_te *te, tvms_stage *stage, const char *text) {
  tvms_node *rule =
      tvms_object_str_new(te->unit, text, (uint32_t)strlen(text), TVMS_NO_SPAN);
  stage->annotations = tvms_object_map_with(te->unit, NULL, "schedule_rule", rule);
}

static tvms_node *reduce_axis(tvms_stage *stage, uint32_t i, tvms_node *extent) {
  char name[16];
  snprintf(name, sizeof name, "rv%u", i);
  return tvms_te_reduce(stage, name, extent);
}

// Opens a stage that folds over the windows of `data`, and returns the element there.
static tvms_node *open_windows(const pool *p, tvms_stage *stage, tvms_list shape,
                               tvms_node *data) {
  tvms_te *te = p->te;
  tvms_te_open(te, stage, shape, "ax");
  tvms_list indices = tvms_list_copy(te->unit, stage->axes.items, shape.len);
  for (uint32_t i = 0; i < p->spatial; i++) {
    tvms_node *step = reduce_axis(stage, i, INDEX(item(p->attrs.window, i)));
    tvms_node *start =
        MUL(stage->axes.items[p->places[i]], INDEX(item(p->attrs.strides, i)));
    indices.items[p->places[i]] =
        ADD(start, MUL(step, INDEX(item(p->attrs.dilation, i))));
  }
  return tvms_te_load(te, data, indices.items, indices.len);
}

// A pool whose windows the call gives, and the shape of its result. `names` are those of the
// PrimFunc for one, two and three spatial dimensions.
static bool open_windowed(pool *p, tvms_legal *legal, const char *const *names,
                          tvms_list *shape) {
  if (!open_pool(p, legal, tvms_windows_of(legal->call).spatial)
      || !tvms_legal_result_shape(legal, shape)) {
    return false;
  }
  legal->name = names[p->spatial - 1];
  return true;
}

bool tvms_legalize_max_pool(tvms_legal *legal) {
  static const char *const names[] = {"max_pool1d", "max_pool2d", "max_pool3d"};
  pool p;
  tvms_list shape;
  if (!open_windowed(&p, legal, names, &shape)) return false;
  tvms_te *te = p.te;
  tvms_node *least =
      tvms_build_min_value(te->unit, tvms_te_dtype(p.data), TVMS_NO_SPAN);
  tvms_node *data = least ? padded(&p, least) : NULL;
  if (!data) return false;
  tvms_stage stage;
  tvms_node *value = open_windows(&p, &stage, shape, data);
  set_rule(te, &stage, "meta_schedule.pool_max");
  return tvms_legal_return(
      legal, tvms_te_close_fold(&stage, "pool_max", TVMS_FOLD_MAX, value));
}

// How many elements of the window at `axis` count along spatial axis `i`.
static tvms_node *window_size(const pool *p, uint32_t i, tvms_node *axis) {
  tvms_te *te = p->te;
  int64_t dilation = item(p->attrs.dilation, i);
  tvms_node *length = p->shape.items[p->places[i]], *step = INT32(dilation);
  tvms_node *start =
      SUB(MUL(axis, INT32(item(p->attrs.strides, i))), INT32(pad_before(p, i)));
  tvms_node *end = ADD(start, INT32((item(p->attrs.window, i) - 1) * dilation));
  if (p->includes_padding) {
    int64_t behind = item(p->attrs.padding, p->spatial + i);
    end = MIN(end, p->attrs.ceil_mode
                       ? SUB(SUB(ADD(length, INT32(pad_after(p, i))), INT32(1)),
                             INT32(pad_after(p, i) - behind))
                       : SUB(ADD(length, INT32(behind)), INT32(1)));
    return ADD(DIV(SUB(end, start), step), INT32(1));
  }
  tvms_node *skipped = DIV(SUB(INT32(dilation - 1), start), step);
  skipped = skipped ? MAX(skipped, tvms_te_const(te, skipped->dtype, 0)) : NULL;
  end = MIN(end, SUB(length, INT32(1)));
  tvms_node *first = ADD(start, MUL(step, skipped));
  return ADD(DIV(SUB(end, first), step), INT32(1));
}

bool tvms_legalize_avg_pool(tvms_legal *legal) {
  static const char *const names[] = {"avg_pool1d", "avg_pool2d", "avg_pool3d"};
  pool p;
  tvms_list shape;
  if (!open_windowed(&p, legal, names, &shape)) return false;
  p.includes_padding = p.attrs.count_include_pad;
  tvms_te *te = p.te;
  tvms_node *data = padded(&p, INT32(0));
  if (!data) return false;
  tvms_stage stage;
  tvms_node *value = open_windows(&p, &stage, shape, data);
  tvms_node *sum = tvms_te_close_fold(&stage, "pool_sum", TVMS_FOLD_SUM, value);
  if (!sum) return false;
  tvms_te_open(te, &stage, shape, "ax");
  tvms_node *count = INT32(1);
  for (uint32_t i = 0; i < p.spatial; i++) {
    count = MUL(count, window_size(&p, i, stage.axes.items[p.places[i]]));
  }
  if (!p.includes_padding) count = MAX(count, INT32(1));
  value = tvms_te_load(te, sum, stage.axes.items, shape.len);
  set_rule(te, &stage, "meta_schedule.pool_avg");
  return tvms_legal_return(legal, tvms_te_close(&stage, "pool_avg", DIV(value, count)));
}

// ---- Adaptive ----

// Where window `axis` of `count` begins in `length` elements.
static tvms_node *window_start(tvms_te *te, tvms_node *axis, tvms_node *count,
                               tvms_node *length) {
  return FLOOR_DIV(MUL(axis, length), count);
}

// How many elements it has. It ends where the next one begins, rounded up.
static tvms_node *window_extent(tvms_te *te, tvms_node *axis, tvms_node *count,
                                tvms_node *length) {
  tvms_node *next = MUL(ADD(axis, INT32(1)), length);
  tvms_node *end = FLOOR_DIV(next, count);
  tvms_node *whole = EQ(FLOOR_MOD(next, count), INT32(0));
  tvms_node *more = ADD(end, INT32(1));
  if (!whole || !end || !more) return NULL;
  end = tvms_build_select(te->unit, whole, end, more, TVMS_NO_SPAN);
  return SUB(end, window_start(te, axis, count, length));
}

static bool adaptive(tvms_legal *legal, const char *name, uint32_t spatial) {
  pool p;
  if (!open_pool(&p, legal, spatial)) return false;
  legal->name = name;
  tvms_te *te = p.te;
  tvms_list shape = tvms_list_copy(te->unit, p.shape.items, p.shape.len);
  tvms_list given = p.attrs.output_size;
  for (uint32_t i = 0; i < given.len && i < spatial; i++)
    shape.items[p.places[i]] = INT32(item(given, i));
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "ax");
  tvms_list indices = tvms_list_copy(te->unit, stage.axes.items, shape.len);
  for (uint32_t i = 0; i < spatial; i++) {
    uint32_t at = p.places[i];
    tvms_node *axis = stage.axes.items[at], *length = p.shape.items[at];
    tvms_node *extent = window_extent(te, axis, shape.items[at], length);
    if (!extent) return false;
    tvms_node *step = reduce_axis(&stage, i, extent);
    indices.items[at] = ADD(window_start(te, axis, shape.items[at], length), step);
  }
  tvms_node *value = tvms_te_load(te, p.data, indices.items, indices.len);
  tvms_node *sum =
      tvms_te_close_fold(&stage, "adaptive_pool_sum", TVMS_FOLD_SUM, value);
  tvms_te_open(te, &stage, shape, "ax");
  tvms_node *count = tvms_te_const(te, tvms_te_dtype(p.data), 1);
  for (uint32_t i = 0; i < spatial; i++) {
    uint32_t at = p.places[i];
    tvms_node *extent =
        window_extent(te, stage.axes.items[at], shape.items[at], p.shape.items[at]);
    count = MUL(count, tvms_te_convert(te, TVMS_DTYPE(INT, 32), extent));
  }
  value = tvms_te_load(te, sum, stage.axes.items, shape.len);
  set_rule(te, &stage, "meta_schedule.adaptive_pool_avg");
  return tvms_legal_return(
      legal, tvms_te_close(&stage, "adaptive_pool_avg", DIV(value, count)));
}

bool tvms_legalize_adaptive_avg_pool1d(tvms_legal *legal) {
  return adaptive(legal, "adaptive_avg_pool1d", 1);
}
bool tvms_legalize_adaptive_avg_pool2d(tvms_legal *legal) {
  return adaptive(legal, "adaptive_avg_pool2d", 2);
}
bool tvms_legalize_adaptive_avg_pool3d(tvms_legal *legal) {
  return adaptive(legal, "adaptive_avg_pool3d", 3);
}
