// Views: R.memory.view(tensor, shape, dtype, offset in bytes) is a pointer into the memory of the tensor.
//
// What is left open, by an empty tuple or R.null_value(), is as the tensor has it. TVM's run time refuses a view of
// bytes that the tensor does not have (python/tvm/relax/op/memory/view.py); so does an assertion here.
#include "passes/relax/host/views.h"

#include "ir/build.h"
#include "passes/relax/host/bindings.h"
#include "passes/relax/host/values.h"

static bool is_open(const tvms_host_value *value) {
  bool empty = value->kind == TVMS_HOST_TUPLE && !value->count;
  return empty || value->kind == TVMS_HOST_NOTHING;
}

// What a view leaves open is `usual`. NULL: refused.
static tvms_host_value *TVMS_NULLABLE given_or(tvms_host *h, tvms_node *argument,
                                               tvms_host_kind kind,
                                               tvms_host_value *usual) {
  tvms_host_value *value = tvms_host_eval(h, argument);
  if (!value || value->kind == kind) return value;
  if (is_open(value)) return usual;
  return tvms_host_refuse(h, argument->span, "a view of a tensor has no use for it");
}

static tvms_node *binary(tvms_host *h, tvms_node_kind kind, tvms_node *a,
                         tvms_node *b) {
  return tvms_binary_new(h->unit, kind, a, b, TVMS_NO_SPAN);
}

// The pointer to a byte of a tensor that has `bytes` from there on. NULL: refused.
static tvms_node *TVMS_NULLABLE pointer_within(tvms_host *h,
                                               const tvms_host_value *tensor,
                                               tvms_node *offset, tvms_node *bytes) {
  tvms_node *all = tvms_host_bytes(h, tensor->dtype, tensor->dims);
  if (!all || !bytes) return NULL;
  tvms_host_assert(h, binary(h, TVMS_NODE_GE, offset, tvms_host_int(h, 0)),
                   "ValueError", "view: the offset is negative");
  tvms_host_assert(
      h, binary(h, TVMS_NODE_LE, binary(h, TVMS_NODE_ADD, offset, bytes), all),
      "ValueError", "view: the tensor has too few bytes");
  if (tvms_node_is_int(offset, 0)) return tensor->data;
  tvms_node *buffer = tvms_host_declare(h, "bytes", TVMS_DTYPE(UINT, 8),
                                        tvms_list_copy(h->unit, &all, 1), tensor->data);
  return tvms_host_place_in(h, buffer, offset);
}

tvms_host_value *tvms_host_view(tvms_host *h, const tvms_call *call) {
  tvms_node **args = call->args.items;
  tvms_host_value *tensor = call->args.len == 4 ? tvms_host_eval(h, args[0]) : NULL;
  if (h->failed) return NULL;
  if (!tensor || tensor->kind != TVMS_HOST_TENSOR)
    return tvms_host_refuse(h, call->head.span, "it is not a view of a tensor");
  tvms_host_value *shape = given_or(h, args[1], TVMS_HOST_SHAPE, tensor);
  tvms_host_value *type = given_or(h, args[2], TVMS_HOST_TEXT, tensor);
  tvms_host_value *offset =
      given_or(h, args[3], TVMS_HOST_NUMBER, tvms_host_number(h, tvms_host_int(h, 0)));
  if (h->failed) return NULL;
  tvms_node *data = pointer_within(h, tensor, offset->number,
                                   tvms_host_bytes(h, type->dtype, shape->dims));
  if (!data) return NULL;
  tvms_node *buffer = tvms_host_declare(h, "view", type->dtype, shape->dims, data);
  tvms_host_value *view = tvms_host_tensor(h, "view", type->dtype, shape->dims,
                                           tvms_as_buffer(buffer)->data);
  view->buffer = buffer;
  return view;
}
