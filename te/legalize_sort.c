// Description of the median: a sort by a packed function, and gathers of what stands in the
// middle. TVM: legalize_ops/statistical.py and topi/sort.py.
#include "te/element.h"
#include "te/extern.h"
#include "te/legalizers.h"
#include "te/topi_index.h"

#include <string.h>

static const tvms_dtype pointer_dtype = {.code = TVMS_HANDLE, .bits = 64, .lanes = 1};

// T.tvm_stack_make_array of a tensor: what a packed function takes for one.
static tvms_node *packed_tensor(tvms_te *te, tvms_node *tensor) {
  tvms_unit *unit = te->unit;
  tvms_list shape = tvms_te_shape(tensor);
  tvms_node *dims = tvms_call_new_of(unit, pointer_dtype, TVMS_TIR_tvm_stack_make_shape,
                                     shape.items, shape.len, TVMS_NO_SPAN);
  dims->sinfo =
      tvms_pointer_var_new(unit, 0, TVMS_DTYPE(INT, 64), 0, TVMS_NO_SPAN)->sinfo;
  tvms_node *args[] = {
      tvms_as_buffer(tensor)->data,
      dims,
      INT32(0),
      INT32(shape.len),
      tvms_te_const(te, tvms_te_dtype(tensor), 0),
      INDEX(0),
  };
  return tvms_call_new_of(unit, pointer_dtype, TVMS_TIR_tvm_stack_make_array, args, 6,
                          TVMS_NO_SPAN);
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

// The places of the elements of `x` along an axis in ascending order.
static tvms_node *argsort(tvms_te *te, tvms_node *x, int64_t axis) {
  static const char name[] = "tvm.contrib.sort.argsort";
  tvms_node *out = tvms_te_extern_output(te, "out_buf", tvms_te_shape(x),
                                         TVMS_DTYPE(INT, 64), false);
  tvms_as_buffer(out)->align = 8;
  become_placeholder(te, x);
  tvms_node *args[] = {
      tvms_string_imm_new(te->unit, name, sizeof name - 1, TVMS_NO_SPAN),
      packed_tensor(te, x),
      packed_tensor(te, out),
      INT32(axis),
      tvms_bool_imm_new(te->unit, true, TVMS_NO_SPAN),
  };
  tvms_evaluate *stmt = tvms_node_make(te->unit, EVALUATE, TVMS_NO_SPAN);
  stmt->value = tvms_call_new_of(te->unit, TVMS_DTYPE(INT, 32),
                                 TVMS_TIR_tvm_call_packed, args, 5, TVMS_NO_SPAN);
  tvms_node *only = &stmt->head;
  tvms_te_extern_close(te, out, "argsort_cpu", &only, 1);
  return out;
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
  tvms_node *order = argsort(te, x, given);
  tvms_node *value =
      tvms_te_gather(te, tvms_te_gather(te, x, axis, order), axis, places);
  bool *gone = tvms_arena_array(&te->unit->arena, bool, shape.len + 1);
  gone[axis] = true;
  if (!keep) value = tvms_te_squeeze(te, value, gone);
  if (!tvms_legal_return(legal, value) || !axes.len) return value != NULL;
  tvms_node *place = tvms_te_gather(te, order, axis, places);
  return tvms_legal_return(legal, keep ? place : tvms_te_squeeze(te, place, gone));
}
