// Values of operator attributes: Python's numbers, lists and texts as attrs.def wants them.
#include "parser/relax/attrs.h"

#include "ir/build.h"
#include "ir/fold.h"
#include "ir/object.h"
#include "parser/eval/convert.h"
#include "parser/relax/types.h"
#include "structinfo/placement.h"

static bool fail_attr(tvms_reader *reader, const tvms_attr_row *row, tvms_ref ref,
                      const char *expected, tvms_eval_value value) {
  tvms_eval_report_wrong_type(reader, ref, row->name, expected, value);
  reader->failed = true;
  return false;
}

// The integer in a value: a Python number or a constant of TIR.
static bool int_of(tvms_eval_value value, int64_t *result) {
  if (value.kind == TVMS_EVAL_INT || value.kind == TVMS_EVAL_BOOL) {
    *result = value.as.i;
    return true;
  }
  if (value.kind != TVMS_EVAL_NODE) return false;
  const tvms_node *node = value.as.node;
  if (node->kind == TVMS_NODE_PRIM_VALUE) node = tvms_as_prim_value(node)->value;
  if (node->kind != TVMS_NODE_INT_IMM) return false;
  *result = tvms_as_int_imm(node)->value;
  return true;
}

static bool float_of(tvms_eval_value value, double *result) {
  int64_t whole;
  if (value.kind == TVMS_EVAL_FLOAT) {
    *result = value.as.f;
    return true;
  }
  if (int_of(value, &whole)) {
    *result = (double)whole;
    return true;
  }
  const tvms_node *node = tvms_eval_value_node_of(value, TVMS_NODE_FLOAT_IMM);
  if (node) *result = tvms_as_float_imm(node)->value;
  return node;
}

static bool int_list(tvms_reader *reader, const tvms_attr_row *row,
                     tvms_eval_value value, tvms_ref ref, int64_t *numbers,
                     uint32_t *count) {
  tvms_eval_items items = tvms_eval_items_of(&value);
  for (uint32_t i = 0; i < items.len; i++) {
    if (!int_of(items.items[i], &numbers[i])) {
      return fail_attr(reader, row, ref, "a list of integers", value);
    }
  }
  *count = items.len;
  return true;
}

static tvms_node *int_array(tvms_reader *reader, const int64_t *numbers, uint32_t count,
                            tvms_span span) {
  tvms_node **nodes = tvms_arena_array(&reader->values, tvms_node *, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    nodes[i] = tvms_object_int_new(reader->unit, numbers[i], span);
  }
  return tvms_object_array_new(reader->unit, nodes, count, span);
}

enum { MOST_DIMS = 6 };

// One number per axis; one stands for all.
static bool expand_dims(int64_t *numbers, uint32_t *count, uint32_t wanted) {
  for (; *count<wanted && * count> 0 && wanted <= MOST_DIMS; ++*count) {
    if (*count > 1 && *count < wanted && numbers[*count - 1] != numbers[0])
      return false;
    numbers[*count] = numbers[0];
  }
  return *count == wanted;
}

// Padding before and after each axis: 1 number for all, n for both sides, or 2 n.
static bool expand_pads(int64_t *numbers, uint32_t *count, uint32_t axes) {
  if (*count == 1) {
    for (uint32_t i = 1; i < 2 * axes; i++) {
      numbers[i] = numbers[0];
    }
  } else if (*count == axes) {
    for (uint32_t i = 0; i < axes; i++) {
      numbers[axes + i] = numbers[i];
    }
  } else {
    return *count == 2 * axes;
  }
  *count = 2 * axes;
  return true;
}

static bool to_ints(tvms_reader *reader, const tvms_attr_row *row,
                    tvms_eval_value value, tvms_ref ref, uint32_t dims, bool pads,
                    tvms_node **result) {
  uint32_t room = tvms_eval_value_is_sequence(value) ? value.len : 1, count;
  int64_t *numbers = tvms_arena_array(&reader->values, int64_t, room + MOST_DIMS);
  if (!int_list(reader, row, value, ref, numbers, &count)) return false;
  bool one = count == 1 && dims > 0 && !pads;
  if (one && !expand_dims(numbers, &count, dims)) {
    return fail_attr(reader, row, ref, "one number per spatial axis", value);
  }
  if (pads && !expand_pads(numbers, &count, dims)) {
    return fail_attr(reader, row, ref,
                     "one number, one for each spatial axis or two for each", value);
  }
  *result = int_array(reader, numbers, count, tvms_reader_span_of(reader, ref));
  return true;
}

static bool to_floats(tvms_reader *reader, const tvms_attr_row *row,
                      tvms_eval_value value, tvms_ref ref, tvms_node **result) {
  tvms_eval_items items = tvms_eval_items_of(&value);
  tvms_span span = tvms_reader_span_of(reader, ref);
  tvms_node **nodes = tvms_arena_array(&reader->values, tvms_node *, items.len + 1);
  for (uint32_t i = 0; i < items.len; i++) {
    double number;
    if (!float_of(items.items[i], &number)) {
      return fail_attr(reader, row, ref, "a list of numbers", value);
    }
    // Regions are expressions; other lists hold plain numbers.
    nodes[i] = tvms_object_float_new(reader->unit, number, span);
    if ((row->type & ~TVMS_ATTR_OPT) != TVMS_ATTR_FLOATS) {
      nodes[i] = tvms_build_float(reader->unit, TVMS_DTYPE(FLOAT, 32), number, span);
      if (!nodes[i]) return false;
    }
  }
  *result = tvms_object_array_new(reader->unit, nodes, items.len, span);
  return true;
}

// A region of interest: zeros if absent, one number for all bounds.
static bool to_roi(tvms_reader *reader, const tvms_attr_row *row, tvms_eval_value value,
                   tvms_ref ref, uint32_t axes, tvms_node **result) {
  tvms_eval_value bounds[6], given = value;
  if (!tvms_eval_value_is_sequence(value)) {
    if (value.kind == TVMS_EVAL_NONE) given = tvms_eval_value_float(0);
    for (uint32_t i = 0; i < 2 * axes; i++) {
      bounds[i] = given;
    }
    given = tvms_eval_value_items(TVMS_EVAL_TUPLE, bounds, 2 * axes);
  }
  return to_floats(reader, row, given, ref, result);
}

static bool to_one(tvms_reader *reader, const tvms_attr_row *row, int type,
                   tvms_eval_value value, tvms_ref ref, tvms_node **result) {
  tvms_unit *unit = reader->unit;
  tvms_span span = tvms_reader_span_of(reader, ref);
  int64_t number;
  double real;
  switch (type) {
  case TVMS_ATTR_BOOL:
    if (!int_of(value, &number)) return fail_attr(reader, row, ref, "a bool", value);
    *result = tvms_object_bool_new(unit, number != 0, span);
    return true;
  case TVMS_ATTR_INT:
    if (!int_of(value, &number)) return fail_attr(reader, row, ref, "an int", value);
    *result = tvms_object_int_new(unit, number, span);
    return true;
  case TVMS_ATTR_FLOAT:
    if (!float_of(value, &real)) return fail_attr(reader, row, ref, "a number", value);
    // What may be absent is an expression.
    *result = row->type & TVMS_ATTR_OPT
                  ? tvms_build_float(unit, TVMS_DTYPE(FLOAT, 32), real, span)
                  : tvms_object_float_new(unit, real, span);
    return *result != NULL;
  default:
    if (value.kind != TVMS_EVAL_STR) {
      return fail_attr(reader, row, ref, "text", value);
    }
    *result = tvms_object_str_new(unit, value.as.text, value.len, span);
    return true;
  }
}

static bool to_dtype_attr(tvms_reader *reader, const tvms_attr_row *row,
                          tvms_eval_value value, tvms_ref ref, tvms_node **result) {
  tvms_dtype dtype;
  if (!tvms_eval_to_dtype(reader, value, ref, &dtype)) {
    reader->failed = true;
    return false;
  }
  bool optional = row->type & TVMS_ATTR_OPT;
  *result = NULL;
  if (optional && tvms_dtype_is_void(dtype)) return true;
  *result =
      tvms_object_dtype_new(reader->unit, dtype, tvms_reader_span_of(reader, ref));
  return true;
}

static bool to_object_attr(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                           tvms_node **result) {
  *result = tvms_eval_to_object(reader, value, ref);
  if (!*result) reader->failed = true;
  return *result;
}

// Kept as text in the form that TVM writes.
static bool to_placement(tvms_reader *reader, const tvms_attr_row *row,
                         tvms_eval_value value, tvms_ref ref, tvms_node **result) {
  tvms_bytes text = {value.as.text, value.len};
  tvms_placement placement;
  if (value.kind != TVMS_EVAL_STR || !tvms_placement_parse(text, &placement)) {
    return fail_attr(reader, row, ref, "a placement as in \"S[0], R\"", value);
  }
  text = tvms_placement_text(reader->unit, &placement);
  *result = tvms_object_str_new(reader->unit, text.text, text.len,
                                tvms_reader_span_of(reader, ref));
  return true;
}

bool tvms_relax_to_attr(tvms_reader *reader, const tvms_attr_row *row,
                        tvms_eval_value value, tvms_ref ref, tvms_node **result) {
  int type = row->type & ~TVMS_ATTR_OPT;
  *result = NULL;
  if (value.kind == TVMS_EVAL_UNKNOWN) {
    reader->failed = true;
    return false;
  }
  bool rois = type == TVMS_ATTR_ROI2 || type == TVMS_ATTR_ROI3;
  bool absent = row->type & TVMS_ATTR_OPT || type == TVMS_ATTR_OUT_LAYOUT
                || type == TVMS_ATTR_MAP;
  if (value.kind == TVMS_EVAL_NONE && row->type == TVMS_ATTR_OPT_BOOL) {
    value = tvms_eval_value_bool(false);  // as TVM stores it
  }
  if (value.kind == TVMS_EVAL_NONE && absent && !rois) return true;
  switch (type) {
  case TVMS_ATTR_BOOL:
  case TVMS_ATTR_INT:
  case TVMS_ATTR_FLOAT:
  case TVMS_ATTR_STR:
  case TVMS_ATTR_OUT_LAYOUT: return to_one(reader, row, type, value, ref, result);
  case TVMS_ATTR_DTYPE: return to_dtype_attr(reader, row, value, ref, result);
  case TVMS_ATTR_INT_LIST: {
    int64_t number;
    if (int_of(value, &number)) {
      return fail_attr(reader, row, ref, "a list of integers", value);
    }
    return to_ints(reader, row, value, ref, 0, false, result);
  }
  case TVMS_ATTR_INTS: return to_ints(reader, row, value, ref, 0, false, result);
  case TVMS_ATTR_DIMS1:
  case TVMS_ATTR_DIMS2:
  case TVMS_ATTR_DIMS3: {
    uint32_t dims = (uint32_t)(type - TVMS_ATTR_DIMS1 + 1);
    return to_ints(reader, row, value, ref, dims, false, result);
  }
  case TVMS_ATTR_PADS1:
  case TVMS_ATTR_PADS2:
  case TVMS_ATTR_PADS3: {
    uint32_t dims = (uint32_t)(type - TVMS_ATTR_PADS1 + 1);
    return to_ints(reader, row, value, ref, dims, true, result);
  }
  case TVMS_ATTR_FLOATS: return to_floats(reader, row, value, ref, result);
  case TVMS_ATTR_ROI2: return to_roi(reader, row, value, ref, 2, result);
  case TVMS_ATTR_ROI3: return to_roi(reader, row, value, ref, 3, result);
  case TVMS_ATTR_VDEVICE:
    if (tvms_relax_to_vdevice(reader, value, ref, result)) return true;
    reader->failed = true;
    return false;
  case TVMS_ATTR_MESH:
    *result = value.kind == TVMS_EVAL_STR
                  ? tvms_relax_mesh(reader, value)
                  : tvms_relax_place(reader, value, TVMS_NODE_OBJECT_MESH);
    if (*result) return true;
    tvms_reader_report(reader, unknown_mesh, ref);
    reader->failed = true;
    return false;
  case TVMS_ATTR_PLACEMENT: return to_placement(reader, row, value, ref, result);
  case TVMS_ATTR_INT_OR_INTS:
    if (tvms_eval_value_is_sequence(value)) {
      return to_ints(reader, row, value, ref, 0, false, result);
    }
    return to_one(reader, row, TVMS_ATTR_INT, value, ref, result);
  default: return to_object_attr(reader, value, ref, result);
  }
}
