// Values against types: what R.match_cast, parameters and results check at run time.
//
// Symbolic sizes that have no value yet get it here; the others are compared, and a
// mismatch names both values.
#include "interp/match.h"

#include "interp/frame.h"
#include "interp/prim.h"
#include "interp/tensor.h"
#include "support/diag_ids.h"
static const char *kind_name(tvms_value_kind kind) {
  static const char *const names[] = {
      [TVMS_VALUE_NONE] = "nothing",        [TVMS_VALUE_INT] = "an integer",
      [TVMS_VALUE_FLOAT] = "a float",       [TVMS_VALUE_BOOL] = "a bool",
      [TVMS_VALUE_STR] = "a string",        [TVMS_VALUE_TYPE] = "a data type",
      [TVMS_VALUE_FUNCTION] = "a function", [TVMS_VALUE_SHAPE] = "a shape",
      [TVMS_VALUE_TENSOR] = "a tensor",     [TVMS_VALUE_TUPLE] = "a tuple",
      [TVMS_VALUE_CLOSURE] = "a closure",   [TVMS_VALUE_STATE] = "a state",
  };
  return names[kind];
}

static void expect_kind(tvms_interp_frame *f, tvms_value value, tvms_value_kind kind,
                        const char *name, tvms_span span) {
  if (value.kind == kind) return;
  fault(f, TVMS_D_kind_mismatch, span, name, kind_name((tvms_value_kind)value.kind),
        kind_name(kind));
}

// Binds the variables that stand alone, or compares everything else.
static void match_sizes(tvms_interp_frame *f, tvms_list sizes,
                        const tvms_tensor *tensor, bool bind, const char *name,
                        tvms_span span) {
  for (uint32_t i = 0; i < sizes.len; i++) {
    const tvms_node *size = sizes.items[i];
    if (size->kind == TVMS_NODE_PRIM_VALUE) size = tvms_as_prim_value(size)->value;
    bool is_new = size->kind == TVMS_NODE_VAR && !f->bound[size->id];
    if (bind == is_new)
      tvms_interp_match_size(f, size, tensor->shape[i], name, i, span);
  }
}

static void match_dims(tvms_interp_frame *f, tvms_list sizes, const tvms_tensor *tensor,
                       bool bind, const char *name, tvms_span span) {
  if (sizes.len != (uint32_t)tensor->view.ndim) {
    fault(f, TVMS_D_rank_mismatch, span, name, tensor->view.ndim, sizes.len);
  }
  match_sizes(f, sizes, tensor, bind, name, span);
}

static void check_element(tvms_interp_frame *f, tvms_dtype wanted,
                          const tvms_tensor *tensor, const char *name, tvms_span span) {
  tvms_dl_type type = tvms_interp_dl_type_of(wanted), got = tensor->view.dtype;
  if (tvms_dtype_is_void(wanted)) return;
  if (type.code == got.code && type.bits == got.bits && type.lanes == got.lanes) return;
  char text[2][TVMS_DTYPE_TEXT];
  tvms_dtype dtype = {got.code, got.code == TVMS_BOOL ? 1 : got.bits,
                      (int16_t)got.lanes};
  fault(f, TVMS_D_dtype_mismatch, span, name, tvms_dtype_text(dtype, text[0]),
        tvms_dtype_text(wanted, text[1]));
}

static void match_tensor(tvms_interp_frame *f, const tvms_node *type, tvms_value value,
                         bool bind, const char *name, tvms_span span) {
  const tvms_sinfo_tensor *tensor = tvms_as_sinfo_tensor(type);
  expect_kind(f, value, TVMS_VALUE_TENSOR, name, span);
  check_element(f, type->dtype, value.tensor, name, span);
  const tvms_node *shape = tensor->shape;
  if (shape && shape->kind == TVMS_NODE_SHAPE_EXPR) {
    match_dims(f, tvms_as_shape_expr(shape)->values, value.tensor, bind, name, span);
  } else if (tensor->ndim >= 0 && tensor->ndim != value.tensor->view.ndim) {
    fault(f, TVMS_D_rank_mismatch, span, name, value.tensor->view.ndim,
          (uint32_t)tensor->ndim);
  }
}

static void match_prim(tvms_interp_frame *f, const tvms_node *type, tvms_value value,
                       bool bind, const char *name, tvms_span span) {
  const tvms_node *wanted = tvms_as_sinfo_prim(type)->value;
  bool real = tvms_dtype_is_real(type->dtype);
  bool number = value.kind == TVMS_VALUE_INT || value.kind == TVMS_VALUE_BOOL
                || (real && value.kind == TVMS_VALUE_FLOAT);
  if (!number)
    expect_kind(f, value, real ? TVMS_VALUE_FLOAT : TVMS_VALUE_INT, name, span);
  if (!wanted || real) return;
  bool is_new = wanted->kind == TVMS_NODE_VAR && !f->bound[wanted->id];
  if (bind == is_new) tvms_interp_match_size(f, wanted, value.i, name, 0, span);
}

static void match_one(tvms_interp_frame *f, const tvms_node *type, tvms_value value,
                      bool bind, const char *name, tvms_span span) {
  switch ((int)type->kind) {
  case TVMS_NODE_SINFO_TENSOR: match_tensor(f, type, value, bind, name, span); return;
  case TVMS_NODE_SINFO_PRIM: match_prim(f, type, value, bind, name, span); return;
  case TVMS_NODE_SINFO_SHAPE: {
    const tvms_sinfo_shape *shape = tvms_as_sinfo_shape(type);
    expect_kind(f, value, TVMS_VALUE_SHAPE, name, span);
    bool known = (type->flags & TVMS_FLAG_KNOWN) != 0;
    if (known) match_dims(f, shape->values, value.tensor, bind, name, span);
    return;
  }
  case TVMS_NODE_SINFO_TUPLE: {
    tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
    expect_kind(f, value, TVMS_VALUE_TUPLE, name, span);
    if (fields.len != value.tuple->len) {
      fault(f, TVMS_D_rank_mismatch, span, name, (int)value.tuple->len, fields.len);
    }
    for (uint32_t i = 0; i < fields.len; i++) {
      match_one(f, fields.items[i], value.tuple->items[i], bind, name, span);
    }
    return;
  }
  default: return;  // anything goes
  }
}

void tvms_interp_bind_sizes(tvms_interp_frame *f, const tvms_node *type,
                            tvms_value value, const char *name, tvms_span span) {
  match_one(f, type, value, true, name, span);
}

void tvms_interp_compare_sizes(tvms_interp_frame *f, const tvms_node *type,
                               tvms_value value, const char *name, tvms_span span) {
  match_one(f, type, value, false, name, span);
}

void tvms_interp_match_type(tvms_interp_frame *f, const tvms_node *type,
                            tvms_value value, const char *name, tvms_span span) {
  // New variables first: a compound size may use one that stands further right.
  tvms_interp_bind_sizes(f, type, value, name, span);
  tvms_interp_compare_sizes(f, type, value, name, span);
}

tvms_tensor *tvms_interp_make_tensor(tvms_interp_frame *f, const tvms_node *sinfo,
                                     tvms_span span) {
  enum { MOST = 64 };
  int64_t shape[MOST];
  uint32_t ndim = 0;
  if (sinfo->kind != TVMS_NODE_SINFO_TENSOR) fault(f, TVMS_D_shape_not_known, span);
  const tvms_node *node = tvms_as_sinfo_tensor(sinfo)->shape;
  if (node && node->kind == TVMS_NODE_SHAPE_EXPR) {
    tvms_list values = tvms_as_shape_expr(node)->values;
    for (; ndim < values.len && ndim < MOST; ndim++) {
      shape[ndim] = tvms_interp_eval_int(f, values.items[ndim]);
    }
  } else if (node && node->kind == TVMS_NODE_VAR && f->values
             && f->values[node->id].kind == TVMS_VALUE_SHAPE) {
    const tvms_tensor *known = f->values[node->id].tensor;
    for (; ndim < (uint32_t)known->view.ndim && ndim < MOST; ndim++) {
      shape[ndim] = known->shape[ndim];
    }
  } else {
    fault(f, TVMS_D_shape_not_known, span);
  }
  return tvms_interp_new_tensor(f, span, tvms_interp_dl_type_of(sinfo->dtype),
                                (int32_t)ndim, shape);
}
