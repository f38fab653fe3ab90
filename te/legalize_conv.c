// Descriptions of convolutions: windows that move over the spatial axes.
//
// Data is padded by a stage of its own, then one stage folds over the window; layouts say
// where batch, channel and spatial axes stand, and the axes of the stage follow them. A layout
// with parts of an axis (NCHW4c) has no description, nor has a result in another layout than
// the data.
#include "ir/fold_ops.h"
#include "structinfo/windows.h"
#include "te/legalizers.h"

#include <stdio.h>
#include <string.h>

enum { MOST_SPATIAL = 3, MOST_RANK = MOST_SPATIAL + 2 };

// Where each axis of a layout stands: places[0] the first letter, places[1] the second,
// then the spatial ones in the order in which they are written.
typedef struct {
  uint32_t places[MOST_RANK];
  uint32_t rank;
} layout;

static tvms_node *build(tvms_te *te, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return a && b ? tvms_build_binary(te->unit, kind, a, b, TVMS_NO_SPAN) : NULL;
}

static bool read_layout(tvms_bytes text, char first, char second, uint32_t rank,
                        layout *result) {
  if (text.len != rank || rank < 3 || rank > MOST_RANK) return false;
  const char *a = memchr(text.text, first, text.len);
  const char *b = memchr(text.text, second, text.len);
  if (!a || !b) return false;
  result->rank = 2;
  result->places[0] = (uint32_t)(a - text.text);
  result->places[1] = (uint32_t)(b - text.text);
  for (uint32_t i = 0; i < rank; i++) {
    if (text.text + i != a && text.text + i != b) result->places[result->rank++] = i;
  }
  return true;
}

static int64_t item(tvms_list list, uint32_t i) {
  return tvms_attr_item_int(list.items[i]);
}

typedef struct {
  tvms_legal *legal;
  tvms_te *te;
  tvms_node *data;
  layout at;
  tvms_windows attrs;
} windows;

static tvms_node *pad(const windows *w, tvms_node *fill, const char *axis) {
  int64_t before[MOST_RANK] = {0}, after[MOST_RANK] = {0};
  for (uint32_t i = 0; i < w->attrs.spatial; i++) {
    before[w->at.places[2 + i]] = item(w->attrs.padding, i);
    after[w->at.places[2 + i]] = item(w->attrs.padding, w->attrs.spatial + i);
  }
  return tvms_te_pad(w->te, w->data, before, after, fill, "pad_temp", axis, false);
}

// Where the window that belongs to `axis` is at its step `step`.
static tvms_node *place(const windows *w, uint32_t i, tvms_node *axis,
                        tvms_node *step) {
  tvms_node *start = build(w->te, TVMS_NODE_MUL, axis,
                           tvms_te_index(w->te, item(w->attrs.strides, i)));
  tvms_node *inside = build(w->te, TVMS_NODE_MUL, step,
                            tvms_te_index(w->te, item(w->attrs.dilation, i)));
  return build(w->te, TVMS_NODE_ADD, start, inside);
}

// False if the result has another layout than the data, or one with parts of an axis.
static bool open_windows(windows *w, tvms_legal *legal) {
  *w = (windows){
      .legal = legal, .te = &legal->te, .attrs = tvms_windows_of(legal->call)};
  const tvms_node *arg = tvms_legal_arg(legal, 0);
  tvms_bytes text = w->attrs.data_layout;
  if (!tvms_bytes_same(text, w->attrs.out_layout)) return false;
  tvms_list shape = tvms_as_shape_expr(tvms_as_sinfo_tensor(arg->sinfo)->shape)->values;
  if (!read_layout(text, 'N', 'C', shape.len, &w->at)) return false;
  w->data = tvms_legal_tensor(legal, arg);
  return true;
}

static tvms_node *cast_to(tvms_te *te, tvms_dtype dtype, tvms_node *value) {
  return value ? tvms_build_cast(te->unit, dtype, value, TVMS_NO_SPAN) : NULL;
}

// Channels of the data that one filter sees.
static tvms_node *channels_seen(const windows *w) {
  tvms_node *channels = tvms_te_shape(w->data).items[w->at.places[1]];
  return build(w->te, TVMS_NODE_FLOOR_DIV, channels,
               tvms_te_index(w->te, w->attrs.groups));
}

// Opens the stage of a convolution; fills in the reduced axes: channel, then spatial, made
// in the order in which the layout has them.
static void open_conv(windows *w, tvms_stage *stage, tvms_list shape, tvms_node *filter,
                      const layout *filter_at, tvms_node *reduced[]) {
  static const char *const axes[MOST_RANK] = {"nn", "ff", "yy", "xx", "zz"};
  static const char *const steps[MOST_RANK] = {"", "rc", "ry", "rx", "rz"};
  const char *names[MOST_RANK];
  for (uint32_t i = 0; i < w->at.rank; i++)
    names[w->at.places[i]] = axes[i];
  tvms_te_open_named(w->te, stage, shape, names);
  tvms_list dims = tvms_te_shape(filter);
  for (uint32_t axis = 0; axis < w->at.rank; axis++) {
    for (uint32_t i = 1; i < w->at.rank; i++) {
      if (w->at.places[i] != axis) continue;
      tvms_node *extent = i == 1 ? channels_seen(w) : dims.items[filter_at->places[i]];
      reduced[i - 1] = tvms_te_reduce(stage, steps[i], extent);
    }
  }
}

static const char *conv_name(const windows *w, char *buffer, size_t size) {
  tvms_bytes text = w->attrs.data_layout;
  int len = snprintf(buffer, size, "%sconv%ud_", w->attrs.groups > 1 ? "group_" : "",
                     w->attrs.spatial);
  for (uint32_t i = 0; i < text.len; i++) {
    buffer[len + (int)i] = (char)(text.text[i] | 0x20);
  }
  buffer[len + (int)text.len] = '\0';
  return buffer;
}

// The channel of the data that belongs to filter `filter_axis` and channel `rc` of it.
static tvms_node *channel_of(const windows *w, int64_t groups, tvms_node *filter_axis,
                             tvms_node *filters, tvms_node *rc, tvms_node *channels) {
  if (groups == 1) return rc;
  tvms_node *share =
      build(w->te, TVMS_NODE_FLOOR_DIV, filters, tvms_te_index(w->te, groups));
  tvms_node *group = build(w->te, TVMS_NODE_FLOOR_DIV, filter_axis, share);
  return build(w->te, TVMS_NODE_ADD, build(w->te, TVMS_NODE_MUL, group, channels), rc);
}

// The spatial dimensions of the result as topi has them: inference writes them in another
// order where the kernel's size is symbolic.
static void set_lengths(const windows *w, tvms_node *filter, const layout *filter_at,
                        tvms_list shape) {
  tvms_te *te = w->te;
  tvms_node *one = tvms_te_index(te, 1);
  for (uint32_t i = 0; i < w->attrs.spatial; i++) {
    uint32_t at = w->at.places[2 + i];
    tvms_node *size = tvms_te_shape(filter).items[filter_at->places[2 + i]];
    if (tvms_node_is_int_imm(size)) continue;
    tvms_node *reach = build(te, TVMS_NODE_MUL, build(te, TVMS_NODE_SUB, size, one),
                             tvms_te_index(te, item(w->attrs.dilation, i)));
    tvms_node *length =
        build(te, TVMS_NODE_SUB, tvms_te_shape(w->data).items[at], reach);
    length = build(te, TVMS_NODE_SUB, length, one);
    length =
        build(te, TVMS_NODE_ADD, length, tvms_te_index(te, item(w->attrs.padding, i)));
    length = build(te, TVMS_NODE_ADD, length,
                   tvms_te_index(te, item(w->attrs.padding, w->attrs.spatial + i)));
    length = build(te, TVMS_NODE_FLOOR_DIV, length,
                   tvms_te_index(te, item(w->attrs.strides, i)));
    length = build(te, TVMS_NODE_ADD, length, one);
    if (length) shape.items[at] = tvms_analyzer_simplify(te->analyzer, length);
  }
}

bool tvms_legalize_conv(tvms_legal *legal) {
  static const char *const names[] = {"conv1d", "conv2d", "conv3d"};
  windows w;
  layout filter_at;
  tvms_list shape;
  bool fine = open_windows(&w, legal)
              && read_layout(w.attrs.kernel_layout, 'O', 'I', w.at.rank, &filter_at)
              && tvms_legal_result_shape(legal, &shape);
  if (!fine) return false;
  legal->name = names[w.attrs.spatial - 1];
  tvms_te *te = w.te;
  tvms_node *filter = tvms_legal_tensor(legal, tvms_legal_arg(legal, 1));
  int64_t groups = w.attrs.groups;
  set_lengths(&w, filter, &filter_at, shape);
  tvms_node *padded = pad(&w, tvms_te_const(te, tvms_te_dtype(w.data), 0), "i");
  tvms_stage stage;
  tvms_node *reduced[MOST_RANK];
  open_conv(&w, &stage, shape, filter, &filter_at, reduced);
  tvms_node *const *axes = stage.axes.items;
  tvms_list dims = tvms_te_shape(filter);
  tvms_node *data_at[MOST_RANK], *weight_at[MOST_RANK];
  data_at[w.at.places[0]] = axes[w.at.places[0]];
  data_at[w.at.places[1]] =
      channel_of(&w, groups, axes[w.at.places[1]], dims.items[filter_at.places[0]],
                 reduced[0], channels_seen(&w));
  weight_at[filter_at.places[0]] = axes[w.at.places[1]];
  weight_at[filter_at.places[1]] = reduced[0];
  for (uint32_t i = 0; i < w.attrs.spatial; i++) {
    uint32_t at = w.at.places[2 + i];
    data_at[at] = place(&w, i, axes[at], reduced[1 + i]);
    weight_at[filter_at.places[2 + i]] = reduced[1 + i];
  }
  tvms_dtype dtype = tvms_legal_result_dtype(legal);
  tvms_node *x = cast_to(te, dtype, tvms_te_load(te, padded, data_at, w.at.rank));
  tvms_node *y = cast_to(te, dtype, tvms_te_load(te, filter, weight_at, w.at.rank));
  char name[64];
  conv_name(&w, name, sizeof name);
  tvms_node *product = build(te, TVMS_NODE_MUL, x, y);
  return tvms_legal_return(legal,
                           tvms_te_close_fold(&stage, name, TVMS_FOLD_SUM, product));
}
