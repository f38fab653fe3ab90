// What the rules of operators share.
//
// A rule takes its arguments and attributes through these functions, which report what
// does not fit and return false; the rule then returns NULL. So rules hold no texts of
// their own, and each kind of mistake reads the same for all operators.
#include "structinfo/infer_common.h"

#include "ir/build.h"
#include "structinfo/counter.h"
#include "structinfo/make.h"
#include "structinfo/relate.h"
#include "support/diag_ids.h"
#include "support/trial.h"

#include <stdio.h>

static tvms_context *context_of(const tvms_inference *in) {
  return in->unit->context;
}

static tvms_diags *diags_of(const tvms_inference *in) {
  return &in->unit->context->diags;
}

static const char *name_of(const tvms_inference *in) {
  return tvms_op_of(in->op)->name;
}

tvms_span tvms_in_span(const tvms_inference *in, uint32_t i) {
  if (i < in->call->args.len && in->arg_spans) return in->arg_spans[i];
  return in->call->head.span;
}

tvms_node *TVMS_NULLABLE tvms_in_expects(const tvms_inference *in, uint32_t i,
                                         const char *what) {
  tvms_diag_report(diags_of(in), TVMS_D_op_expects, tvms_in_span(in, i), name_of(in),
                   what);
  return NULL;
}

void tvms_in_note_part(const tvms_inference *in, uint32_t i) {
  const tvms_node *arg = tvms_in_arg(in, i), *type = tvms_in_sinfo(in, i);
  tvms_diag *last = diags_of(in)->last;
  if (!last || tvms_trial_is_muted(diags_of(in)) || arg->kind != TVMS_NODE_VAR
      || type->kind != TVMS_NODE_SINFO_TUPLE)
    return;
  tvms_diag_remark(diags_of(in), last, "a part of it is %s[0]",
                   tvms_symbol_text(context_of(in), tvms_as_var(arg)->name));
}

tvms_node *TVMS_NULLABLE tvms_in_wrong_dtype(const tvms_inference *in, uint32_t i,
                                             const char *what, tvms_dtype got) {
  char text[TVMS_DTYPE_TEXT];
  tvms_diag_report(diags_of(in), TVMS_D_op_dtype, tvms_in_span(in, i), name_of(in),
                   what, tvms_dtype_text(got, text));
  return NULL;
}

tvms_node *TVMS_NULLABLE tvms_in_wrong_ndim(const tvms_inference *in, uint32_t i,
                                            int64_t wanted, int64_t got) {
  char rank[24] = "one of unknown rank";
  if (got != TVMS_UNKNOWN_NDIM) snprintf(rank, sizeof rank, "%lld", (long long)got);
  tvms_diag_report(diags_of(in), TVMS_D_op_ndim, tvms_in_span(in, i), name_of(in),
                   (long long)wanted, rank);
  return NULL;
}

// Two dimensions that are not both numbers: with which sizes they differ.
static void show_numbers(const tvms_inference *in, tvms_diag *diag, const tvms_node *a,
                         const tvms_node *b) {
  int64_t value;
  tvms_counter_example example;
  bool dims = tvms_dtype_is_int(a->dtype) && tvms_dtype_is_int(b->dtype);
  if (!dims || tvms_trial_is_muted(diags_of(in))) return;
  if (tvms_sinfo_dim_int(a, &value) && tvms_sinfo_dim_int(b, &value)) return;
  tvms_node *left = (tvms_node *)(uintptr_t)a, *right = (tvms_node *)(uintptr_t)b;
  if (!tvms_dim_counter_example(in->prover, left, right, &example)) return;
  tvms_diag_remark(diags_of(in), diag, "with %s they are %lld and %lld",
                   tvms_dim_example_text(in->unit, &example), (long long)example.left,
                   (long long)example.right);
}

tvms_node *TVMS_NULLABLE tvms_in_unequal(const tvms_inference *in, uint32_t i,
                                         const char *what, const tvms_node *a,
                                         const tvms_node *b) {
  tvms_diag *diag = tvms_diag_report(
      diags_of(in), TVMS_D_op_unequal, tvms_in_span(in, i), name_of(in), what,
      tvms_sinfo_describe(in->unit, a), tvms_sinfo_describe(in->unit, b));
  show_numbers(in, diag, a, b);
  return NULL;
}

// ---- Arguments ----

bool tvms_in_count(const tvms_inference *in, uint32_t least, uint32_t most) {
  uint32_t count = in->call->args.len;
  if (count >= least && count <= most) return true;
  uint32_t wanted = count < least ? least : most;
  tvms_diag_report(diags_of(in), TVMS_D_op_arguments, in->call->head.span, name_of(in),
                   wanted, tvms_diag_plural(wanted), count);
  return false;
}

tvms_node *tvms_in_sinfo(const tvms_inference *in, uint32_t i) {
  return tvms_sinfo_of(in->unit, tvms_in_arg(in, i));
}

tvms_tensor_argument tvms_in_tensor_of(tvms_node *sinfo) {
  const tvms_sinfo_tensor *type = tvms_as_sinfo_tensor(sinfo);
  tvms_tensor_argument tensor = {.sinfo = sinfo,
                                 .ndim = type->ndim,
                                 .dtype = sinfo->dtype,
                                 .vdevice = type->vdevice,
                                 .shape = type->shape};
  tensor.known = tvms_sinfo_tensor_dims(sinfo, &tensor.dims);
  return tensor;
}

bool tvms_in_tensor(const tvms_inference *in, uint32_t i,
                    tvms_tensor_argument *tensor) {
  if (i >= in->call->args.len) return tvms_in_count(in, i + 1, i + 1);
  tvms_node *sinfo = tvms_in_sinfo(in, i);
  if (sinfo->kind == TVMS_NODE_SINFO_DTENSOR) {
    sinfo = tvms_as_sinfo_dtensor(sinfo)->tensor;
  }
  if (sinfo->kind != TVMS_NODE_SINFO_TENSOR) {
    tvms_diag_report(diags_of(in), TVMS_D_op_not_tensor, tvms_in_span(in, i),
                     name_of(in), i + 1, tvms_sinfo_describe(in->unit, sinfo));
    tvms_in_note_part(in, i);
    return false;
  }
  *tensor = tvms_in_tensor_of(sinfo);
  return true;
}

bool tvms_in_tensors(const tvms_inference *in, uint32_t i,
                     tvms_tensor_argument **tensors, uint32_t *count) {
  if (!tvms_in_count(in, i + 1, UINT32_MAX)) return false;
  const tvms_node *sinfo = tvms_in_sinfo(in, i);
  if (sinfo->kind != TVMS_NODE_SINFO_TUPLE) {
    return tvms_in_expects(in, i, "a tuple of tensors");
  }
  tvms_list fields = tvms_as_sinfo_tuple(sinfo)->fields;
  *count = fields.len;
  *tensors =
      tvms_arena_array(&context_of(in)->scratch, tvms_tensor_argument, fields.len + 1);
  for (uint32_t f = 0; f < fields.len; f++) {
    if (fields.items[f]->kind != TVMS_NODE_SINFO_TENSOR) {
      return tvms_in_expects(in, i, "a tuple of tensors");
    }
    (*tensors)[f] = tvms_in_tensor_of(fields.items[f]);
  }
  return true;
}

bool tvms_in_prim(const tvms_inference *in, uint32_t i, tvms_node **value) {
  tvms_node *arg = tvms_in_arg(in, i);
  *value = NULL;
  if (arg->kind == TVMS_NODE_PRIM_VALUE) {
    *value = tvms_as_prim_value(arg)->value;
    return true;
  }
  const tvms_node *sinfo = tvms_in_sinfo(in, i);
  if (sinfo->kind != TVMS_NODE_SINFO_PRIM) return tvms_in_expects(in, i, "a scalar");
  *value = tvms_as_sinfo_prim(sinfo)->value;
  if (!*value && !tvms_dtype_is_void(arg->dtype)) *value = arg;
  return true;
}

bool tvms_in_tensor_values(const tvms_tensor_argument *tensor, tvms_list *dims) {
  return tvms_sinfo_dims(tensor->sinfo, dims);
}

// ---- Results ----

tvms_dims tvms_dims_new(const tvms_inference *in, uint32_t count) {
  tvms_arena *scratch = &context_of(in)->scratch;
  return (tvms_dims){tvms_arena_array(scratch, tvms_node *, count + 1), count};
}

tvms_dims tvms_dims_copy(const tvms_inference *in, tvms_list list) {
  tvms_dims dims = tvms_dims_new(in, list.len);
  for (uint32_t i = 0; i < list.len; i++) {
    dims.items[i] = list.items[i];
  }
  return dims;
}

tvms_node *tvms_in_result(const tvms_inference *in, tvms_dims dims, tvms_dtype dtype,
                          tvms_node *TVMS_NULLABLE vdevice) {
  tvms_node *shape =
      tvms_sinfo_shape_value_new(in->unit, dims.items, dims.len, TVMS_NO_SPAN);
  return tvms_sinfo_tensor_new(in->unit, shape, dtype, vdevice);
}

tvms_node *tvms_in_result_ndim(const tvms_inference *in, int64_t ndim, tvms_dtype dtype,
                               tvms_node *TVMS_NULLABLE vdevice) {
  return tvms_sinfo_tensor_new_ndim(in->unit, ndim, dtype, vdevice);
}

tvms_node *tvms_in_result_like(const tvms_inference *in,
                               const tvms_tensor_argument *tensor, tvms_dtype dtype) {
  if (tvms_dtype_same(dtype, tensor->dtype)) return tensor->sinfo;
  if (!tensor->shape) {
    return tvms_in_result_ndim(in, tensor->ndim, dtype, tensor->vdevice);
  }
  return tvms_sinfo_tensor_new(in->unit, tensor->shape, dtype, tensor->vdevice);
}

// ---- Attributes ----

int64_t *tvms_in_ints(const tvms_inference *in, uint32_t count) {
  return tvms_arena_array(&context_of(in)->scratch, int64_t, count + 1);
}

bool tvms_in_axis(const tvms_inference *in, int64_t ndim, int64_t axis,
                  int64_t *result) {
  *result = axis < 0 ? axis + ndim : axis;
  if (ndim == TVMS_UNKNOWN_NDIM) {
    (void)tvms_in_expects(in, TVMS_THE_CALL,
                          "a tensor of known rank when an axis is given");
    return false;
  }
  if (*result >= 0 && *result < ndim) return true;
  tvms_diag_report(diags_of(in), TVMS_D_op_axis, in->call->head.span, (long long)axis,
                   name_of(in), (long long)ndim);
  return false;
}

bool tvms_in_axes(const tvms_inference *in, int64_t ndim, tvms_list list,
                  int64_t *result) {
  for (uint32_t i = 0; i < list.len; i++) {
    if (!tvms_in_axis(in, ndim, tvms_attr_item_int(list.items[i]), &result[i]))
      return false;
    for (uint32_t j = 0; j < i; j++) {
      if (result[i] != result[j]) continue;
      tvms_diag_report(diags_of(in), TVMS_D_op_axis_twice, in->call->head.span,
                       (long long)result[i], name_of(in));
      return false;
    }
  }
  return true;
}

// ---- Common rules ----

// Element type of a tensor or scalar. Returns false if the type has none.
static bool element_of(const tvms_node *sinfo, tvms_dtype *dtype) {
  if (!tvms_sinfo_is_tensor(sinfo) && !tvms_sinfo_is_prim(sinfo)) return false;
  *dtype = sinfo->dtype;
  return true;
}

bool tvms_in_common_dtype(const tvms_inference *in, tvms_node *a, tvms_node *b,
                          tvms_dtype *dtype) {
  tvms_dtype other;
  if (!element_of(a, dtype) || !element_of(b, &other)) {
    return tvms_in_expects(in, TVMS_THE_CALL, "operands that have a data type");
  }
  if (tvms_dtype_is_void(*dtype)) return true;
  if (tvms_dtype_is_void(other)) {
    *dtype = other;
    return true;
  }
  bool bools = tvms_dtype_is_bool(*dtype) || tvms_dtype_is_bool(other);
  if (bools || tvms_dtype_same(*dtype, other)) return true;
  char x[TVMS_DTYPE_TEXT], y[TVMS_DTYPE_TEXT];
  tvms_diag_report(diags_of(in), TVMS_D_op_dtypes_differ, in->call->head.span,
                   name_of(in), tvms_dtype_text(*dtype, x), tvms_dtype_text(other, y));
  return false;
}

static tvms_node *TVMS_NULLABLE vdevice_of(const tvms_node *sinfo) {
  return tvms_sinfo_is_tensor(sinfo) ? tvms_as_sinfo_tensor(sinfo)->vdevice : NULL;
}

bool tvms_in_common_vdevice(const tvms_inference *in, const tvms_node *a,
                            const tvms_node *b, tvms_node **vdevice) {
  tvms_node *x = vdevice_of(a), *y = vdevice_of(b);
  *vdevice = x ? x : y;
  if (in->call->type_args.len > 0) *vdevice = vdevice_of(in->call->type_args.items[0]);
  if (!x || !y || tvms_sinfo_same_place(in->unit, x, y)) return true;
  return tvms_in_expects(in, TVMS_THE_CALL, "operands on one device");
}

tvms_node *TVMS_NULLABLE tvms_in_shared_vdevice(const tvms_inference *in,
                                                const tvms_tensor_argument *tensors,
                                                uint32_t count) {
  tvms_node *shared = NULL;
  for (uint32_t i = 0; i < count; i++) {
    tvms_node *vdevice = tensors[i].vdevice;
    if (vdevice && shared && !tvms_sinfo_same_place(in->unit, shared, vdevice))
      return NULL;
    if (vdevice) shared = vdevice;
  }
  return shared;
}

static bool is_one(const tvms_node *dim) {
  int64_t value;
  return tvms_sinfo_dim_int(dim, &value) && value == 1;
}

tvms_broadcasting tvms_in_broadcast(const tvms_inference *in, tvms_list a, tvms_list b,
                                    tvms_dims *result) {
  tvms_list longer = a.len > b.len ? a : b;
  *result = tvms_dims_copy(in, longer);
  uint32_t common = a.len < b.len ? a.len : b.len;
  for (uint32_t i = 1; i <= common; i++) {
    tvms_node *x = a.items[a.len - i], *y = b.items[b.len - i];
    tvms_node **place = &result->items[longer.len - i];
    int64_t p, q;
    if (is_one(x)) {
      *place = y;
    } else if (is_one(y) || tvms_dim_equal(in->prover, x, y)) {
      *place = x;
    } else if (tvms_sinfo_dim_int(x, &p) && tvms_sinfo_dim_int(y, &q)) {
      tvms_diag_report(diags_of(in), TVMS_D_op_broadcast, in->call->head.span,
                       name_of(in), (long long)p, (long long)q, i);
      return TVMS_BROADCAST_FAILED;
    } else {
      return TVMS_BROADCAST_UNKNOWN;
    }
  }
  return TVMS_BROADCAST_KNOWN;
}
