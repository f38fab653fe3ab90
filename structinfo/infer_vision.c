// Rules of operators for detection.
#include "structinfo/infer_common.h"
#include "structinfo/make.h"

#include <string.h>

#define INT32 TVMS_DTYPE(INT, 32)
#define INT64 TVMS_DTYPE(INT, 64)

// A tensor with these dimensions.
static tvms_node *of_dims(tvms_inference *in, tvms_node *const *dims, uint32_t count,
                          tvms_dtype dtype, tvms_node *TVMS_NULLABLE vdevice) {
  tvms_dims result = tvms_dims_new(in, count);
  for (uint32_t i = 0; i < count; i++) {
    result.items[i] = dims[i];
  }
  return tvms_in_result(in, result, dtype, vdevice);
}

static tvms_node *constant(tvms_inference *in, int64_t value) {
  return tvms_sinfo_dim_new(in->unit, value);
}

// Argument `i` as a tensor of rank `ndim`, or of unknown rank.
static bool ranked(tvms_inference *in, uint32_t i, int64_t ndim,
                   tvms_tensor_argument *tensor) {
  if (!tvms_in_tensor(in, i, tensor)) return false;
  if (tensor->ndim == TVMS_UNKNOWN_NDIM || tensor->ndim == ndim) return true;
  tvms_in_wrong_ndim(in, i, ndim, tensor->ndim);
  return false;
}

// Reports if a dimension is a constant other than `value`.
static bool is_length(tvms_inference *in, uint32_t i,
                      const tvms_tensor_argument *tensor, uint32_t axis, int64_t value,
                      const char *what) {
  int64_t length;
  bool other = tensor->known && tvms_sinfo_dim_int(tensor->dims.items[axis], &length)
               && length != value;
  if (other) tvms_in_expects(in, i, what);
  return !other;
}

// ---- Boxes of SSD ----

static bool same_elements(tvms_inference *in, uint32_t i, tvms_dtype a, tvms_dtype b) {
  if (tvms_dtype_is_void(a) || tvms_dtype_is_void(b) || tvms_dtype_same(a, b)) {
    return true;
  }
  tvms_in_wrong_dtype(in, i, "the data type of cls_pred", b);
  return false;
}

// Reports if two dimensions are known to differ.
static bool agree(tvms_inference *in, const tvms_tensor_argument *a, uint32_t axis_a,
                  uint32_t i, const tvms_tensor_argument *b, uint32_t axis_b) {
  if (!a->known || !b->known) return true;
  tvms_node *x = a->dims.items[axis_a], *y = b->dims.items[axis_b];
  if (!tvms_dim_differ(in->prover, x, y)) return true;
  tvms_in_unequal(in, i, "dimensions", x, y);
  return false;
}

// The number of boxes, where two arguments know it.
static bool boxes_agree(tvms_inference *in, const tvms_tensor_argument *classes,
                        const tvms_tensor_argument *offsets,
                        const tvms_tensor_argument *anchors) {
  int64_t boxes, length;
  if (!classes->known || !tvms_sinfo_dim_int(classes->dims.items[2], &boxes))
    return true;
  bool fits = !offsets->known || !tvms_sinfo_dim_int(offsets->dims.items[1], &length)
              || length == 4 * boxes;
  if (!fits) tvms_in_expects(in, 1, "four numbers per box of cls_pred");
  return fits
         && is_length(in, 2, anchors, 1, boxes,
                      "as many anchors as cls_pred has boxes");
}

tvms_node *tvms_infer_multibox(tvms_inference *in) {
  tvms_tensor_argument classes, offsets, anchors;
  if (!tvms_in_count(in, 3, 3) || !ranked(in, 0, 3, &classes)
      || !ranked(in, 1, 2, &offsets) || !ranked(in, 2, 3, &anchors)
      || !same_elements(in, 1, classes.dtype, offsets.dtype)
      || !same_elements(in, 2, classes.dtype, anchors.dtype)
      || !is_length(in, 2, &anchors, 0, 1, "anchors of one batch")
      || !is_length(in, 2, &anchors, 2, 4, "four numbers per anchor")
      || !agree(in, &classes, 0, 1, &offsets, 0)
      || !boxes_agree(in, &classes, &offsets, &anchors)) {
    return NULL;
  }
  tvms_node *fields[2];
  if (!classes.known) {
    fields[0] = fields[1] = tvms_in_result_ndim(in, 3, classes.dtype, classes.vdevice);
    return tvms_sinfo_tuple_new(in->unit, fields, 2);
  }
  tvms_node **dims = classes.dims.items;
  tvms_node *boxes[] = {dims[0], dims[2], constant(in, 4)};
  fields[0] = of_dims(in, boxes, 3, classes.dtype, classes.vdevice);
  fields[1] = of_dims(in, dims, 3, classes.dtype, classes.vdevice);
  return tvms_sinfo_tuple_new(in->unit, fields, 2);
}

// ---- Suppression ----

static bool is_onnx(const tvms_call *call) {
  const tvms_node *format = tvms_attr(call, TVMS_ATTR_all_class_nms_output_format);
  if (!format || format->kind != TVMS_NODE_OBJECT_STR) return true;
  tvms_bytes text = tvms_as_object_str(format)->value;
  return text.len == 4 && memcmp(text.text, "onnx", 4) == 0;
}

tvms_node *tvms_infer_all_class_nms(tvms_inference *in) {
  tvms_tensor_argument boxes, scores;
  if (!tvms_in_count(in, 5, 5) || !ranked(in, 0, 3, &boxes)
      || !ranked(in, 1, 3, &scores)) {
    return NULL;
  }
  if (!boxes.known) return tvms_in_expects(in, 0, "a tensor of known shape");
  if (!scores.known) return tvms_in_expects(in, 1, "a tensor of known shape");
  tvms_node *batch = boxes.dims.items[0], *classes = scores.dims.items[1];
  tvms_node *count = boxes.dims.items[1], *vdevice = boxes.vdevice, *fields[3];
  if (is_onnx(in->call)) {
    tvms_node *all = tvms_dim_binary(in->prover, TVMS_NODE_MUL, batch, classes);
    if (all) all = tvms_dim_binary(in->prover, TVMS_NODE_MUL, all, count);
    if (!all) return NULL;
    tvms_node *selected[] = {all, constant(in, 3)}, *one = constant(in, 1);
    fields[0] = of_dims(in, selected, 2, INT64, vdevice);
    fields[1] = of_dims(in, &one, 1, INT64, vdevice);
    return tvms_sinfo_tuple_new(in->unit, fields, 2);
  }
  tvms_node *each = tvms_dim_binary(in->prover, TVMS_NODE_MUL, classes, count);
  if (!each) return NULL;
  tvms_node *selected[] = {batch, each, constant(in, 2)};
  fields[0] = of_dims(in, selected, 3, INT64, vdevice);
  fields[1] = of_dims(in, selected, 2, TVMS_DTYPE(FLOAT, 32), vdevice);
  fields[2] = of_dims(in, selected, 1, INT64, vdevice);
  return tvms_sinfo_tuple_new(in->unit, fields, 3);
}

tvms_node *tvms_infer_get_valid_counts(tvms_inference *in) {
  tvms_tensor_argument x;
  if (!tvms_in_count(in, 1, 1) || !ranked(in, 0, 3, &x)) return NULL;
  tvms_node *fields[3];
  if (x.known) {
    fields[0] = of_dims(in, x.dims.items, 1, INT32, x.vdevice);
    fields[1] = of_dims(in, x.dims.items, 3, x.dtype, x.vdevice);
    fields[2] = of_dims(in, x.dims.items, 2, INT32, x.vdevice);
  } else {
    fields[0] = tvms_in_result_ndim(in, 1, INT32, x.vdevice);
    fields[1] = tvms_in_result_ndim(in, 3, x.dtype, x.vdevice);
    fields[2] = tvms_in_result_ndim(in, 2, INT32, x.vdevice);
  }
  return tvms_sinfo_tuple_new(in->unit, fields, 3);
}

static bool is_int32(tvms_inference *in, uint32_t i, tvms_dtype dtype) {
  if (tvms_dtype_is_void(dtype) || tvms_dtype_same(dtype, INT32)) return true;
  tvms_in_wrong_dtype(in, i, "int32", dtype);
  return false;
}

static bool is_soft(const tvms_call *call) {
  const tvms_node *sigma = tvms_attr(call, TVMS_ATTR_nms_soft_nms_sigma);
  return sigma && sigma->kind == TVMS_NODE_OBJECT_FLOAT
         && tvms_as_object_float(sigma)->value > 0;
}

tvms_node *tvms_infer_nms(tvms_inference *in) {
  tvms_tensor_argument x, counts, indices;
  if (!tvms_in_count(in, 3, 3) || !ranked(in, 0, 3, &x) || !ranked(in, 1, 1, &counts)
      || !ranked(in, 2, 2, &indices) || !is_int32(in, 1, counts.dtype)
      || !is_int32(in, 2, indices.dtype) || !agree(in, &x, 0, 1, &counts, 0)
      || !agree(in, &x, 0, 2, &indices, 0) || !agree(in, &x, 1, 2, &indices, 1)) {
    return NULL;
  }
  if (!tvms_attr_int(in->call, TVMS_ATTR_nms_return_indices, 1)) {
    return x.known ? of_dims(in, x.dims.items, 3, x.dtype, x.vdevice)
                   : tvms_in_result_ndim(in, 3, x.dtype, x.vdevice);
  }
  // Soft suppression changes the scores, so it returns the data, too.
  tvms_node *fields[3];
  bool soft = is_soft(in->call);
  if (x.known) {
    tvms_node *each[] = {x.dims.items[0], constant(in, 1)};
    fields[0] = of_dims(in, x.dims.items, 3, x.dtype, x.vdevice);
    fields[1] = of_dims(in, x.dims.items, 2, INT32, x.vdevice);
    fields[2] = of_dims(in, each, 2, INT32, x.vdevice);
  } else {
    fields[0] = tvms_in_result_ndim(in, 3, x.dtype, x.vdevice);
    fields[1] = fields[2] = tvms_in_result_ndim(in, 2, INT32, x.vdevice);
  }
  return tvms_sinfo_tuple_new(in->unit, fields + !soft, 2 + soft);
}

// ---- Regions of interest ----

static tvms_node *TVMS_NULLABLE pooled(tvms_inference *in, uint32_t axis) {
  const tvms_node *sizes = tvms_attr(in->call, TVMS_ATTR_roi_align_pooled_size);
  if (!sizes || sizes->kind != TVMS_NODE_OBJECT_ARRAY) return NULL;
  tvms_list list = tvms_as_object_array(sizes)->items;
  if (axis >= list.len || list.items[axis]->kind != TVMS_NODE_OBJECT_INT) return NULL;
  return constant(in, tvms_as_object_int(list.items[axis])->value);
}

static tvms_node *TVMS_NULLABLE infer_roi(tvms_inference *in, bool channels_last) {
  tvms_tensor_argument x, regions;
  if (!tvms_in_count(in, 2, 2) || !ranked(in, 0, 4, &x) || !ranked(in, 1, 2, &regions)
      || !is_length(in, 1, &regions, 1, 5, "five numbers per region")) {
    return NULL;
  }
  tvms_node *height = pooled(in, 0), *width = pooled(in, 1);
  if (!height || !width) return tvms_in_expects(in, TVMS_THE_CALL, "two pooled sizes");
  if (!x.known || !regions.known) return tvms_in_result_ndim(in, 4, x.dtype, x.vdevice);
  tvms_node *first[] = {regions.dims.items[0], x.dims.items[1], height, width};
  tvms_node *last[] = {regions.dims.items[0], height, width, x.dims.items[3]};
  return of_dims(in, channels_last ? last : first, 4, x.dtype, x.vdevice);
}

static bool has_layout(const tvms_inference *in, uint32_t place, const char *wanted) {
  const tvms_node *layout = tvms_attr(in->call, place);
  if (!layout || layout->kind != TVMS_NODE_OBJECT_STR) return false;
  tvms_bytes text = tvms_as_object_str(layout)->value;
  return text.len == strlen(wanted) && memcmp(text.text, wanted, text.len) == 0;
}

tvms_node *tvms_infer_roi_align(tvms_inference *in) {
  bool last = has_layout(in, TVMS_ATTR_roi_align_layout, "NHWC");
  if (!last && !has_layout(in, TVMS_ATTR_roi_align_layout, "NCHW")) {
    return tvms_in_expects(in, TVMS_THE_CALL, "layout \"NCHW\" or \"NHWC\"");
  }
  return infer_roi(in, last);
}

tvms_node *tvms_infer_roi_pool(tvms_inference *in) {
  if (!has_layout(in, TVMS_ATTR_roi_pool_layout, "NCHW")) {
    return tvms_in_expects(in, TVMS_THE_CALL, "layout \"NCHW\"");
  }
  return infer_roi(in, false);
}
