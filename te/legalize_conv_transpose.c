// Descriptions of transposed convolutions, which are convolutions of stretched data.
//
// Zeros go between the elements of the data (strides) and around them, the kernel is turned
// round and its channels change places; what is left is a convolution with stride 1. TVM has
// this for the layouts NCW and IOW, and those of more spatial axes.
#include "structinfo/windows.h"
#include "te/element.h"
#include "te/legalizers.h"

enum { MOST_SPATIAL = 3, MOST_RANK = MOST_SPATIAL + 2 };

typedef struct {
  tvms_te *te;
  tvms_windows attrs;
  uint32_t spatial, rank;
  tvms_node *data, *weight;
  tvms_node *window[MOST_SPATIAL];  // size of the kernel, dilated
} transposed;

static int64_t item(tvms_list list, uint32_t i) {
  return tvms_attr_item_int(list.items[i]);
}

static bool is_dilated(const tvms_windows *attrs) {
  for (uint32_t i = 0; i < attrs->dilation.len; i++) {
    if (item(attrs->dilation, i) != 1) return true;
  }
  return false;
}

static bool has_description(const transposed *t) {
  static const char *const data[] = {"NCW", "NCHW", "NCDHW"};
  static const char *const kernel[] = {"IOW", "IOHW", "IODHW"};
  uint32_t i = t->spatial - 1;
  return tvms_bytes_is(t->attrs.data_layout, data[i])
         && tvms_bytes_is(t->attrs.kernel_layout, kernel[i])
         && tvms_bytes_same(t->attrs.data_layout, t->attrs.out_layout)
         && (!is_dilated(&t->attrs)
             || tvms_release_has(t->te->unit->dialect,
                                 TVMS_FACT_transposed_kernels_are_dilated));
}

// A length with zeros between its elements.
static tvms_node *stretched_length(tvms_te *te, tvms_node *length, int64_t stride) {
  tvms_node *last = MUL(SUB(length, INDEX(1)), INDEX(stride));
  return tvms_analyzer_simplify(te->analyzer, ADD(last, INDEX(1)));
}

// Zeros between the elements along the spatial axes.
static tvms_node *stretched(const transposed *t, tvms_node *x, tvms_list strides,
                            const char *name) {
  tvms_te *te = t->te;
  tvms_list from = tvms_te_shape(x);
  tvms_list shape = tvms_list_copy(te->unit, from.items, from.len);
  for (uint32_t i = 0; i < t->spatial; i++) {
    shape.items[2 + i] = stretched_length(te, from.items[2 + i], item(strides, i));
  }
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "i");
  tvms_list indices = tvms_list_copy(te->unit, stage.axes.items, shape.len);
  tvms_node *hit = NULL;
  for (uint32_t i = 0; i < t->spatial; i++) {
    tvms_node *axis = indices.items[2 + i], *stride = INDEX(item(strides, i));
    if (item(strides, i) == 1) continue;
    indices.items[2 + i] = FLOOR_DIV(axis, stride);
    tvms_node *here = EQ(FLOOR_MOD(axis, stride), INDEX(0));
    hit = hit ? AND(hit, here) : here;
  }
  tvms_node *value = tvms_te_load(te, x, indices.items, indices.len);
  if (hit) value = IF(hit, value, tvms_te_const(te, value->dtype, 0));
  return tvms_te_close(&stage, name, value);
}

// Zeros around the data, as many as the kernel reaches over the edge.
static tvms_node *padded(const transposed *t, tvms_node *x) {
  tvms_te *te = t->te;
  tvms_node *before[MOST_RANK] = {INDEX(0), INDEX(0)};
  tvms_node *after[MOST_RANK] = {INDEX(0), INDEX(0)};
  for (uint32_t i = 0; i < t->spatial; i++) {
    tvms_node *reach = SUB(t->window[i], INDEX(1));
    before[2 + i] = SUB(reach, INDEX(item(t->attrs.padding, i)));
    after[2 + i] = SUB(reach, INDEX(item(t->attrs.padding, t->spatial + i)));
    after[2 + i] = ADD(after[2 + i], INDEX(item(t->attrs.output_padding, i)));
  }
  tvms_node *zero = tvms_te_const(te, tvms_te_dtype(x), 0);
  return tvms_te_pad_by(te, x, before, after, zero, "data_pad", "i", false);
}

// The names of the axes behind the first two: w; h, w; d, h, w.
static const char *const *spatial_names(const transposed *t,
                                        const char *const names[MOST_SPATIAL]) {
  return names + MOST_SPATIAL - t->spatial;
}

// The kernel as O, I and the spatial axes from their ends.
static tvms_node *turned(const transposed *t, tvms_node *kernel, tvms_node *channels) {
  static const char *const letters[] = {"d", "h", "w"};
  tvms_te *te = t->te;
  tvms_list from = tvms_te_shape(kernel);
  tvms_list shape = tvms_list_copy(te->unit, from.items, from.len);
  shape.items[0] = from.items[1];
  shape.items[1] = channels;
  // topi calls them the other way round in one place.
  bool swapped = t->spatial == 2 && t->attrs.groups > 1;
  const char *names[MOST_RANK] = {swapped ? "i" : "o", swapped ? "o" : "i"};
  for (uint32_t i = 0; i < t->spatial; i++)
    names[2 + i] = spatial_names(t, letters)[i];
  tvms_stage stage;
  tvms_te_open_named(te, &stage, shape, names);
  tvms_node *const *axes = stage.axes.items, *indices[MOST_RANK] = {axes[1], axes[0]};
  for (uint32_t i = 2; i < t->rank; i++)
    indices[i] = SUB(SUB(from.items[i], INDEX(1)), axes[i]);
  return tvms_te_close(&stage, t->spatial == 1 ? "kernel" : "kernel_transform",
                       tvms_te_load(te, kernel, indices, t->rank));
}

static tvms_list result_shape(const transposed *t, tvms_node *data, tvms_node *kernel) {
  tvms_te *te = t->te;
  tvms_list from = tvms_te_shape(data), window = tvms_te_shape(kernel);
  tvms_list shape = tvms_list_copy(te->unit, from.items, from.len);
  shape.items[1] = MUL(window.items[0], INDEX(t->attrs.groups));
  for (uint32_t i = 2; i < t->rank; i++)
    shape.items[i] = ADD(SUB(from.items[i], window.items[i]), INDEX(1));
  for (uint32_t i = 1; i < t->rank; i++)
    shape.items[i] = tvms_analyzer_simplify(te->analyzer, shape.items[i]);
  return shape;
}

// The convolution; `data` is padded, `kernel` turned.
static tvms_node *convolved(const transposed *t, tvms_node *data, tvms_node *kernel,
                            tvms_dtype dtype) {
  static const char *const letters[] = {"d", "h", "w"}, *const steps[] = {"dd", "dh",
                                                                          "dw"};
  tvms_te *te = t->te;
  const char *names[MOST_RANK] = {"b", "c"};
  for (uint32_t i = 0; i < t->spatial; i++)
    names[2 + i] = spatial_names(t, letters)[i];
  tvms_list shape = result_shape(t, data, kernel);
  tvms_node *groups = INDEX(t->attrs.groups);
  tvms_node *seen = FLOOR_DIV(tvms_te_shape(data).items[1], groups);
  tvms_stage stage;
  tvms_te_open_named(te, &stage, shape, names);
  tvms_node *at[MOST_RANK], *weight_at[MOST_RANK];
  at[1] = weight_at[1] = tvms_te_reduce(&stage, "dc", seen);
  for (uint32_t i = 0; i < t->spatial; i++) {
    weight_at[2 + i] = tvms_te_reduce(&stage, spatial_names(t, steps)[i],
                                      tvms_te_shape(kernel).items[2 + i]);
  }
  tvms_node *const *axes = stage.axes.items;
  for (uint32_t i = 2; i < t->rank; i++)
    at[i] = ADD(axes[i], weight_at[i]);
  at[0] = axes[0];
  weight_at[0] = axes[1];
  if (t->attrs.groups > 1) {
    tvms_node *share = FLOOR_DIV(shape.items[1], groups);
    at[1] = weight_at[1] = ADD(MUL(FLOOR_DIV(axes[1], share), seen), at[1]);
    weight_at[0] = FLOOR_MOD(axes[1], share);
  }
  tvms_node *product =
      MUL(tvms_te_convert(te, dtype, tvms_te_load(te, data, at, t->rank)),
          tvms_te_convert(te, dtype, tvms_te_load(te, kernel, weight_at, t->rank)));
  return tvms_te_close_fold(&stage, "compute", TVMS_FOLD_SUM, product);
}

bool tvms_legalize_conv_transpose(tvms_legal *legal) {
  static const char *const names[] = {"conv1d_transpose", "conv2d_transpose",
                                      "conv3d_transpose"};
  transposed t = {.te = &legal->te, .attrs = tvms_windows_of(legal->call)};
  t.spatial = t.attrs.spatial;
  t.rank = t.spatial + 2;
  if (!has_description(&t)) return false;
  legal->name = names[t.spatial - 1];
  t.data = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  t.weight = tvms_legal_tensor(legal, tvms_legal_arg(legal, 1));
  bool dilated = is_dilated(&t.attrs);
  for (uint32_t i = 0; i < t.spatial; i++) {
    t.window[i] = tvms_te_shape(t.weight).items[2 + i];
    int64_t step = item(t.attrs.dilation, i);
    if (dilated) t.window[i] = stretched_length(t.te, t.window[i], step);
  }
  tvms_node *data = padded(&t, stretched(&t, t.data, t.attrs.strides, "data_dilate"));
  tvms_node *kernel =
      dilated ? stretched(&t, t.weight, t.attrs.dilation, "kernel_dilate") : t.weight;
  kernel = turned(&t, kernel, tvms_te_shape(t.data).items[1]);
  tvms_dtype dtype = tvms_legal_result_dtype(legal);
  return tvms_legal_return(legal, convolved(&t, data, kernel, dtype));
}
