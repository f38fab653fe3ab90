// A packed function is called by T.call_packed and writes into tensors that it is given, or gives an object
// (objects.c). Tensors are lent to it. A shape or a tuple is an object that is made for it; functions of
// runtime/boxes.def, which libraries have themselves, are lent shapes.
#include "passes/relax/host/packed.h"

#include "ir/build.h"
#include "passes/relax/host/bindings.h"
#include "passes/relax/host/leaves.h"
#include "passes/relax/host/objects.h"
#include "passes/relax/host/values.h"
#include "passes/relax/host/views.h"
#include "runtime/box.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

#include <stdio.h>

static tvms_node *TVMS_NULLABLE packed_argument(tvms_host *h, tvms_node *node,
                                                bool own) {
  tvms_host_value *value = tvms_host_eval(h, node);
  if (!value) return NULL;
  if (value->kind == TVMS_HOST_TENSOR) return tvms_host_lent_tensor(h, value);
  if (value->kind == TVMS_HOST_NUMBER) return value->number;
  if (value->kind == TVMS_HOST_TEXT) return value->data;
  if (value->kind == TVMS_HOST_SHAPE && own) return tvms_host_lent_shape(h, value);
  const tvms_host_value *object = tvms_host_boxed(h, value);
  return object ? tvms_host_item(h, object) : NULL;
}

// ---- Functions of the run time that make no new data ----

typedef tvms_host_value *TVMS_NULLABLE known_function(tvms_host *h,
                                                      const tvms_call *call);

static tvms_host_value *TVMS_NULLABLE argument(tvms_host *h, const tvms_call *call,
                                               uint32_t at, tvms_host_kind kind) {
  tvms_host_value *value =
      at < call->args.len ? tvms_host_eval(h, call->args.items[at]) : NULL;
  if (h->failed || (value && value->kind == kind)) return value;
  return tvms_host_refuse(h, call->head.span,
                          "a function of the run time has no use for its arguments");
}

static tvms_host_value *TVMS_NULLABLE same(tvms_host *h, const tvms_call *call) {
  if (!call->args.len) return argument(h, call, 0, TVMS_HOST_NOTHING);
  return tvms_host_eval(h, call->args.items[0]);
}

static tvms_host_value *TVMS_NULLABLE shape_of(tvms_host *h, const tvms_call *call) {
  const tvms_host_value *tensor = argument(h, call, 0, TVMS_HOST_TENSOR);
  if (!tensor) return NULL;
  tvms_host_value *shape = tvms_host_value_new(h, TVMS_HOST_SHAPE);
  shape->dims = tensor->dims;
  return shape;
}

// The same memory with other sizes, of which there must not be more elements.
static tvms_host_value *TVMS_NULLABLE reshape(tvms_host *h, const tvms_call *call) {
  const tvms_host_value *tensor = argument(h, call, 0, TVMS_HOST_TENSOR);
  const tvms_host_value *shape = tensor ? argument(h, call, 1, TVMS_HOST_SHAPE) : NULL;
  if (!shape) return NULL;
  tvms_node *fits =
      tvms_binary_new(h->unit, TVMS_NODE_LE, tvms_host_product(h, shape->dims),
                      tvms_host_product(h, tensor->dims), TVMS_NO_SPAN);
  tvms_host_assert(h, fits, "ValueError", "reshape: the tensor has too few elements");
  return tvms_host_tensor(h, "view", tensor->dtype, shape->dims, tensor->data);
}

static tvms_host_value *TVMS_NULLABLE make_tuple(tvms_host *h, const tvms_call *call) {
  tvms_host_value *value = tvms_host_value_of(h, TVMS_HOST_TUPLE, call->args.len);
  for (uint32_t i = 0; i < value->count && !h->failed; i++)
    value->fields[i] = tvms_host_eval(h, call->args.items[i]);
  return h->failed ? NULL : value;
}

// A field of an object is taken when it runs.
static tvms_host_value *TVMS_NULLABLE object_item(tvms_host *h, const tvms_call *call,
                                                  const tvms_host_value *object,
                                                  const tvms_host_value *index) {
  tvms_node_vec args = {0};
  tvms_vec_push(tvms_host_memory(h), &args, tvms_host_item(h, object));
  tvms_vec_push(tvms_host_memory(h), &args, index->number);
  tvms_host_value *field =
      tvms_host_make(h, "vm.builtin.tuple_getitem", &args, call->head.span);
  tvms_vec_fini(tvms_host_memory(h), &args);
  if (!call->head.sinfo) return field;
  return tvms_host_unboxed(h, call->head.sinfo, field,
                           "a field of a tuple: ", call->head.span);
}

static tvms_host_value *TVMS_NULLABLE tuple_item(tvms_host *h, const tvms_call *call) {
  const tvms_host_value *tuple = same(h, call);
  const tvms_host_value *index = tuple ? argument(h, call, 1, TVMS_HOST_NUMBER) : NULL;
  if (!index) return NULL;
  if (tuple->kind == TVMS_HOST_OBJECT) return object_item(h, call, tuple, index);
  for (uint32_t i = 0; tuple->kind == TVMS_HOST_TUPLE && i < tuple->count; i++) {
    if (tvms_node_is_int(index->number, i)) return tuple->fields[i];
  }
  return tvms_host_refuse(h, call->head.span, "which field it takes is not known");
}

tvms_host_value *tvms_host_tensor_to_shape(tvms_host *h, const tvms_call *call) {
  tvms_host_value *tensor = argument(h, call, 0, TVMS_HOST_TENSOR);
  if (!tensor) return NULL;
  bool vector = tensor->dims.len == 1 && tvms_node_is_int_imm(tensor->dims.items[0]);
  if (!vector || !tvms_dtype_same(tensor->dtype, TVMS_DTYPE(INT, 64)))
    return tvms_host_refuse(
        h, call->head.span,
        "it makes a shape of what is not a vector of int64 of known length");
  tvms_node *type =
      tvms_sinfo_shape_new_ndim(h->unit, tvms_as_int_imm(tensor->dims.items[0])->value);
  return tvms_host_read(h, type, tensor);
}

static const struct {
  const char *name;
  known_function *run;
} known_functions[] = {
    {"runtime.TVMTensorCreateView", tvms_host_view},
    {"vm.builtin.copy", same},
    {"vm.builtin.ensure_zero_offset", same},
    {"vm.builtin.make_tuple", make_tuple},
    {"vm.builtin.reshape", reshape},
    {"vm.builtin.shape_of", shape_of},
    {"vm.builtin.tensor_to_shape", tvms_host_tensor_to_shape},
    {"vm.builtin.to_device", same},
    {"vm.builtin.tuple_getitem", tuple_item},
};

static known_function *TVMS_NULLABLE find_known(tvms_bytes name) {
  for (size_t i = 0; i < sizeof known_functions / sizeof known_functions[0]; i++) {
    if (tvms_bytes_is(name, known_functions[i].name)) return known_functions[i].run;
  }
  return NULL;
}

// A call of what gives nothing.
static tvms_host_value *push_call(tvms_host *h, tvms_bytes name,
                                  const tvms_node_vec *args, tvms_span span) {
  tvms_memory *memory = tvms_host_memory(h);
  tvms_node_vec all = {0};
  tvms_vec_push(memory, &all,
                tvms_string_imm_new(h->unit, name.text, name.len, TVMS_NO_SPAN));
  for (uint32_t i = 0; i < args->len; i++)
    tvms_vec_push(memory, &all, args->items[i]);
  tvms_node *made = tvms_call_new_of(
      h->unit, TVMS_DTYPE(INT, 32), TVMS_TIR_tvm_call_packed, all.items, all.len, span);
  tvms_vec_fini(memory, &all);
  tvms_host_push(h, tvms_evaluate_new(h->unit, made, span));
  return tvms_host_value_new(h, TVMS_HOST_NOTHING);
}

// What a call gives, by its type.
static tvms_host_value *TVMS_NULLABLE given(tvms_host *h, tvms_bytes name,
                                            const tvms_node_vec *args,
                                            const tvms_node *node) {
  char who[128];
  snprintf(who, sizeof who, "result of '%.96s': ", name.text);
  const tvms_host_value *object = tvms_host_make(h, name.text, args, node->span);
  return tvms_host_unboxed(h, node->sinfo, object, who, node->span);
}

tvms_host_value *tvms_host_call_packed(tvms_host *h, const tvms_node *node) {
  bool unused = h->unused;
  const tvms_call *call = tvms_as_call(node);
  tvms_bytes name = tvms_as_extern_func(call->callee)->symbol;
  known_function *known = find_known(name);
  if (known) return known(h, call);
  tvms_node_vec args = {0};
  bool own = tvms_box_find(name.text);
  for (uint32_t i = 0; i < call->args.len && !h->failed; i++)
    tvms_vec_push(tvms_host_memory(h), &args,
                  packed_argument(h, call->args.items[i], own));
  tvms_host_value *value = NULL;
  bool nothing = !node->sinfo || tvms_sinfo_is_void(node->sinfo)
                 || (unused && node->sinfo->kind == TVMS_NODE_SINFO_OBJECT);
  if (!h->failed)
    value =
        nothing ? push_call(h, name, &args, node->span) : given(h, name, &args, node);
  tvms_vec_fini(tvms_host_memory(h), &args);
  return value;
}
