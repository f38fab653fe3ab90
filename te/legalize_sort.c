// Descriptions that sort by a packed function: sort, argsort and topk, which DispatchSortScan
// asks for, and the median, which gathers what stands in the middle.
// TVM: legalize_ops/statistical.py, relax/backend/dispatch_sort_scan.py and topi/sort.py.
#include "te/legalize_sort.h"

#include "te/element.h"
#include "te/extern.h"
#include "te/legalizers.h"
#include "te/topi_index.h"

#include <string.h>

static const tvms_dtype pointer_dtype = {.code = TVMS_HANDLE, .bits = 64, .lanes = 1};

// T.tvm_stack_make_array of a tensor with the sizes `shape`: what a packed function takes for
// one.
static tvms_node *packed_tensor(tvms_te *te, tvms_node *tensor, tvms_list shape) {
  tvms_unit *unit = te->unit;
  tvms_node *dims = tvms_call_new_of(unit, pointer_dtype, TVMS_TIR_tvm_stack_make_shape,
                                     shape.items, shape.len, TVMS_NO_SPAN);
  dims->sinfo =
      tvms_pointer_var_new(unit, 0, TVMS_DTYPE(INT, 64), 0, TVMS_NO_SPAN)->sinfo;
  tvms_dtype offset = shape.len ? shape.items[0]->dtype : TVMS_DTYPE(INT, 32);
  tvms_node *args[] = {
      tvms_as_buffer(tensor)->data,
      dims,
      INT32(0),
      INT32(shape.len),
      tvms_te_const(te, tvms_te_dtype(tensor), 0),
      tvms_te_const(te, offset, 0),
  };
  return tvms_call_new_of(unit, pointer_dtype, TVMS_TIR_tvm_stack_make_array, args, 6,
                          TVMS_NO_SPAN);
}

static tvms_node *text(tvms_te *te, const char *value) {
  return tvms_string_imm_new(te->unit, value, strlen(value), TVMS_NO_SPAN);
}

static tvms_node *truth(tvms_te *te, bool value) {
  return tvms_bool_imm_new(te->unit, value, TVMS_NO_SPAN);
}

// A parameter that is sorted has the name and the alignment of TVM's placeholder.
static void become_placeholder(tvms_te *te, tvms_node *tensor) {
  for (uint32_t i = 0; i < te->buffers.len; i++) {
    if (te->buffers.items[i] != tensor) continue;
    tvms_buffer *buffer = tvms_as_buffer(tensor);
    buffer->name = tvms_symbol_intern(te->unit->context, "data_buf", 8);
    buffer->data =
        tvms_pointer_var_new(te->unit, buffer->name, buffer->element, 0, TVMS_NO_SPAN);
    buffer->align = 8;
  }
}

enum { MOST_ARGUMENTS = 8 };

// A stage that is one call of a packed function; the first argument is its name.
static void close_packed(tvms_te *te, tvms_node *out, const char *block,
                         tvms_node *const *args, uint32_t count) {
  tvms_evaluate *stmt = tvms_node_make(te->unit, EVALUATE, TVMS_NO_SPAN);
  stmt->value = tvms_call_new_of(te->unit, TVMS_DTYPE(INT, 32),
                                 TVMS_TIR_tvm_call_packed, args, count, TVMS_NO_SPAN);
  tvms_node *only = &stmt->head;
  tvms_te_extern_close(te, out, block, &only, 1);
}

static tvms_node *sorted_output(tvms_te *te, const char *name, tvms_list shape,
                                tvms_dtype dtype) {
  tvms_node *out = tvms_te_extern_output(te, name, shape, dtype, false);
  tvms_as_buffer(out)->align = 8;
  return out;
}

// A tensor like `x`, of `dtype`, that the packed function makes of it along an axis.
static tvms_node *sort_by(tvms_te *te, const char *function, const char *block,
                          tvms_node *x, int64_t axis, bool ascends, tvms_dtype dtype) {
  tvms_list shape = tvms_te_shape(x);
  tvms_node *out = sorted_output(te, "out_buf", shape, dtype);
  become_placeholder(te, x);
  tvms_node *args[] = {
      text(te, function), packed_tensor(te, x, shape), packed_tensor(te, out, shape),
      INT32(axis),        truth(te, ascends),
  };
  close_packed(te, out, block, args, 5);
  return out;
}

tvms_node *tvms_te_argsort(tvms_te *te, tvms_node *x, int64_t axis, bool ascends,
                           tvms_dtype dtype) {
  return sort_by(te, "tvm.contrib.sort.argsort", "argsort_cpu", x, axis, ascends,
                 dtype);
}

tvms_node *tvms_te_argsort_counted(tvms_te *te, tvms_node *x, tvms_node *counts,
                                   int64_t axis) {
  tvms_list shape = tvms_te_shape(x);
  tvms_node *out = sorted_output(te, "out_buf", shape, TVMS_DTYPE(INT, 32));
  tvms_node *args[] = {
      text(te, "tvm.contrib.sort.argsort_nms"),
      packed_tensor(te, x, shape),
      packed_tensor(te, counts, tvms_te_shape(counts)),
      packed_tensor(te, out, shape),
      INT32(axis),
      truth(te, false),
  };
  close_packed(te, out, "argsort_nms_cpu", args, 6);
  return out;
}

bool tvms_te_dispatch_sort(tvms_legal *legal) {
  legal->name = "sort";
  tvms_te *te = &legal->te;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  int64_t axis = tvms_attr_int(legal->call, TVMS_ATTR_sort_axis, -1);
  bool descends = tvms_attr_bool(legal->call, TVMS_ATTR_sort_descending);
  return tvms_legal_return(legal, sort_by(te, "tvm.contrib.sort.sort", "sort_cpu", x,
                                          axis, !descends, tvms_te_dtype(x)));
}

bool tvms_te_dispatch_argsort(tvms_legal *legal) {
  legal->name = "argsort";
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  int64_t axis = tvms_attr_int(legal->call, TVMS_ATTR_argsort_axis, -1);
  bool descends = tvms_attr_bool(legal->call, TVMS_ATTR_argsort_descending);
  return tvms_legal_return(legal, tvms_te_argsort(&legal->te, x, axis, !descends,
                                                  tvms_legal_result_dtype(legal)));
}

// The sizes of what topk gives, as TVM writes them: known ones are numbers of Python.
static tvms_list topk_shape(tvms_te *te, tvms_list shape, uint32_t axis, int64_t k) {
  tvms_list taken = tvms_list_copy(te->unit, shape.items, shape.len);
  for (uint32_t i = 0; i < shape.len; i++) {
    if (tvms_node_is_int_imm(shape.items[i]))
      taken.items[i] = INT32(tvms_as_int_imm(shape.items[i])->value);
  }
  if (k >= 1) taken.items[axis] = INT32(k);
  return taken;
}

bool tvms_te_dispatch_topk(tvms_legal *legal) {
  legal->name = "topk";
  tvms_te *te = &legal->te;
  const tvms_call *call = legal->call;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_list shape = tvms_te_shape(x);
  int64_t k = tvms_attr_int(call, TVMS_ATTR_topk_k, 1);
  int64_t axis = tvms_attr_int(call, TVMS_ATTR_topk_axis, -1);
  tvms_bytes kind = tvms_attr_text(call, TVMS_ATTR_topk_ret_type);
  if (tvms_legal_axis(axis, shape.len) >= shape.len || k > INT32_MAX) return false;
  tvms_list taken = topk_shape(te, shape, tvms_legal_axis(axis, shape.len), k);
  bool values = !tvms_bytes_is(kind, "indices"),
       places = !tvms_bytes_is(kind, "values");
  become_placeholder(te, x);
  tvms_node *args[MOST_ARGUMENTS] = {text(te, "tvm.contrib.sort.topk"),
                                     packed_tensor(te, x, shape)};
  tvms_node *outs[2];
  uint32_t at = 2, count = 0;
  if (values) outs[count++] = sorted_output(te, "value_buf", taken, tvms_te_dtype(x));
  if (places) {
    tvms_dtype dtype = tvms_attr_dtype(call, TVMS_ATTR_topk_dtype);
    if (tvms_dtype_is_void(dtype)) dtype = TVMS_DTYPE(INT, 32);
    outs[count++] = sorted_output(te, "indices_buf", taken, dtype);
  }
  for (uint32_t i = 0; i < count; i++)
    args[at++] = packed_tensor(te, outs[i], taken);
  args[at++] = INT32(k);
  args[at++] = INT32(axis);
  args[at++] = tvms_string_imm_new(te->unit, kind.text, kind.len, TVMS_NO_SPAN);
  args[at++] = truth(te, !tvms_attr_bool(call, TVMS_ATTR_topk_largest));
  close_packed(te, outs[0], "topk_cpu", args, at);
  if (count == 2) tvms_te_extern_number(te, outs, count, "topk_cpu", 0);
  return tvms_legal_return(legal, outs[0])
         && (count == 1 || tvms_legal_return(legal, outs[1]));
}

// The middle of all elements, or along one axis with its place.
bool tvms_legalize_median(tvms_legal *legal) {
  legal->name = "median";
  tvms_te *te = &legal->te;
  const tvms_call *call = legal->call;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_list axes = tvms_attr_list(call, TVMS_ATTR_reduction_axis);
  bool keep = tvms_attr_bool(call, TVMS_ATTR_reduction_keepdims);
  tvms_list shape = tvms_te_shape(x);
  if (shape.len == 0 || axes.len > 1) return false;
  int64_t given = axes.len ? tvms_attr_item_int(axes.items[0]) : -1;
  tvms_node *size = INT32(1);
  for (uint32_t i = 0; i < shape.len && !axes.len; i++)
    size = MUL(size, shape.items[i]);
  if (axes.len) size = MUL(size, shape.items[tvms_legal_axis(given, shape.len)]);
  tvms_node *middle = FLOOR_DIV(SUB(size, INT32(1)), INT32(2));
  if (!middle) return false;
  if (!axes.len) shape = tvms_list_copy(te->unit, &size, 1);
  uint32_t axis = tvms_legal_axis(given, shape.len);
  tvms_list lone = tvms_list_copy(te->unit, shape.items, shape.len);
  lone.items[axis] = INT32(1);
  tvms_node *places = tvms_te_full(te, lone, TVMS_DTYPE(INT, 64), middle);
  if (!axes.len) x = tvms_te_reshape(te, x, shape);
  tvms_node *order = tvms_te_argsort(te, x, given, true, TVMS_DTYPE(INT, 64));
  tvms_node *value =
      tvms_te_gather(te, tvms_te_gather(te, x, axis, order), axis, places);
  bool *gone = tvms_arena_array(&te->unit->arena, bool, shape.len + 1);
  gone[axis] = true;
  if (!keep) value = tvms_te_squeeze(te, value, gone);
  if (!tvms_legal_return(legal, value) || !axes.len) return value != NULL;
  tvms_node *place = tvms_te_gather(te, order, axis, places);
  return tvms_legal_return(legal, keep ? place : tvms_te_squeeze(te, place, gone));
}
