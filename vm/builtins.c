// What TVM's run time has in src/runtime/vm/builtin.cc for these names.
#include "vm/builtins.h"

#include "vm/kv_cache.h"

#include <string.h>

TVMS_NORETURN static void wrong_argument(tvms_vm_machine *m, const char *expected) {
  fault(&m->frame, TVMS_D_wrong_argument, ((tvms_span){0, 0}),
        "of the function of the machine", expected);
}

static tvms_value at(tvms_vm_machine *m, const tvms_value *args, uint32_t count,
                     uint32_t i) {
  if (i >= count) wrong_argument(m, "there are too few");
  return args[i];
}

static int64_t number_at(tvms_vm_machine *m, const tvms_value *args, uint32_t count,
                         uint32_t i) {
  tvms_value value = at(m, args, count, i);
  if (value.kind != TVMS_VALUE_INT) wrong_argument(m, "a number is expected");
  return value.i;
}

static tvms_tensor *tensor_at(tvms_vm_machine *m, const tvms_value *args,
                              uint32_t count, uint32_t i) {
  tvms_value value = at(m, args, count, i);
  if (value.kind != TVMS_VALUE_TENSOR) wrong_argument(m, "a tensor is expected");
  return value.tensor;
}

static const tvms_tensor *shape_at(tvms_vm_machine *m, const tvms_value *args,
                                   uint32_t count, uint32_t i) {
  tvms_value value = at(m, args, count, i);
  if (value.kind != TVMS_VALUE_SHAPE) wrong_argument(m, "a shape is expected");
  return value.tensor;
}

static tvms_dl_type type_at(tvms_vm_machine *m, const tvms_value *args, uint32_t count,
                            uint32_t i) {
  tvms_value value = at(m, args, count, i);
  if (value.kind != TVMS_VALUE_TYPE) wrong_argument(m, "a data type is expected");
  if (!tvms_dl_element_size(value.type) || !value.type.lanes)
    wrong_argument(m, "elements of this data type have no address");
  return value.type;
}

static tvms_value made(tvms_vm_machine *m, tvms_tensor *TVMS_NULLABLE tensor) {
  if (!tensor) fault(&m->frame, TVMS_D_tensor_not_made, ((tvms_span){0, 0}));
  return tvms_value_of_tensor(tensor);
}

// ---- Memory ----

// alloc_storage(shape, device, type, scope): memory is a tensor.
static tvms_value alloc_storage(tvms_vm_machine *m, const tvms_value *args,
                                uint32_t count) {
  const tvms_tensor *shape = shape_at(m, args, count, 0);
  return made(m, tvms_tensor_new(m->interp->heap, type_at(m, args, count, 2),
                                 shape->view.ndim, shape->shape));
}

// alloc_tensor(storage, offset, shape, type[, scope])
static tvms_value alloc_tensor(tvms_vm_machine *m, const tvms_value *args,
                               uint32_t count) {
  const tvms_tensor *shape = shape_at(m, args, count, 2);
  int64_t offset = number_at(m, args, count, 1);
  if (offset < 0) wrong_argument(m, "an offset is negative");
  return made(m, tvms_tensor_within(tensor_at(m, args, count, 0), (uint64_t)offset,
                                    type_at(m, args, count, 3), shape->view.ndim,
                                    shape->shape));
}

// reshape(tensor, shape)
static tvms_value reshape(tvms_vm_machine *m, const tvms_value *args, uint32_t count) {
  tvms_tensor *tensor = tensor_at(m, args, count, 0);
  const tvms_tensor *shape = shape_at(m, args, count, 1);
  return made(m, tvms_tensor_within(tensor, 0, tensor->view.dtype, shape->view.ndim,
                                    shape->shape));
}

static tvms_value null_value(tvms_vm_machine *m, const tvms_value *args,
                             uint32_t count) {
  (void)m, (void)args, (void)count;
  return (tvms_value){0};
}

static tvms_value copy(tvms_vm_machine *m, const tvms_value *args, uint32_t count) {
  return tvms_value_keep(at(m, args, count, 0));
}

// ---- Tuples ----

static tvms_value items_of(tvms_vm_machine *m, tvms_value_kind kind,
                           const tvms_value *args, uint32_t count) {
  tvms_items *items = tvms_items_new(m->interp->heap, kind, count);
  for (uint32_t i = 0; i < count; i++)
    items->items[i] = tvms_value_keep(args[i]);
  return (tvms_value){.kind = (uint8_t)kind, .tuple = items};
}

static tvms_value make_tuple(tvms_vm_machine *m, const tvms_value *args,
                             uint32_t count) {
  return items_of(m, TVMS_VALUE_TUPLE, args, count);
}

// tuple_reset_item(tuple, index): the item goes before the tuple does.
static tvms_value tuple_reset_item(tvms_vm_machine *m, const tvms_value *args,
                                   uint32_t count) {
  tvms_value tuple = at(m, args, count, 0);
  int64_t index = number_at(m, args, count, 1);
  if (tuple.kind != TVMS_VALUE_TUPLE) wrong_argument(m, "a tuple is expected");
  if (index < 0 || index >= tuple.tuple->len)
    fault(&m->frame, TVMS_D_no_such_field, ((tvms_span){0, 0}), (long long)index);
  tvms_value_drop(tuple.tuple->items[index]);
  tuple.tuple->items[index] = (tvms_value){0};
  return (tvms_value){0};
}

// ---- Functions ----

static tvms_value make_closure(tvms_vm_machine *m, const tvms_value *args,
                               uint32_t count) {
  uint8_t kind = at(m, args, count, 0).kind;
  if (kind != TVMS_VALUE_FUNCTION && kind != TVMS_VALUE_CLOSURE)
    wrong_argument(m, "a function is expected");
  return items_of(m, TVMS_VALUE_CLOSURE, args, count);
}

static tvms_value invoke_closure(tvms_vm_machine *m, const tvms_value *args,
                                 uint32_t count) {
  tvms_value callee = at(m, args, count, 0);
  return tvms_vm_invoke(m, callee, args + 1, count - 1);
}

// call_tir_dyn(function, arguments…, shape): the sizes are arguments, too.
static tvms_value call_tir_dyn(tvms_vm_machine *m, const tvms_value *args,
                               uint32_t count) {
  if (count < 2) wrong_argument(m, "there are too few");
  const tvms_tensor *shape = shape_at(m, args, count, count - 1);
  uint32_t given = count - 2, sizes = (uint32_t)shape->view.ndim;
  tvms_value *all =
      tvms_arena_array(&m->interp->context->scratch, tvms_value, given + sizes + 1);
  memcpy(all, args + 1, given * sizeof *all);
  for (uint32_t i = 0; i < sizes; i++)
    all[given + i] = (tvms_value){.kind = TVMS_VALUE_INT, .i = shape->shape[i]};
  return tvms_vm_invoke(m, args[0], all, given + sizes);
}

static tvms_value read_if_cond(tvms_vm_machine *m, const tvms_value *args,
                               uint32_t count) {
  tvms_value value = at(m, args, count, 0);
  bool scalar = value.kind == TVMS_VALUE_INT || value.kind == TVMS_VALUE_BOOL;
  bool tensor = value.kind == TVMS_VALUE_TENSOR && tvms_tensor_len(value.tensor) > 0
                && !tvms_scalar_kind_is_real(value.tensor->view.dtype.code);
  if (!scalar && !tensor)
    fault(&m->frame, TVMS_D_condition_not_scalar, ((tvms_span){0, 0}));
  int64_t holds = scalar ? value.i : tvms_tensor_get(value.tensor, 0).i;
  return (tvms_value){.kind = TVMS_VALUE_BOOL, .i = holds != 0};
}

static const struct {
  const char *name;
  tvms_vm_builtin *run;
} builtins[] = {
    {"vm.builtin.alloc_storage", alloc_storage},
    {"vm.builtin.alloc_tensor", alloc_tensor},
    {"vm.builtin.reshape", reshape},
    {"vm.builtin.null_value", null_value},
    {"vm.builtin.copy", copy},
    {"vm.builtin.make_tuple", make_tuple},
    {"vm.builtin.tuple_reset_item", tuple_reset_item},
    {"vm.builtin.make_closure", make_closure},
    {"vm.builtin.invoke_closure", invoke_closure},
    {"vm.builtin.call_tir_dyn", call_tir_dyn},
    {"vm.builtin.read_if_cond", read_if_cond},
    {"vm.builtin.attention_kv_cache_create", tvms_vm_kv_cache_create},
    {"vm.builtin.attention_kv_cache_append", tvms_vm_kv_cache_append},
    {"vm.builtin.attention_kv_cache_update", tvms_vm_kv_cache_update},
    {"vm.builtin.attention_kv_cache_view", tvms_vm_kv_cache_view},
    {"vm.builtin.attention_kv_cache_window_override", tvms_vm_kv_cache_window_override},
    {"vm.builtin.attention_kv_cache_window_override_with_sinks",
     tvms_vm_kv_cache_window_override},
    {"vm.builtin.attention_kv_cache_array_popn", tvms_vm_kv_cache_array_popn},
    {"vm.builtin.attention_kv_cache_array_clear", tvms_vm_kv_cache_array_clear},
};

tvms_vm_builtin *tvms_vm_builtin_find(tvms_bytes name) {
  for (size_t i = 0; i < sizeof builtins / sizeof builtins[0]; i++) {
    if (tvms_bytes_is(name, builtins[i].name)) return builtins[i].run;
  }
  return NULL;
}
